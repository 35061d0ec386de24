#!/usr/bin/env python3
"""Predictions that stop early (docs/early.md): what is computed, what it costs in errors and time, and whether the bound holds.

    PYTHONPATH=python bench/early.py --sharelearn build/release/sharelearn --data DIR [--sets mnist,satimage,isolet,letter] [--splits 20]

Models are trained on a part of the training rows, thresholds come from the others (HELD_OUT), the test files judge. For the sets of
SPLITS the rows not trained on, test rows included, are then split at random: thresholds from one part, judged on the other.
CPU times of prediction are medians of passes that take turns, one thread, without reading.
"""
import argparse
import gzip
import json
import os
import random
import statistics
import struct
import subprocess
import tempfile
import time

from defaults import lines_of, split_letter, write

import sharelearn as sl
from sharelearn._core import Data

RIDGE = ["--ridge", "1e-4"]
FITS = {
    "mnist": ["--pool", "patches", "--templates", "7:640,5:384", "--mask-sigma", "7", "--deskew", "--rule", "gradient-l2", "--ridge", "5e-6",
              "--round-tolerance", "0.5", "--per-round", "3%", "--diverse", "--surplus", "0.4", "--features", "266"],
    "satimage": ["--pool", "products", "--features", "60", *RIDGE],
    "isolet": ["--features", "200", *RIDGE],
    "letter": ["--pool", "stumps", "--features", "200", *RIDGE],
}
DISAGREEMENT = {"mnist": "0.001", "satimage": "0.01", "isolet": "0.01", "letter": "0.005"}
HELD_OUT = {"mnist": 10000, "satimage": 1109, "isolet": 1560, "letter": 4000}
SPLITS = {"letter": (3000, "0.01"), "satimage": (1000, "0.02")}


def idx_part(path, out, rows):
    """Some rows of an IDX file."""
    with gzip.open(path) as file:
        content = file.read()
    dimensions = content[3]
    shape = struct.unpack(f">{dimensions}i", content[4 : 4 + 4 * dimensions])
    row = 1
    for size in shape[1:]:
        row *= size
    start = 4 + 4 * dimensions
    with open(out, "wb") as file:
        file.write(content[:4] + struct.pack(f">{dimensions}i", len(rows), *shape[1:]))
        for i in rows:
            file.write(content[start + i * row : start + (i + 1) * row])
    return out


def files_of(name, data, folder):
    """Files of rows to train on, rows held out, and test rows."""
    if name == "mnist":
        order = list(range(60000))
        random.Random(1).shuffle(order)
        cut = 60000 - HELD_OUT[name]
        for part, rows in (("train", order[:cut]), ("held", order[cut:])):
            idx_part(f"{data}/mnist/train-labels-idx1-ubyte.gz", f"{folder}/{part}-labels-idx1-ubyte", rows)
            idx_part(f"{data}/mnist/train-images-idx3-ubyte.gz", f"{folder}/{part}-images-idx3-ubyte", rows)
        return f"{folder}/train-images-idx3-ubyte", f"{folder}/held-images-idx3-ubyte", f"{data}/mnist/t10k-images-idx3-ubyte.gz"
    if name == "letter":
        whole, test = split_letter(data, folder)
        with open(whole) as file:
            lines = file.readlines()
    else:
        lines, test = lines_of(f"{data}/{name}/train.csv.gz"), f"{data}/{name}/test.csv.gz"
        random.Random(1).shuffle(lines)
    cut = len(lines) - HELD_OUT[name]
    return write(f"{folder}/train.csv", lines[:cut]), write(f"{folder}/held.csv", lines[cut:]), test


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def evaluated(program, model, data, folder, *more):
    run(program, "evaluate", model, data, "--report", f"{folder}/report.json", *more)
    with open(f"{folder}/report.json") as file:
        return json.load(file)


def fitted(program, name, train, held, folder):
    run(program, "fit", "shareboost", train, *FITS[name], "--quiet", "--calibration", "none", "-o", f"{folder}/full.shl")
    run(program, "early", f"{folder}/full.shl", held, "-o", f"{folder}/early.shl", "--disagreement", DISAGREEMENT[name])


def images_of(path):
    import numpy as np

    with gzip.open(path) as file:
        content = file.read()
    return np.asfortranarray(np.frombuffer(content, np.uint8, offset=16).reshape(-1, 784).astype(np.float32))


def speed(model, images):
    """CPU seconds of all features, and of stopping early, per row."""
    data = Data()
    data.take_dense(images)
    data.image_width = 28
    passes = {"full": [], "early": []}
    for _ in range(11):
        for what, predict in (("full", model.scores), ("early", model.early_scores)):
            start = time.process_time()
            predict(data, threads=1)
            passes[what].append(time.process_time() - start)
    return (statistics.median(passes[what]) / len(images) for what in ("full", "early"))


def share_that_differs(program, model, rows, folder):
    answers = [run(program, "predict", model, rows, *more).split() for more in ((), ("--early",))]
    return sum(a != b for a, b in zip(*answers)) / len(answers[0])


def random_splits(program, name, held, test, count, folder):
    rows, bound = SPLITS[name]
    lines = []
    for path in (held, test):
        lines += lines_of(path) if path.endswith(".gz") else open(path).readlines()
    shares = []
    for seed in range(count):
        random.Random(seed).shuffle(lines)
        fit, judge = write(f"{folder}/a.csv", lines[:rows]), write(f"{folder}/b.csv", lines[rows:])
        run(program, "early", f"{folder}/full.shl", fit, "-o", f"{folder}/split.shl", "--disagreement", bound, "--seed", str(seed + 1))
        shares.append(share_that_differs(program, f"{folder}/split.shl", judge, folder))
    above = sum(share > float(bound) for share in shares)
    print(f"{name}: {count} splits, bound {bound}, {rows} rows for the thresholds, {len(lines) - rows} judge: exceeded {above} times, "
          f"mean {statistics.mean(shares):.4f}, largest {max(shares):.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sharelearn", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--sets", default=",".join(FITS))
    parser.add_argument("--splits", type=int, default=20)
    options = parser.parse_args()
    program = os.path.abspath(options.sharelearn)
    for name in options.sets.split(","):
        with tempfile.TemporaryDirectory() as folder:
            train, held, test = files_of(name, options.data, folder)
            fitted(program, name, train, held, folder)
            full, early = (evaluated(program, f"{folder}/early.shl", test, folder, *more) for more in ((), ("--early",)))
            print(f"{name}: {early['mean_features']:.1f} of {early['full_features']} features (99%: {early['p99_features']}), "
                  f"{early['mean_multiply_adds']:.0f} of {early['full_multiply_adds']} multiply-adds, "
                  f"error {full['error']:.4f} -> {early['error']:.4f}, answers that differ {early['differing']:.4f}", flush=True)
            if name == "mnist":
                whole, stopped = speed(sl.load(f"{folder}/early.shl"), images_of(test))
                print(f"mnist: {1e6 * whole:.1f} and {1e6 * stopped:.1f} us of CPU time per image, ratio {stopped / whole:.3f}", flush=True)
            if name in SPLITS and options.splits:
                random_splits(program, name, held, test, options.splits, folder)


if __name__ == "__main__":
    main()
