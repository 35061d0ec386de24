#!/usr/bin/env python3
"""Speed of ShareBoost on columns: ours and a version in NumPy + SciPy L-BFGS, one thread each, in one run.

    python3 bench/peers/shareboost.py --sharelearn build/release/sharelearn --data DIR [--features 30] [--sets letter,mnist]

Letter152: the first 16,000 letters, 16 columns and their 136 products. MNIST: 60,000 images of 784 pixels.
Prints CPU seconds (ours with reading the data, the peer's without), test errors and the ratio.
"""
import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from scipy.optimize import minimize


def letter(folder):
    with gzip.open(os.path.join(folder, "letter/letter.csv.gz"), "rt") as file:
        rows = np.loadtxt(file, delimiter=",")
    return (rows[:16000, :-1], rows[:16000, -1]), (rows[16000:, :-1], rows[16000:, -1])


def idx(path):
    with gzip.open(path) as file:
        raw = file.read()
    dims = [int.from_bytes(raw[4 + 4 * i : 8 + 4 * i], "big") for i in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * len(dims)).reshape(dims)


def mnist(folder):
    def part(name):
        images = idx(os.path.join(folder, f"mnist/{name}-images-idx3-ubyte.gz"))
        return images.reshape(len(images), -1).astype(float), idx(
            os.path.join(folder, f"mnist/{name}-labels-idx1-ubyte.gz")
        )

    return part("train"), part("t10k")


def scaled(train, test):
    low, high = train.min(0), train.max(0)
    factor = np.where(high > low, 2 / np.where(high > low, high - low, 1), 0)
    return [((x - low) * factor - (high > low)).astype(np.float32) for x in (train, test)]


def with_products(x):
    pairs = [(i, j) for i in range(x.shape[1]) for j in range(i, x.shape[1])]
    return np.hstack([x] + [(x[:, i] * x[:, j])[:, None] for i, j in pairs])


def shareboost(x, y, classes, features):
    """Algorithm 1 of the paper with SciPy's L-BFGS as the corrective step."""
    m = len(x)
    margin = 1.0 - np.eye(classes)[y]
    truth = np.eye(classes)[y]

    def loss(w, columns):
        scores = columns @ w.reshape(-1, classes) + margin
        top = scores.max(1, keepdims=True)
        terms = np.exp(scores - top)
        total = terms.sum(1, keepdims=True)
        value = np.mean(np.log(total[:, 0]) + top[:, 0] - scores[np.arange(m), y])
        residual = (terms / total - truth) / m
        return value, (columns.T @ residual).ravel(), residual

    chosen, w = [], np.zeros(classes)
    ones = np.ones((m, 1))
    design = ones
    for _ in range(features + 1):
        w = minimize(lambda v: loss(v, design)[:2], w, jac=True, method="L-BFGS-B",
                     options={"maxiter": 1000, "ftol": 1e-9, "gtol": 1e-6}).x
        if len(chosen) == features:
            break
        residual = loss(w, design)[2].astype(np.float32)
        score = np.abs(x.T @ residual).sum(1)
        score[chosen] = -1
        best = int(score.argmax())
        chosen.append(best)
        design = np.hstack([design, x[:, best : best + 1].astype(float)])
        w = np.concatenate([w, np.zeros(classes)])
    return chosen, w.reshape(-1, classes)


def cpu(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def write_csv(path, x, y):
    np.savetxt(path, np.column_stack([x, y]), fmt="%g", delimiter=",")


def ours(options, name, folder, temporary, train, test):
    if name == "mnist":
        paths = [os.path.join(folder, f"mnist/{p}-images-idx3-ubyte.gz") for p in ("train", "t10k")]
    else:
        paths = [os.path.join(temporary, p) for p in ("train.csv", "test.csv")]
        write_csv(paths[0], *train)
        write_csv(paths[1], *test)
    report = os.path.join(temporary, "report.json")
    command = [options.sharelearn, "fit", "shareboost", paths[0], "--test", paths[1], "--features",
               str(options.features), "--threads", "1", "--quiet", "--report", report]
    if name == "letter":
        command += ["--pool", "products", "--with-columns"]
    before = cpu(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    seconds = cpu(resource.RUSAGE_CHILDREN) - before
    with open(report) as file:
        return seconds, json.load(file)["test_error"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sharelearn", default="build/release/sharelearn")
    parser.add_argument("--data", required=True)
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--sets", default="letter,mnist")
    options = parser.parse_args()
    print(f"{options.features} features, CPU seconds on one thread")
    for name in options.sets.split(","):
        train, test = {"letter": letter, "mnist": mnist}[name](options.data)
        with tempfile.TemporaryDirectory() as temporary:
            our_seconds, our_error = ours(options, name, options.data, temporary, train, test)
        print(f"{name:8} sharelearn {our_seconds:8.2f} s   test error {100 * our_error:.2f}%", flush=True)
        names, y = np.unique(train[1], return_inverse=True)
        x, x_test = scaled(train[0], test[0])
        if name == "letter":
            x, x_test = with_products(x), with_products(x_test)
        before = cpu(resource.RUSAGE_SELF)
        chosen, w = shareboost(x, y, len(names), options.features)
        seconds = cpu(resource.RUSAGE_SELF) - before
        scores = np.hstack([np.ones((len(x_test), 1)), x_test[:, chosen]]) @ w
        error = np.mean(names[scores.argmax(1)] != test[1])
        print(f"{name:8} NumPy      {seconds:8.2f} s   test error {100 * error:.2f}%   ratio {seconds / our_seconds:.1f}",
              flush=True)


if __name__ == "__main__":
    sys.exit(main())
