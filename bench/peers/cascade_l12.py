#!/usr/bin/env python3
"""Batch multitask L1/L2 (one level of the cascade) against peers, in one run.

Problem: 1-vs-rest logistic tasks over all rows, mean over rows of the sum over tasks, penalty lambda * sum_j |w_j|_2, free
bias, columns scaled to [-1, 1]. scikit-learn's MultiTaskLasso has only the squared loss, and MALSAR needs Matlab.
The peers are:
  * accelerated proximal gradient in NumPy, as in MALSAR's Logistic_L21 (fixed step 1/L, one BLAS thread);
  * adelie's grouped multinomial path solver, if it is installed, on the multinomial loss, against ours on that loss.
Prints CPU seconds of the solver alone (ours: `learning_seconds` of the report; in brackets the whole process with start and
reading) and the ratio. Ours stops at a certified gap of 1e-6. The NumPy version has no certificate: it runs until its objective
is within --gap of our optimum, or until --limit seconds have passed.

    bench/peers/cascade_l12.py --sharelearn build/release/sharelearn --csv satimage-train.csv [--lambda-ratio 0.05]
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np  # noqa: E402
from results import record, version  # noqa: E402

PAGE = {
    "name": "cascade", "order": 6, "title": "One level of the cascade: multitask L1/L2",
    "text": "1-vs-rest logistic tasks, 0.05 lambda_max; the solvers alone. sharelearn to a certified relative gap of 1e-6; NumPy (accelerated proximal "
            "gradient) until it is within 1e-5 of that optimum; adelie on the grouped multinomial problem of the same data.",
    "full": ["--sharelearn", "{program}", "--csv", "{data}/satimage/train.csv.gz", "--csv", "{data}/letter/letter.csv.gz", "--limit", "60"],
    "quick": ["--sharelearn", "{program}", "--csv", "{data}/satimage/train.csv.gz", "--limit", "5"],
    "claims": [["a level is solved faster than by NumPy and adelie", "", "", 1]],
}


def minmax(x):
    low, high = x.min(0), x.max(0)
    width = np.where(high > low, high - low, 1)
    return np.where(high > low, 2 * (x - low) / width - 1, 0)


def task_loss(scores, signs):
    return np.logaddexp(0, -signs * scores).sum() / len(scores)


def fit_bias(signs):
    positive = (signs > 0).mean(0)
    return np.log(positive / (1 - positive))


def lambda_max(x, signs):
    residual = -signs / (1 + np.exp(signs * fit_bias(signs))) / len(x)
    return np.linalg.norm(x.T @ residual, axis=1).max()


def numpy_fista(x, signs, lam, target, limit):
    m, d = x.shape
    xb = np.hstack([x, np.ones((m, 1))])
    step = 1 / (0.25 * np.linalg.norm(xb, 2) ** 2 / m)
    w = y = np.zeros((d + 1, signs.shape[1]))
    t, start, value, iterations = 1.0, time.process_time(), np.inf, 0
    while time.process_time() - start < limit:
        residual = -signs / (1 + np.exp(signs * (xb @ y))) / m
        new = y - step * (xb.T @ residual)
        norm = np.linalg.norm(new[:d], axis=1, keepdims=True)
        new[:d] *= np.maximum(1 - step * lam / np.maximum(norm, 1e-300), 0)
        grown = (1 + np.sqrt(1 + 4 * t * t)) / 2
        y = new + (t - 1) / grown * (new - w)
        w, t = new, grown
        iterations += 1
        if iterations % 20 == 0:
            value = task_loss(xb @ w, signs) + lam * np.linalg.norm(w[:d], axis=1).sum()
            if value <= target:
                break
    return time.process_time() - start, value, iterations


def ours(program, path, loss, lam, report):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "fit", "cascade", path, "--loss", loss, "--levels", "1", "--mix", "0",
                    "--phi", f"{lam:.17g}", "--threads", "1", "--quiet", "--report", report], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(report) as file:
        result = json.load(file)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result["learning_seconds"], whole, result["rounds"][0]


def adelie_multinomial(x, labels, lam):
    import adelie as ad
    classes = np.unique(labels)
    one_hot = np.asfortranarray((labels[:, None] == classes).astype(float))
    # adelie's loss is the mean over rows divided by the number of classes.
    scaled = lam / len(classes)
    start = time.process_time()
    state = ad.grpnet(X=np.asfortranarray(x), glm=ad.glm.multinomial(one_hot), lmda_path=[scaled], alpha=1,
                      penalty=np.ones(x.shape[1]), tol=1e-9, progress_bar=False, early_exit=False)
    seconds = time.process_time() - start
    w = state.betas.toarray().reshape(-1, len(classes))
    scores = x @ w[-x.shape[1]:] + np.asarray(state.intercepts).reshape(1, -1)
    top = scores.max(1, keepdims=True)
    log_sum = np.log(np.exp(scores - top).sum(1)) + top[:, 0]
    loss = (log_sum - scores[np.arange(len(x)), np.searchsorted(classes, labels)]).mean()
    return seconds, loss + lam * np.linalg.norm(w[-x.shape[1]:], axis=1).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sharelearn", required=True)
    parser.add_argument("--csv", required=True, action="append", help="numbers, the class last; may be repeated")
    parser.add_argument("--lambda-ratio", type=float, default=0.05)
    parser.add_argument("--products", action="store_true", help="add the products of all columns")
    parser.add_argument("--gap", type=float, default=1e-5)
    parser.add_argument("--limit", type=float, default=120)
    options = parser.parse_args()
    for csv in options.csv:
        compare(csv, options)


def compare(csv, options):
    name = "/".join(csv.split("/")[-2:])
    table = np.loadtxt(csv, delimiter=",")
    x, labels = table[:, :-1], table[:, -1].astype(int)
    if options.products:
        pairs = [(i, j) for i in range(x.shape[1]) for j in range(i, x.shape[1])]
        x = np.hstack([x, np.stack([x[:, i] * x[:, j] for i, j in pairs], axis=1)])
    x = minmax(x).astype(np.float32).astype(float)
    signs = np.where(labels[:, None] == np.unique(labels), 1.0, -1.0)
    lam = options.lambda_ratio * lambda_max(x, signs)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.csv")
        np.savetxt(path, np.column_stack([x, labels]), delimiter=",", fmt="%.9g")
        report = os.path.join(folder, "report.json")
        seconds, whole, level = ours(options.sharelearn, path, "multitask-logistic", lam, report)
        print(f"rows {len(x)}, columns {x.shape[1]}, tasks {signs.shape[1]}, lambda {lam:.5g}")
        print(f"multitask logistic  sharelearn {seconds:8.3f} s ({whole:.2f})  objective {level['objective']:.8f}"
              f"  gap {level['gap'] / level['objective']:.1e}  features {level['features_used']}")
        case = f"{name}, {signs.shape[1]} tasks"
        record(case, "sharelearn", {"CPU s": seconds, "objective": level["objective"]})
        target = level["objective"] * (1 + options.gap)
        peer, value, iterations = numpy_fista(x, signs, lam, target, options.limit)
        record(case, version("NumPy", "numpy"), {"CPU s": peer, "objective": value}, peer / seconds, "" if value <= target else "at least")
        print(f"                    NumPy FISTA {peer:7.3f} s  objective {value:.8f}  {iterations} iterations"
              f"  ratio {peer / seconds:.1f}")
        try:
            import adelie  # noqa: F401
            seconds, whole, level = ours(options.sharelearn, path, "multiclass-logistic", lam, report)
            peer, value = adelie_multinomial(x, labels, lam)
            case = f"{name}, multinomial"
            record(case, "sharelearn", {"CPU s": seconds, "objective": level["objective"]})
            record(case, version("adelie"), {"CPU s": peer, "objective": value}, peer / seconds)
            print(f"multinomial         sharelearn {seconds:8.3f} s ({whole:.2f})  objective {level['objective']:.8f}"
                  f"  gap {level['gap'] / level['objective']:.1e}")
            print(f"                    adelie {peer:12.3f} s  objective {value:.8f}  ratio {peer / seconds:.1f}")
        except (ImportError, AttributeError, ValueError) as error:  # adelie 1.1 needs NumPy below 2
            print(f"adelie does not run here: {type(error).__name__}")


if __name__ == "__main__":
    main()
