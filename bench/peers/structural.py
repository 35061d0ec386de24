#!/usr/bin/env python3
"""Grouped and l1 paths against the peers, in one run: CPU seconds, and gaps from one common script.

    structural.py --data DIR --sharelearn build/sharelearn [--set landsat|letter|mnist10k|mnist60k] [--peers glmnet,adelie,saga]

Same objective (mean multinomial or binary logistic loss + lambda * penalty, free bias), same standardised
columns, same lambdas. The relative gap of every peer's solution is taken from its own weights by duality_gap() below.
Peers that are not installed are left out with a line that says so.
"""
import argparse, gzip, json, os, resource, shutil, subprocess, sys, tempfile, time
import numpy as np


def products(x):
    return np.hstack([x] + [x[:, i:i + 1] * x[:, i:] for i in range(x.shape[1])])


def load(name, folder):
    read = lambda f: np.loadtxt(gzip.open(os.path.join(folder, f)), delimiter=",")
    if name == "landsat":
        a = read("satimage/train.csv.gz")
        x, y = products(a[:, :-1]), a[:, -1]
    elif name == "letter":
        a = read("letter/letter.csv.gz")[:16000]
        x, y = products(a[:, :-1]), a[:, -1]
    else:
        rows = 10000 if name == "mnist10k" else 60000
        x = np.frombuffer(gzip.open(os.path.join(folder, "mnist/train-images-idx3-ubyte.gz")).read()[16:], np.uint8)
        x = x.reshape(-1, 784)[:rows].astype(float)
        y = np.frombuffer(gzip.open(os.path.join(folder, "mnist/train-labels-idx1-ubyte.gz")).read()[8:], np.uint8)[:rows]
    deviation = x.std(0)
    x = ((x - x.mean(0)) / np.where(deviation > 0, deviation, 1)).astype(np.float32)
    return np.asfortranarray(x[:, deviation > 0]), np.unique(y, return_inverse=True)[1]


def softmax(s):
    s = s - s.max(1, keepdims=True)
    e = np.exp(s)
    return e / e.sum(1, keepdims=True)


def multinomial_gap(x, y, w, b, lam, penalty):
    """Relative duality gap of weights w (columns x classes); the bias is fitted first by Newton steps."""
    m, k = len(y), w.shape[1]
    one = np.eye(k)[y]
    base = x @ w
    for _ in range(50):
        p = softmax(base + b)
        g = (p - one).mean(0)
        h = np.diag(p.mean(0)) - p.T @ p / m
        b = b - np.linalg.lstsq(h, g, rcond=1e-10)[0]
        if np.abs(g).max() < 1e-12:
            break
    p = softmax(base + b)
    value = np.abs(w).sum() if penalty == "l1" else np.sqrt((w ** 2).sum(1)).sum()
    primal = -np.log(np.maximum(p[np.arange(m), y], 1e-300)).mean() + lam * value
    g = x.T @ ((p - one) / m)
    largest = np.abs(g).max() if penalty == "l1" else np.sqrt((g ** 2).sum(1)).max()
    scale = min(1.0, lam / largest)
    q = scale * (p - one) + one
    dual = -(np.where(q > 0, q * np.log(np.maximum(q, 1e-300)), 0)).sum() / m
    return (primal - dual) / primal


def cpu():
    own, children = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in (own, children))


def run_sharelearn(binary, x, y, penalty, loss, count, ratio):
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "x.npy"), x)
        np.save(os.path.join(folder, "y.npy"), y.astype(np.int32))
        report = os.path.join(folder, "r.json")
        start = cpu()
        subprocess.run([binary, "fit", "gradboost", os.path.join(folder, "x.npy"), "--labels", os.path.join(folder, "y.npy"),
                        "--loss", loss, "--penalty", penalty, "--path", str(count), "--path-min", str(ratio), "--scale", "none",
                        "--threads", "1", "--quiet", "--report", report], check=True)
        seconds = cpu() - start
        r = json.load(open(report))
    print(f"sharelearn {penalty:7} {seconds:8.2f} CPU s   largest certified gap {max(q['gap'] for q in r['rounds']):.1e}   "
          f"rows at the end {r['rounds'][-1]['nonzero_rows']}   {r['peak_bytes'] / 2**20:.0f} MB", flush=True)
    return seconds, [q["lambda"] for q in r["rounds"]]


def run_adelie(x, y, lambdas):
    import adelie
    one = np.eye(y.max() + 1)[y]
    # Its loss is divided by the classes and a group's penalty multiplied by the root of its size.
    start = cpu()
    fit = adelie.grpnet(X=np.asfortranarray(x.astype(np.float64)), glm=adelie.glm.multinomial(one), lmda_path=np.array(lambdas) / one.shape[1] ** 1.5,
                        progress_bar=False, early_exit=False, n_threads=1)
    seconds = cpu() - start
    w = np.asarray(fit.betas.todense())[-1].reshape(-1, one.shape[1])
    return seconds, w, np.asarray(fit.intercepts)[-1]


def run_glmnet(x, y, lambdas, group):
    with tempfile.TemporaryDirectory() as folder:
        x.astype(np.float64).T.tofile(os.path.join(folder, "x"))
        y.astype(np.int32).tofile(os.path.join(folder, "y"))
        np.array(lambdas).tofile(os.path.join(folder, "l"))
        script = f"""library(glmnet)
x <- matrix(readBin('{folder}/x', 'double', {x.size}), nrow={len(y)}); y <- readBin('{folder}/y', 'integer', {len(y)})
l <- readBin('{folder}/l', 'double', {len(lambdas)}); t <- proc.time()
f <- glmnet(x, factor(y), family='multinomial', type.multinomial='{group}', lambda=l, standardize=FALSE)
cat(sum((proc.time() - t)[c(1,2)]), '\\n'); w <- do.call(cbind, lapply(f$beta, function(b) as.matrix(b)[, length(l)]))
write.table(rbind(f$a0[, length(l)], w), '{folder}/w', row.names=FALSE, col.names=FALSE)"""
        out = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=True).stdout
        a = np.loadtxt(os.path.join(folder, "w"))
        return float(out.split()[0]), a[1:], a[0]


def run_saga(x, y, lam):
    from sklearn.linear_model import LogisticRegression
    start = cpu()
    model = LogisticRegression(penalty="l1", solver="saga", C=1 / (lam * len(y)), tol=1e-4, max_iter=200).fit(x, y)
    return cpu() - start, model.coef_.T, model.intercept_


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--data", required=True)
    parse.add_argument("--sharelearn", required=True)
    parse.add_argument("--set", default="landsat")
    parse.add_argument("--peers", default="adelie,glmnet,saga")
    parse.add_argument("--path", type=int, default=50)
    parse.add_argument("--path-min", type=float, default=0.01)
    a = parse.parse_args()
    x, y = load(a.set, a.data)
    print(f"{a.set}: {x.shape[0]} rows, {x.shape[1]} columns, {y.max() + 1} classes; {a.path} lambdas to {a.path_min} lambda_max")
    ours, lambdas = run_sharelearn(a.sharelearn, x, y, "l1l2", "multiclass", a.path, a.path_min)
    for penalty in ("l1", "l1linf"):
        other, l1_lambdas = run_sharelearn(a.sharelearn, x, y, penalty, "multiclass", a.path, a.path_min)
        if penalty == "l1":
            l1_ours, l1_path = other, l1_lambdas
    xd = x.astype(float)
    for peer in a.peers.split(","):
        try:
            if peer == "adelie":
                seconds, w, b = run_adelie(x, y, lambdas)
                gap, ratio = multinomial_gap(xd, y, w, b, lambdas[-1], "l1l2"), seconds / ours
            elif peer == "glmnet":
                if not shutil.which("Rscript"):
                    raise ImportError("no Rscript")
                seconds, w, b = run_glmnet(x, y, lambdas, "grouped")
                gap, ratio = multinomial_gap(xd, y, w, b, lambdas[-1], "l1l2"), seconds / ours
            else:
                seconds, w, b = run_saga(x, y, l1_path[-1])
                gap, ratio = multinomial_gap(xd, y, w, b, l1_path[-1], "l1"), seconds / l1_ours
            print(f"{peer:10} {seconds:8.2f} CPU s   gap at the last lambda {gap:.1e}   {ratio:.1f} times ours", flush=True)
        except ImportError as missing:
            print(f"{peer:10} left out: {missing}", flush=True)


if __name__ == "__main__":
    main()
