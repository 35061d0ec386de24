#!/usr/bin/env python3
"""Checks `sharelearn fit shareboost` round by round against a slow reference in NumPy and SciPy.

The reference is written from the paper in double precision: it chooses the column whose gradient has the largest L1
norm and minimises the loss over the chosen columns with SciPy's L-BFGS to a gradient of 1e-9. It then compares the
chosen columns, in order, and the loss of every round. Needs NumPy and SciPy.

    shareboost_reference.py SHARELEARN TRAIN.csv[.gz] [--features T] [--rows M]
"""
import argparse
import gzip
import json
import subprocess
import tempfile
import time

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp


def read(path, rows):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as file:
        table = np.loadtxt(file, delimiter=",", max_rows=rows)
    x, labels = table[:, :-1], table[:, -1]
    low, high = x.min(0), x.max(0)
    scaled = np.where(high > low, (x - (low + high) / 2) * 2 / np.where(high > low, high - low, 1), 0)
    return scaled.astype(np.float32).astype(np.float64), np.searchsorted(np.unique(labels), labels)


class Reference:
    def __init__(self, x, y):
        self.x, self.y, self.k = x, y, y.max() + 1
        self.margin = np.ones((len(y), self.k))
        self.margin[np.arange(len(y)), y] = 0
        self.own = 1 - self.margin

    def loss_and_residual(self, scores):
        z = scores + self.margin - scores[np.arange(len(self.y)), self.y][:, None]
        total = logsumexp(z, axis=1)
        return total.mean(), (np.exp(z - total[:, None]) - self.own) / len(self.y)

    def solve(self, design, start):
        def value(w):
            loss, residual = self.loss_and_residual(design @ w.reshape(-1, self.k))
            return loss, (design.T @ residual).ravel()

        result = minimize(value, start.ravel(), jac=True, method="L-BFGS-B",
                          options=dict(maxiter=20000, maxfun=40000, ftol=1e-16, gtol=1e-9, maxcor=30))
        return result.x.reshape(-1, self.k), result.fun

    def run(self, rounds):
        design = np.ones((len(self.y), 1))
        w, _ = self.solve(design, np.zeros((1, self.k)))
        chosen = []
        for _ in range(rounds):
            _, residual = self.loss_and_residual(design @ w)
            score = np.abs(self.x.T @ residual).sum(1)
            score[chosen] = -1
            chosen.append(int(score.argmax()))
            design = np.hstack([design, self.x[:, chosen[-1:]]])
            w, loss = self.solve(design, np.vstack([w, np.zeros((1, self.k))]))
            yield chosen[-1], score.max(), loss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sharelearn")
    parser.add_argument("train")
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--rows", type=int)
    options = parser.parse_args()
    x, y = read(options.train, options.rows)
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/train.csv"
        opener = gzip.open if options.train.endswith(".gz") else open
        with opener(options.train, "rt") as source, open(data, "w") as target:
            for number, line in enumerate(source):
                if options.rows is None or number < options.rows:
                    target.write(line)
        report = f"{folder}/report.json"
        subprocess.run([options.sharelearn, "fit", "shareboost", data, "--features", str(options.features),
                        "--report", report, "--quiet"], check=True)
        ours = json.load(open(report))["rounds"]
    start = time.process_time()
    worst, same = 0.0, True
    print(f"{'round':>5} {'ours':>5} {'reference':>9} {'loss of ours':>14} {'of reference':>14} {'gradient norm':>14}")
    for number, (column, score, loss) in enumerate(Reference(x, y).run(options.features)):
        mine = ours[number]
        mine_column = mine["features"][0]["column"]
        same &= mine_column == column
        worst = max(worst, mine["loss"] - loss)
        print(f"{number + 1:>5} {mine_column:>5} {column:>9} {mine['loss']:>14.9f} {loss:>14.9f} "
              f"{mine['gradient_norm']:>14.2e}")
    print(f"same features in the same order: {same}; largest excess of our loss: {worst:.2e}; "
          f"reference took {time.process_time() - start:.1f} CPU s")
    return 0 if same and worst < 1e-6 else 1


if __name__ == "__main__":
    raise SystemExit(main())
