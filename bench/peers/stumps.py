#!/usr/bin/env python3
"""Stumps that all classes share, one thread each, in one run: ours, XGBoost's trees of depth 1 with one vector of weights per leaf, LightGBM's.

    python3 bench/peers/stumps.py --sharelearn build/check/sharelearn --data DIR [--stumps 100]

Letter, the first 16,000 rows. XGBoost (multi_output_tree) grows trees until it has as many different stumps as we choose. Prints different
stumps, CPU seconds (ours with reading, with and without the choice of the ridge and the calibration of probabilities) and test errors.
"""
import argparse
import gzip
import json
import os
import re
import subprocess
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import xgboost
from results import record, version

PAGE = {
    "name": "stumps", "order": 4, "title": "Stumps that all classes share",
    "text": "Letter, first 16,000 rows. XGBoost grows trees of depth 1 with one vector of weights per leaf until it has as many different stumps; LightGBM grows "
            "one tree per class and round, as many rounds as give as many different stumps. sharelearn's time includes reading.",
    "full": ["--sharelearn", "{program}", "--data", "{data}"],
    "quick": ["--sharelearn", "{program}", "--data", "{data}", "--stumps", "20"],
    "claims": [["a fit with a given ridge is faster than XGBoost with vector leaves at the same number of stumps", "", "XGBoost", 1],
               ["the test error is lower than XGBoost's (ratio of errors)", "", "XGBoost", 1, "test error %"]],
}


def ours(program, rows, count, options):
    with tempfile.TemporaryDirectory() as folder:
        for name, part in (("train", rows[:16000]), ("test", rows[16000:])):
            np.savetxt(f"{folder}/{name}.csv", part, "%d", ",")
        arguments = [program, "fit", "shareboost", f"{folder}/train.csv", "--test", f"{folder}/test.csv", "--pool", "stumps"]
        arguments += ["--features", str(count), "--threads", "1", "--quiet", "--report", f"{folder}/report.json", *options]
        process = subprocess.Popen(arguments)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(" ".join(arguments))
        with open(f"{folder}/report.json") as file:
            report = json.load(file)
    return report["features_used"], usage.ru_utime + usage.ru_stime, 100 * report["test_error"]


def of_lightgbm(rows, count):
    """As many rounds (26 trees of depth 1 each) as it takes; the number of rounds is searched without counting its time."""
    import lightgbm

    x, y = rows[:, :-1].astype(np.float32), rows[:, -1] - 1
    options = {"objective": "multiclass", "num_class": 26, "max_depth": 1, "num_leaves": 2, "num_threads": 1, "verbose": -1}

    def grown(rounds):
        before = time.process_time()
        booster = lightgbm.train(options, lightgbm.Dataset(x[:16000], y[:16000]), rounds)
        seconds = time.process_time() - before
        nodes = booster.trees_to_dataframe()
        return booster, len(nodes[nodes.split_gain.notna()].groupby(["split_feature", "threshold"])), seconds

    rounds = 1
    booster, different, seconds = grown(rounds)
    while different < count and rounds < count:
        rounds = max(rounds + 1, rounds * count // max(different, 1) // 2)
        booster, different, seconds = grown(rounds)
    error = 100 * np.mean(booster.predict(x[16000:]).argmax(1) != y[16000:])
    return different, seconds, error, booster.num_trees()


def of_xgboost(rows, count):
    x, y = rows[:, :-1].astype(np.float32), rows[:, -1] - 1
    options = {"objective": "multi:softprob", "num_class": 26, "max_depth": 1, "multi_strategy": "multi_output_tree", "tree_method": "hist",
               "nthread": 1}
    before = time.process_time()
    train = xgboost.DMatrix(x[:16000], y[:16000])
    booster = xgboost.train(options, train, count)
    different = set()
    while True:
        different = set(re.findall(r"0:\[(.*?)\]", "".join(booster.get_dump())))
        if len(different) >= count or booster.num_boosted_rounds() >= 10 * count:
            break
        booster = xgboost.train(options, train, max(count - len(different), 1), xgb_model=booster)
    seconds = time.process_time() - before
    guess = booster.predict(xgboost.DMatrix(x[16000:])).argmax(1)
    return len(different), seconds, 100 * np.mean(guess != y[16000:]), booster.num_boosted_rounds()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sharelearn", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--stumps", type=int, default=100)
    options = parser.parse_args()
    with gzip.open(f"{options.data}/letter/letter.csv.gz", "rt") as file:
        rows = np.loadtxt(file, delimiter=",").astype(int)
    case = f"Letter, {options.stumps} stumps"
    for name, extra in (("given ridge", ["--ridge", "1e-5", "--calibration", "none"]), ("defaults", [])):
        stumps, seconds, error = ours(options.sharelearn, rows, options.stumps, extra)
        base = seconds if name == "given ridge" else base
        record(case, f"sharelearn, {name}", {"stumps": stumps, "CPU s": seconds, "test error %": error})
        print(f"sharelearn, {name}: {stumps} stumps, {seconds:.2f} s, {error:.1f}%")
    for name, module, peer in (("XGBoost", "xgboost", of_xgboost), ("LightGBM", "lightgbm", of_lightgbm)):
        try:
            stumps, seconds, error, trees = peer(rows, options.stumps)
        except ImportError:
            print(f"{name} is not installed")
            continue
        record(case, version(name, module), {"stumps": stumps, "CPU s": seconds, "test error %": error, "trees": trees}, seconds / base)
        print(f"{name}: {stumps} stumps, {seconds:.2f} s, {error:.1f}%, {trees} trees")


if __name__ == "__main__":
    main()
