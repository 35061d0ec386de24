#!/usr/bin/env python3
"""The ridge that shareboost chooses by itself, against fixed ridges: test error at several sizes, and time.

    bench/defaults.py --sharelearn build/release/sharelearn --data DIR [--sets letter,isolet] [--pools columns,stumps]
                      [--sizes 10,30,100] [--json FILE]

For every set, pool and size: one run with defaults and one for each fixed ridge c / rows, c in 0.001, 0.01, 0.1, 1, 10. A size
above the number of columns means all columns. `allowed` is 0.5 points or one standard error of the test set, if that is more.
Times are CPU seconds of the whole process with one thread, reading included. Reuters: documents with one topic, ModApte split.
"""
import argparse
import gzip
import json
import math
import os
import resource
import subprocess
import sys
import tempfile

FACTORS = [0.001, 0.01, 0.1, 1, 10]
COLUMNS = {"optdigits": 64, "letter": 16, "satimage": 36, "pendigits": 16, "isolet": 617, "mnist": 784, "reuters": 17032}


def lines_of(path):
    with gzip.open(path, "rt") as file:
        return file.readlines()


def write(path, lines):
    with open(path, "w") as file:
        file.writelines(lines)
    return path


def split_letter(data, folder):
    lines = lines_of(f"{data}/letter/letter.csv.gz")
    return write(f"{folder}/letter.csv", lines[:16000]), write(f"{folder}/letter-test.csv", lines[16000:])


def split_reuters(data, folder):
    documents = lines_of(f"{data}/reuters21578/docs.svm.gz")
    parts = {"train": [], "test": []}
    for document, about in zip(documents, lines_of(f"{data}/reuters21578/meta.tsv.gz")):
        part = about.split("\t")[2]
        if part in parts and "," not in document.split(" ", 1)[0]:
            parts[part].append(document)
    known = {document.split(" ", 1)[0] for document in parts["train"]}
    test = [document for document in parts["test"] if document.split(" ", 1)[0] in known]
    return write(f"{folder}/reuters.svm", parts["train"]), write(f"{folder}/reuters-test.svm", test)


def files_of(name, data, folder):
    if name == "letter":
        return split_letter(data, folder)
    if name == "reuters":
        return split_reuters(data, folder)
    if name == "mnist":
        return f"{data}/mnist/train-images-idx3-ubyte.gz", f"{data}/mnist/t10k-images-idx3-ubyte.gz"
    return f"{data}/{name}/train.csv.gz", f"{data}/{name}/test.csv.gz"


def fit(program, train, test, pool, size, more, folder):
    report = f"{folder}/report.json"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "fit", "shareboost", train, "--test", test, "--pool", pool, "--features", str(size), "--threads", "1",
                    "--quiet", "--report", report, *more], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(report) as file:
        result = json.load(file)
    result["cpu"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result


def rows_of(path):
    return len(lines_of(path)) if path.endswith(".gz") else sum(1 for _ in open(path))


def compare(program, name, pool, size, files, folder):
    train, test = files
    rows, tests = (60000, 10000) if name == "mnist" else (rows_of(train), rows_of(test))
    size = min(size, COLUMNS[name]) if pool == "columns" else size
    runs = {c: fit(program, train, test, pool, size, ["--ridge", repr(c / rows)], folder) for c in FACTORS}
    chosen = fit(program, train, test, pool, size, [], folder)
    best = min(runs, key=lambda c: runs[c]["test_error"])
    error = runs[best]["test_error"]
    allowed = max(0.005, math.sqrt(error * (1 - error) / tests))
    return {"set": name, "pool": pool, "size": size, "errors": {str(c): run["test_error"] for c, run in runs.items()},
            "times": {str(c): run["cpu"] for c, run in runs.items()}, "factor": chosen["options"]["ridge"] * rows,
            "error": chosen["test_error"], "time": chosen["cpu"], "best": best, "allowed": allowed,
            "holds": chosen["test_error"] <= error + allowed and chosen["cpu"] <= 2 * runs[best]["cpu"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sharelearn", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--sets", default=",".join(COLUMNS))
    parser.add_argument("--pools", default="columns,stumps")
    parser.add_argument("--sizes", default="10,30,100")
    parser.add_argument("--json", help="append one line per comparison to this file")
    arguments = parser.parse_args()
    heads = "  ".join(f"{c:>6g}/m" for c in FACTORS)
    print(f"{'set':10} {'pool':8} {'size':>4}  {heads}  {'chosen':>8} {'error':>7} {'allowed':>7} {'time':>6} {'x best':>6}")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.sets.split(","):
            files = files_of(name, arguments.data, folder)
            for pool in arguments.pools.split(","):
                done = set()
                for size in map(int, arguments.sizes.split(",")):
                    size = min(size, COLUMNS[name]) if pool == "columns" else size
                    if size in done:
                        continue
                    done.add(size)
                    r = compare(arguments.sharelearn, name, pool, size, files, folder)
                    failures += not r["holds"]
                    if arguments.json:
                        with open(arguments.json, "a") as file:
                            file.write(json.dumps(r) + "\n")
                    errors = "  ".join(f"{100 * r['errors'][str(c)]:>8.2f}" for c in FACTORS)
                    print(f"{name:10} {pool:8} {r['size']:>4}  {errors}  {r['factor']:>6.3g}/m {100 * r['error']:>7.2f} "
                          f"{100 * r['allowed']:>7.2f} {r['time']:>6.1f} {r['time'] / r['times'][str(r['best'])]:>6.2f}"
                          f"{'' if r['holds'] else '  *'}", flush=True)
    print(f"{failures} outside what is allowed (*)")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
