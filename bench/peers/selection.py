#!/usr/bin/env python3
"""The lowest test error with few features: sharelearn's ways to choose them and other tools, one thread each.

    python3 bench/peers/selection.py --sharelearn build/check/sharelearn --data DIR [--sets dna,optdigits] [--methods gradient,rfe]

Sets: landsat702 and letter152 (columns and their products), pendigits, isolet, optdigits, dna. Prints the test error in % with 10, 20 and 30
features, and CPU seconds for each size (sharelearn: with reading; one run per size, without the calibration of probabilities). Peers see columns
scaled to [-1, 1] and are stopped after --limit CPU seconds per size. scikit-learn's selectors and its logistic regression take the `C` with
which they are usually called, 1; sequential selection (forward, 2 folds) is tried up to 64 columns.
"""
import argparse
import gzip
import json
import multiprocessing
import os
import resource
import subprocess
import tempfile

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from results import record, version

PAGE = {
    "name": "selection", "order": 2, "title": "Choosing few features for all classes",
    "text": "Test error with the given number of features, and CPU seconds. sharelearn: with reading and the choice of its ridge. Peers see columns scaled to "
            "[-1, 1]; RFE, SelectKBest and sequential selection end in scikit-learn's logistic regression.",
    "full": ["--sharelearn", "{program}", "--data", "{data}", "--limit", "60", "--sets", "dna,optdigits,pendigits,landsat702",
             "--methods", "gradient;exact;surplus, exchange;abess;rfe;k-best;sequential"],
    "quick": ["--sharelearn", "{program}", "--data", "{data}", "--limit", "5", "--sets", "dna", "--sizes", "10", "--methods", "gradient;exact;abess;k-best"],
    "claims": [["no peer has a lower test error with the same number of features (default rule; ratio of errors)", "", "abess|rfe|k-best|sequential", 1, "test error %"],
               ["no peer is faster", "", "abess|rfe|k-best|sequential", 1]],
}
OURS = {
    "gradient": [],
    "exact": ["--rule", "exact"],
    "surplus": ["--surplus", "0.5"],
    "exchange": ["--exchange"],
    "exact, exchange": ["--rule", "exact", "--exchange"],
    "surplus, exchange": ["--surplus", "0.5", "--exchange"],
}


def rows_of(path):
    with gzip.open(path, "rt") as file:
        rows = np.loadtxt(file, delimiter=",")
    return rows[:, :-1], rows[:, -1].astype(int)


def with_products(x):
    pairs = [x[:, i] * x[:, j] for i in range(x.shape[1]) for j in range(i, x.shape[1])]
    return np.hstack([x, np.array(pairs).T])


def load(name, data):
    if name == "letter152":
        x, y = rows_of(f"{data}/letter/letter.csv.gz")
        x = with_products(x)
        return x[:16000], y[:16000], x[16000:], y[16000:]
    folder = "satimage" if name == "landsat702" else name
    (x, y), (z, t) = (rows_of(f"{data}/{folder}/{part}.csv.gz") for part in ("train", "test"))
    return (with_products(x), y, with_products(z), t) if name == "landsat702" else (x, y, z, t)


def scaled(x, z):
    low, high = x.min(0), x.max(0)
    varies = high > low  # abess stops at a constant column
    return [(2 * (part - low) / np.where(varies, high - low, 1) - 1)[:, varies] for part in (x, z)]


def logistic():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def of_selector(selector, x, y, z):
    chosen = selector.fit(x, y)
    return logistic().fit(chosen.transform(x), y).predict(chosen.transform(z))


def rfe(x, y, z, size):
    from sklearn.feature_selection import RFE

    return of_selector(RFE(logistic(), n_features_to_select=size, step=1 if x.shape[1] < 200 else 0.1), x, y, z)


def k_best(x, y, z, size):
    from sklearn.feature_selection import SelectKBest

    return of_selector(SelectKBest(k=size), x, y, z)


def sequential(x, y, z, size):
    from sklearn.feature_selection import SequentialFeatureSelector

    if x.shape[1] > 64:
        raise ValueError("too many columns")
    return of_selector(SequentialFeatureSelector(logistic(), n_features_to_select=size, cv=2), x, y, z)


def abess(x, y, z, size):
    from abess import MultinomialRegression

    return MultinomialRegression(support_size=size, thread=1).fit(x, y).predict(z)


PEERS = {"abess": abess, "rfe": rfe, "k-best": k_best, "sequential": sequential}


def work(peer, arrays, size, limit, send):
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    x, y, z, t = arrays
    before = resource.getrusage(resource.RUSAGE_SELF)
    try:
        x, z = scaled(x, z)
        guess = np.asarray(PEERS[peer](x, y, z, size))
        guess = guess.argmax(1) if guess.ndim > 1 else guess
        error = 100 * np.mean(guess != t)
    except (ImportError, ValueError, OverflowError) as reason:
        send.send(str(reason).split("\n")[0][:40])
        return
    after = resource.getrusage(resource.RUSAGE_SELF)
    send.send((error, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))


def peer_result(peer, arrays, size, limit):
    receive, send = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(target=work, args=(peer, arrays, size, limit, send))
    process.start()
    send.close()
    try:
        return receive.recv()
    except EOFError:
        return f"over {limit} s"
    finally:
        process.join()


def our_result(program, options, paths, size, ridge):
    train, test, report = paths
    arguments = [program, "fit", "shareboost", train, "--test", test, "--features", str(size), *options, "--threads", "1", "--quiet"]
    process = subprocess.Popen([*arguments, *ridge, "--calibration", "none", "--report", report])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(" ".join(arguments))
    with open(report) as file:
        return 100 * json.load(file)["test_error"], usage.ru_utime + usage.ru_stime


FIRST = {}  # of each case: CPU seconds of our default rule


def report(case, method, result):
    if isinstance(result, str):
        record(case, method, {}, None, f"left out: {result}")
        return
    error, seconds = result
    first = FIRST.setdefault(case, seconds)
    tool = f"sharelearn, {method}" if method in OURS else version(method, None if method == "abess" else "scikit-learn")
    record(case, tool, {"test error %": error, "CPU s": seconds}, None if method in OURS else seconds / first)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sharelearn", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--sets", default="dna,optdigits,pendigits,landsat702,isolet,letter152")
    parser.add_argument("--methods", default=";".join([*OURS, *PEERS]), help="separated by ;")
    parser.add_argument("--sizes", default="10,20,30")
    parser.add_argument("--ridge", help="of sharelearn; default: chosen from the data, as its time includes")
    parser.add_argument("--limit", type=int, default=120, help="CPU seconds for a peer and one size")
    options = parser.parse_args()
    ridge = ["--ridge", options.ridge] if options.ridge else []
    sizes = [int(size) for size in options.sizes.split(",")]
    print("| set | method |" + "".join(f" {size} |" for size in sizes) + " CPU s |\n|---|---|" + "---:|" * (len(sizes) + 1))
    with tempfile.TemporaryDirectory() as folder:
        for name in options.sets.split(","):
            x, y, z, t = arrays = load(name, options.data)
            paths = [f"{folder}/{part}" for part in ("train.csv", "test.csv", "report.json")]
            np.savetxt(paths[0], np.column_stack([x, y]), "%.6g", ",")
            np.savetxt(paths[1], np.column_stack([z, t]), "%.6g", ",")
            for method in options.methods.split(";"):
                fitting = [size for size in sizes if size <= x.shape[1]]
                if method in OURS:
                    results = [our_result(options.sharelearn, OURS[method], paths, size, ridge) for size in fitting]
                else:
                    results = [peer_result(method, arrays, size, options.limit) for size in fitting]
                for size, result in zip(fitting, results):
                    report(f"{name}, {size} features", method, result)
                errors = [result if isinstance(result, str) else f"{result[0]:.1f}" for result in results]
                times = ["-" if isinstance(result, str) else f"{result[1]:.2f}" for result in results]
                print(f"| {name} | {method} | " + " | ".join(errors + [""] * (len(sizes) - len(errors))) + f" | {' / '.join(times)} |", flush=True)


if __name__ == "__main__":
    main()
