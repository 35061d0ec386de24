#!/usr/bin/env python3
"""Penalised paths and single lambdas against the peers, in one run: CPU seconds, and duality gaps computed by one common function.

    structural.py --data DIR --sharelearn build/check/sharelearn [--set landsat36,landsat,letter,mnist10k,mnist60k]
                  [--parts grouped,equal,binary,multinomial,others] [--peers glmnet,adelie,liblinear,skglm,saga] [--limit SECONDS]

grouped      l1l2 multinomial path: glmnet (type.multinomial="grouped") and adelie
equal        the same paths at an equal gap: a peer's tolerance is lowered until the gap of each of its solutions is at most 1e-4
binary       l1 logistic, one class against the rest, 0.01 lambda_max, to relative gaps of 1e-2, 1e-4 and 1e-6: LIBLINEAR -s 6 and skglm
multinomial  l1 multinomial: scikit-learn's saga at the last lambda and glmnet's path
others       l1linf and l2sq paths (l2sq has no lambda_max: its path starts at 1); no peer

Same objective (mean logistic loss + lambda * penalty), same standardised columns, same lambdas, one thread. The bias is not
penalised; LIBLINEAR penalises its bias by default, so it is run with regularize_bias 0. The relative duality gap of a peer's solution is
computed from its weights by gap() below, after the bias was fitted to them; ours is the certificate in the report. Each peer runs in a
separate process and is stopped after --limit CPU seconds; the ratio to a stopped peer is a lower bound.
"""
import argparse, gzip, json, multiprocessing, os, resource, shutil, subprocess, tempfile, warnings
import numpy as np
from results import record, version

PAGE = {
    "name": "paths", "order": 3, "title": "Penalised paths, with their duality gaps",
    "text": "Same objective, columns and lambdas. The gap is the relative duality gap, computed from a peer's weights by one common function; ours is the "
            "largest of the path, a peer's that of its last lambda. Grouped: peers with their default tolerances, so their gaps count as well; equal: their tolerance is lowered until the gap of every lambda is at most 1e-4. l1 logistic: every peer "
            "with its loosest tolerance that reaches the gap.",
    "full": ["--sharelearn", "{program}", "--data", "{data}", "--set", "landsat,mnist10k", "--parts", "grouped,equal,binary,multinomial", "--limit", "120"],
    "quick": ["--sharelearn", "{program}", "--data", "{data}", "--set", "landsat", "--parts", "grouped,binary", "--path", "5", "--path-min", "0.3", "--limit", "10"],
    "claims": [["grouped multinomial paths at an equal gap are at least 5 times as fast as every peer's", "equal", "", 5],
               ["l1 logistic at the same gap is faster than LIBLINEAR and skglm", "binary", "", 1]],
}
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")


def products(x):
    return np.hstack([x] + [x[:, i:i + 1] * x[:, i:] for i in range(x.shape[1])])


def load(name, folder):
    read = lambda f: np.loadtxt(gzip.open(os.path.join(folder, f)), delimiter=",")
    if name == "landsat":
        a = read("satimage/train.csv.gz")
        x, y = products(a[:, :-1]), a[:, -1]
    elif name == "landsat36":
        a = read("satimage/train.csv.gz")
        x, y = a[:, :-1], a[:, -1]
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


def fitted_bias(base, one, b):
    for _ in range(50):
        p = softmax(base + b)
        g = (p - one).mean(0)
        if np.abs(g).max() < 1e-12:
            break
        b = b - np.linalg.lstsq(np.diag(p.mean(0)) - p.T @ p / len(p), g, rcond=1e-10)[0]
    return b


def gap(x, y, w, b, lam, penalty):
    """Relative duality gap of multinomial weights w (columns x classes). Binary: classes (0, 1) with weights (0, w)."""
    return objective_and_gap(x, y, w, b, lam, penalty)[1]


def objective_and_gap(x, y, w, b, lam, penalty):
    m, k = len(y), w.shape[1]
    one = np.eye(k)[y]
    base = x @ w
    p = softmax(base + fitted_bias(base, one, b))
    value = np.abs(w).sum() if penalty == "l1" else np.sqrt((w ** 2).sum(1)).sum()
    primal = -np.log(np.maximum(p[np.arange(m), y], 1e-300)).mean() + lam * value
    g = x.T @ ((p - one) / m)
    largest = np.abs(g).max() if penalty == "l1" else np.sqrt((g ** 2).sum(1)).max()
    q = min(1.0, lam / largest) * (p - one) + one
    dual = -(np.where(q > 0, q * np.log(np.maximum(q, 1e-300)), 0)).sum() / m
    return primal, (primal - dual) / primal


def binary_gap(x, y, w, b, lam):
    return gap(x, y, np.column_stack([np.zeros_like(w), w]), np.array([0.0, b]), lam, "l1")


def cpu():
    own, children = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in (own, children))


def limited(function, limit, *arguments):
    """Runs function(*arguments) in a separate process; None if it used more than `limit` CPU seconds."""
    def work(pipe):
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu()) + limit, int(cpu()) + limit + 5))
        try:
            pipe.send(function(*arguments))
        except (ImportError, AttributeError, TypeError, ValueError) as trouble:
            pipe.send(trouble)
    here, there = multiprocessing.get_context("fork").Pipe()
    process = multiprocessing.get_context("fork").Process(target=work, args=(there,))
    process.start()
    there.close()
    try:
        answer = here.recv()
    except EOFError:
        answer = None
    process.join()
    return answer


CASE = [""]  # what is solved at the moment, for the records


def run_sharelearn(binary, x, y, penalty, loss, options):
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "x.npy"), x)
        np.save(os.path.join(folder, "y.npy"), y.astype(np.int32))
        report = os.path.join(folder, "r.json")
        start = cpu()
        subprocess.run([binary, "fit", "gradboost", os.path.join(folder, "x.npy"), "--labels", os.path.join(folder, "y.npy"), "--loss", loss,
                        "--penalty", penalty, "--scale", "none", "--threads", "1", "--quiet", "--report", report] + options, check=True)
        seconds = cpu() - start
        r = json.load(open(report))
    stages = r["rounds"] if "--path" in options else [r]  # for a single lambda, `rounds` are rounds of induction
    print(f"  sharelearn {penalty:7} {seconds:8.2f} CPU s   {len(stages):2} lambdas, largest certified gap {max(q['gap'] for q in stages):.1e}   "
          f"rows at the end {stages[-1]['nonzero_rows']}   {r['peak_bytes'] / 2**20:.0f} MB", flush=True)
    record(CASE[0], "sharelearn", {"CPU s": seconds, "lambdas": len(stages), "gap": max(q["gap"] for q in stages)})
    return seconds, [q["lambda"] for q in stages], [q["objective"] for q in stages]


def run_adelie(x, y, lambdas, tolerance=1e-7):
    """CPU seconds; weights (columns x classes) and bias of each lambda reached. Its default tolerance is 1e-7."""
    import adelie
    one = np.eye(y.max() + 1)[y]
    k = one.shape[1]
    # adelie divides the loss by the number of classes and multiplies a group's penalty by the root of its size.
    start = cpu()
    fit = adelie.grpnet(X=np.asfortranarray(x.astype(np.float64)), glm=adelie.glm.multinomial(one), lmda_path=np.array(lambdas) / k ** 1.5,
                        progress_bar=False, early_exit=False, n_threads=1, tol=tolerance, irls_tol=tolerance)
    seconds = cpu() - start
    weights = np.asarray(fit.betas.todense())
    return seconds, [(w.reshape(-1, k), b) for w, b in zip(weights, np.asarray(fit.intercepts))]


def run_glmnet(x, y, lambdas, group, limit, tolerance=1e-7):
    """As run_adelie."""
    if not shutil.which("Rscript"):
        raise ImportError("no Rscript")
    with tempfile.TemporaryDirectory() as folder:
        x.astype(np.float64).T.tofile(os.path.join(folder, "x"))
        y.astype(np.int32).tofile(os.path.join(folder, "y"))
        np.array(lambdas).tofile(os.path.join(folder, "l"))
        script = f"""library(glmnet)
x <- matrix(readBin('{folder}/x', 'double', {x.size}), nrow={len(y)}); y <- readBin('{folder}/y', 'integer', {len(y)})
l <- readBin('{folder}/l', 'double', {len(lambdas)}); t <- proc.time()
f <- glmnet(x, factor(y), family='multinomial', type.multinomial='{group}', lambda=l, standardize=FALSE, maxit=1e8, thresh={tolerance})
n <- length(f$lambda); cat(sum((proc.time() - t)[c(1,2)]), n, '\\n')
of <- function(i) rbind(f$a0[, i], do.call(cbind, lapply(f$beta, function(b) as.matrix(b)[, i])))
writeBin(unlist(lapply(seq_len(n), function(i) as.vector(of(i)))), '{folder}/w')"""
        limits = lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        done = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, preexec_fn=limits)
        if done.returncode != 0:
            return None
        seconds, reached = done.stdout.split()
        a = np.fromfile(os.path.join(folder, "w")).reshape(int(reached), y.max() + 1, x.shape[1] + 1)
        return float(seconds), [(w[:, 1:].T, w[:, 0]) for w in a]


def run_saga(x, y, lam):
    from sklearn.linear_model import LogisticRegression
    start = cpu()
    model = LogisticRegression(l1_ratio=1, solver="saga", C=1 / (lam * len(y)), tol=1e-4, max_iter=200).fit(x, y)
    return cpu() - start, model.coef_.T, model.intercept_, 1


def run_liblinear(x, y, lam, tolerance):
    """LIBLINEAR's loss is a sum times C; labels are +1 and -1; the bias is the last weight, not penalised (-R)."""
    from liblinear.liblinearutil import parameter, problem, train
    sparse = __import__("scipy.sparse").sparse.csr_matrix(x.astype(np.float64))
    task = problem(np.where(y == 1, 1.0, -1.0), sparse, bias=1)
    start = cpu()
    model = train(task, parameter(f"-s 6 -c {1 / (lam * len(y)):.17g} -e {tolerance} -B 1 -R -q"))
    seconds = cpu() - start
    columns = x.shape[1]
    w = np.array([model.w[i] for i in range(columns + 1)])
    return seconds, (1 if model.label[0] == 1 else -1) * w[:columns], (1 if model.label[0] == 1 else -1) * w[columns], 1


def run_skglm(x, y, lam, tolerance):
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton
    warnings.simplefilter("ignore")
    model = lambda: GeneralizedLinearEstimator(Logistic(), L1(lam), ProxNewton(tol=tolerance, fit_intercept=True, max_iter=100))
    x = np.asfortranarray(x.astype(np.float64))
    target = np.where(y == 1, 1.0, -1.0)
    model().fit(x[:200], target[:200])  # compiles it before the timing
    start = cpu()
    fit = model().fit(x, target)
    return cpu() - start, np.ravel(fit.coef_), float(np.ravel(fit.intercept_)[0]), 1


def report(name, answer, ours, limit, gap_of):
    tool = version(name.split()[0], {"liblinear": "liblinear-official", "saga,": "scikit-learn"}.get(name.split()[0]))
    if isinstance(answer, Exception):
        record(CASE[0], tool, {}, None, f"left out: {answer}")
        print(f"  {name:18} left out: {answer}", flush=True)
    elif answer is None:
        record(CASE[0], tool, {"CPU s": limit}, limit / ours, "at least")
        print(f"  {name:18} cut off after {limit} CPU s: more than {limit / ours:.1f} times ours", flush=True)
    else:
        seconds, w, b, count = answer
        record(CASE[0], tool, {"CPU s": seconds, "lambdas": count, "gap": gap_of(w, b, count)}, seconds / ours)
        print(f"  {name:18} {seconds:8.2f} CPU s   {count:2} lambdas, gap at the last {gap_of(w, b, count):.1e}   {seconds / ours:.1f} times ours", flush=True)


def last_of(answer):
    """A path as report() takes it: seconds, weights and bias at the last lambda, lambdas reached."""
    return (answer[0], *answer[1][-1], len(answer[1])) if is_usable(answer) else answer


def path_options(a):
    return ["--path", str(a.path), "--path-min", str(a.path_min)]


def grouped(a, x, y, peers):
    ours, lambdas, _ = run_sharelearn(a.sharelearn, x, y, "l1l2", "multiclass", path_options(a))
    of = lambda w, b, reached: gap(x.astype(float), y, w, b, lambdas[reached - 1], "l1l2")
    if "adelie" in peers:
        report("adelie", last_of(limited(run_adelie, a.limit, x, y, lambdas)), ours, a.limit, of)
    if "glmnet" in peers:
        report("glmnet grouped", last_of(run_glmnet(x, y, lambdas, "grouped", a.limit)) if shutil.which("Rscript") else ImportError("no Rscript"),
               ours, a.limit, of)


def equal(a, x, y, peers):
    ours, lambdas, objectives = run_sharelearn(a.sharelearn, x, y, "l1l2", "multiclass", path_options(a))
    xd = x.astype(float)
    runs = {"adelie": lambda tolerance: limited(run_adelie, a.limit, x, y, lambdas, tolerance),
            "glmnet": lambda tolerance: run_glmnet(x, y, lambdas, "grouped", a.limit, tolerance)}
    for peer in (p for p in runs if p in peers):
        if peer == "glmnet" and not shutil.which("Rscript"):
            record(CASE[0], peer, {}, None, "left out: no Rscript")
            print("  glmnet left out: no Rscript", flush=True)
            continue
        for tolerance in (10.0**-n for n in range(7, 16)):
            answer = runs[peer](tolerance)
            if not is_usable(answer):
                report(f"{peer} {tolerance:g}", answer, ours, a.limit, None)
                break
            seconds, path = answer
            values, gaps = zip(*(objective_and_gap(xd, y, w, b, lam, "l1l2") for (w, b), lam in zip(path, lambdas)))
            excess = max(value / own - 1 for value, own in zip(values, objectives))
            print(f"  {peer} {tolerance:5g}      {seconds:8.2f} CPU s   {len(path):2} lambdas, largest gap {max(gaps):.1e}, objective at most {excess:.1e} "
                  f"above ours   {seconds / ours:.1f} times ours", flush=True)
            if max(gaps) <= 1e-4:
                record(CASE[0], version(peer), {"CPU s": seconds, "lambdas": len(path), "gap": max(gaps)}, seconds / ours)
                break


def binary(a, x, y, peers):
    """For each gap: our time to reach it, and the time of each peer with its loosest tolerance that reaches it."""
    one = (y == 0).astype(int)
    xd = x.astype(float)
    lam = 0.01 * np.abs(xd.T @ (one - one.mean())).max() / len(one)
    of = lambda w, b, _: binary_gap(xd, one, w, b, lam)
    runs = {"liblinear": run_liblinear, "skglm": run_skglm}
    tried = {peer: [] for peer in runs if peer in peers}
    case = CASE[0]
    for wanted in (1e-2, 1e-4, 1e-6):
        CASE[0] = f"{case}, l1, gap {wanted:g}"
        ours, _, _ = run_sharelearn(a.sharelearn, x, one, "l1", "binary", ["--lambda", repr(float(lam)), "--tolerance", str(wanted)])
        for peer, answers in tried.items():
            while not any(is_usable(q) and of(*q[1:]) <= wanted for q in answers) and len(answers) < 9:
                answers.append(limited(runs[peer], a.limit, x, one, lam, 10.0 ** -(len(answers) + 1)))
                if not is_usable(answers[-1]):
                    break
            good = [n for n, q in enumerate(answers) if is_usable(q) and of(*q[1:]) <= wanted]
            last = good[0] if good else len(answers) - 1
            report(f"{peer} {10.0 ** -(last + 1):g}", answers[last], ours, a.limit, of)


def is_usable(answer):
    return answer is not None and not isinstance(answer, Exception)


def multinomial(a, x, y, peers):
    ours, lambdas, _ = run_sharelearn(a.sharelearn, x, y, "l1", "multiclass", path_options(a))
    of = lambda w, b, reached: gap(x.astype(float), y, w, b, lambdas[reached - 1], "l1")
    if "glmnet" in peers:
        report("glmnet", last_of(run_glmnet(x, y, lambdas, "ungrouped", a.limit)) if shutil.which("Rscript") else ImportError("no Rscript"), ours, a.limit, of)
    if "saga" in peers:
        alone, _, _ = run_sharelearn(a.sharelearn, x, y, "l1", "multiclass", ["--lambda", repr(lambdas[-1]), "--tolerance", "1e-4"])
        report("saga, one lambda", limited(run_saga, a.limit, x, y, lambdas[-1]), alone, a.limit, lambda w, b, _: of(w, b, len(lambdas)))


def others(a, x, y, peers):
    for penalty in ("l1linf", "l2sq"):
        run_sharelearn(a.sharelearn, x, y, penalty, "multiclass", path_options(a))


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--data", required=True)
    parse.add_argument("--sharelearn", required=True)
    parse.add_argument("--set", default="landsat,letter,mnist10k")
    parse.add_argument("--parts", default="grouped,equal,binary,multinomial,others")
    parse.add_argument("--peers", default="adelie,glmnet,liblinear,skglm,saga")
    parse.add_argument("--path", type=int, default=50)
    parse.add_argument("--path-min", type=float, default=0.01)
    parse.add_argument("--limit", type=int, default=300, help="CPU seconds a peer may take")
    a = parse.parse_args()
    parts = {"grouped": grouped, "equal": equal, "binary": binary, "multinomial": multinomial, "others": others}
    for name in a.set.split(","):
        x, y = load(name, a.data)
        for part in a.parts.split(","):
            CASE[0] = f"{name}, {part}"
            print(f"{name}, {part}: {x.shape[0]} rows, {x.shape[1]} columns, {y.max() + 1} classes", flush=True)
            parts[part](a, x, y, a.peers.split(","))


if __name__ == "__main__":
    main()
