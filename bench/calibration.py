#!/usr/bin/env python3
"""Calibration error of the probabilities of every batch method on test rows, with and without --calibration folds.

    bench/calibration.py --sharelearn build/release/sharelearn --data DIR [--sets letter,satimage,mnist] [--methods shareboost,...]
                         [--shuffle SEED]

The limit is that of `evaluate`: labels drawn from the probabilities themselves stay below it in 19 of 20 samples. Options that are
not defaults stand in METHODS: fixed penalties in place of a long cross-validation. --shuffle draws as many test rows as the test file
has from all rows: a test file may be drawn differently from the training file, which no calibration can know. Times are CPU seconds of the fit with one thread.
"""
import argparse
import gzip
import json
import random
import resource
import subprocess
import sys
import tempfile

from defaults import files_of, lines_of, write

METHODS = {
    "shareboost": [],
    "shareboost stumps": ["--pool", "stumps", "--features", "50"],
    "onevsrest": [],
    "jointboost": ["--bins", "64"],
    "gradboost": [],
    "adaboost": [],
    "cascade": ["--phi", "0.001"],
    "treelasso": ["--loss", "multiclass-hinge", "--lambda", "0.0001"],
}


def cpu_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def records_of(path, size, head):
    """The first bytes of an IDX file, and what follows them in pieces of one size."""
    with gzip.open(path, "rb") as file:
        content = file.read()
    return content[:head], [content[at:at + size] for at in range(head, len(content), size)]


def shuffled_images(files, seed, folder):
    parts = [(records_of(path, 784, 16), records_of(path.replace("images-idx3", "labels-idx1"), 1, 8)) for path in files]
    rows = [row for images, labels in parts for row in zip(images[1], labels[1])]
    random.Random(seed).shuffle(rows)
    paths = []
    for name, (images, labels) in zip(("train", "test"), parts):
        own, rows = rows[: len(images[1])], rows[len(images[1]):]
        for kind, head, which in (("images-idx3", images[0], 0), ("labels-idx1", labels[0], 1)):
            with open(f"{folder}/{name}-{kind}-ubyte", "wb") as file:
                file.write(head + b"".join(row[which] for row in own))
        paths.append(f"{folder}/{name}-images-idx3-ubyte")
    return tuple(paths)


def shuffled(files, seed, folder):
    """Training and test rows drawn anew from both files."""
    if "idx3" in files[0]:
        return shuffled_images(files, seed, folder)
    parts = [lines_of(path) if path.endswith(".gz") else open(path).readlines() for path in files]
    rows = parts[0] + parts[1]
    random.Random(seed).shuffle(rows)
    return write(f"{folder}/train.csv", rows[: len(parts[0])]), write(f"{folder}/test.csv", rows[len(parts[0]):])


def measure(program, method, files, calibration, folder):
    train, test = files
    model, report = f"{folder}/model", f"{folder}/report.json"
    seconds = cpu_of([program, "fit", method.split()[0], train, *METHODS[method], "--calibration", calibration, "--threads", "1",
                      "--quiet", "-o", model])
    cpu_of([program, "evaluate", model, test, "--report", report])
    with open(report) as file:
        return json.load(file), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sharelearn", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--sets", default="letter,satimage,mnist")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--shuffle", type=int, help="seed of a random split in place of the given one")
    arguments = parser.parse_args()
    print(f"{'set':10} {'method':18} {'error':>7}  {'link':>6} {'limit':>6} {'log loss':>8}  {'folds':>6} {'limit':>6} {'log loss':>8}  {'time':>6}")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.sets.split(","):
            files = files_of(name, arguments.data, folder)
            if arguments.shuffle is not None:
                files = shuffled(files, arguments.shuffle, folder)
            for method in arguments.methods.split(","):
                link, plain = measure(arguments.sharelearn, method, files, "none", folder)
                folds, seconds = measure(arguments.sharelearn, method, files, "folds", folder)
                outside = folds["calibration_error"] > folds["calibration_limit"]
                failures += outside
                figures = "  ".join(f"{100 * r['calibration_error']:>6.2f} {100 * r['calibration_limit']:>6.2f} {r['log_loss']:>8.4f}"
                                    for r in (link, folds))
                print(f"{name:10} {method:18} {100 * folds['error']:>7.2f}  {figures}  {seconds / plain:>6.2f}{'  *' if outside else ''}",
                      flush=True)
    print(f"{failures} above the limit (*); time: of the fit, relative to --calibration none")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
