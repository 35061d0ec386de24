#!/usr/bin/env python3
"""What Python adds to the library: time and memory of fits, time of predictions, beside the peers' predictions.

    python_overhead.py [--program build/check/sharelearn] [--rows 1000000] [--columns 200] [--features 20] [--repeats 3]

fit       CPU seconds of an estimator's fit against the same fit through the bindings alone (the call that the command line makes after
          reading), float32 in Fortran order, the two in turn; peak memory of a process that fits, Python's against the command line's
predict   CPU seconds for all rows, and microseconds for one: through the native Model, through an estimator, and scikit-learn's
          validation of that row alone
peers     predict of scikit-learn's LogisticRegression, LightGBM and XGBoost, where they are installed, on the same rows
"""

import argparse
import importlib
import os
import resource
import subprocess
import sys
import tempfile
import time
import timeit
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the peers
import numpy as np

import sharelearn as sl
from sharelearn import _core
from sharelearn._data import data_of, set_classes
from sklearn.utils.validation import validate_data


def table(rows, columns):
    rng = np.random.default_rng(0)
    x = np.empty((rows, columns), np.float32, order="F")
    for j in range(columns):
        x[:, j] = rng.standard_normal(rows, dtype=np.float32)
    scores = np.stack([x[:, c : c + 8].sum(axis=1) for c in range(5)], axis=1)
    return x, scores.argmax(axis=1)


def cpu(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def microseconds(call):
    count, seconds = timeit.Timer(call).autorange()
    return 1e6 * min([seconds / count] + [timeit.timeit(call, number=count) / count for _ in range(4)])


def native_fit(x, y, options):
    data = data_of(x)
    set_classes(data, y)
    return _core.fit("shareboost", {"loss": "multiclass", **options}, data)[0]


def fit_times(x, y, options, repeats):
    sl.ShareBoostClassifier(**options).fit(x[:100], y[:100])  # imports
    times = {"native": [], "estimator": []}
    for _ in range(repeats):
        times["native"].append(cpu(lambda: native_fit(x, y, options)))
        times["estimator"].append(cpu(lambda: sl.ShareBoostClassifier(**options).fit(x, y)))
    native, estimator = (float(np.median(times[name])) for name in ("native", "estimator"))
    print(f"fit      native {native:.2f} s, estimator {estimator:.2f} s: {100 * (estimator / native - 1):+.1f}%")


CHILD = """
import resource, sys
import numpy as np, sharelearn as sl
file = np.load(sys.argv[1])
x, y = file["x"], file["y"]
sl.ShareBoostClassifier(n_features=int(sys.argv[2]), ridge=1e-3).fit(x, y)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_memory(x, y, features, program):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "rows.npz")
        np.savez(file, x=x, y=y)
        run = subprocess.run([sys.executable, "-c", CHILD, file, str(features)], capture_output=True, text=True, check=True)
        python = int(run.stdout) / 1024
        command = [program, "fit", "shareboost", file, "--features", str(features), "--ridge", "1e-3", "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        native = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        if native < python * 1.001:  # the largest child was Python's: measure the program alone
            probe = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
            probe += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
            run = subprocess.run([sys.executable, "-c", probe, *command], capture_output=True, text=True, check=True)
            native = int(run.stdout) / 1024
    print(f"memory   command line {native:.0f} MB, Python {python:.0f} MB: {100 * (python / native - 1):+.1f}%")


def predict_times(x, y, features, repeats):
    estimator = sl.ShareBoostClassifier(n_features=features, ridge=1e-3).fit(x[:20000], y[:20000])
    model = estimator.model_
    times = {model: [], estimator: []}
    for turn in range(4 * repeats):  # who is first in a pair finds colder caches
        for each in (model, estimator) if turn % 2 == 0 else (estimator, model):
            times[each].append(cpu(lambda e=each: e.predict(x)))
    native, through = np.median(times[model]), np.median(times[estimator])
    print(f"predict  {len(x)} rows: native {native:.3f} s, estimator {through:.3f} s: {100 * (through / native - 1):+.1f}%")
    for row in (x[:1], np.ascontiguousarray(x[:1], np.float64)):
        print(
            f"predict  one {row.dtype} row: native {microseconds(lambda: model.predict(row)):.1f} us, "
            f"estimator {microseconds(lambda: estimator.predict(row)):.1f} us, scikit-learn's validation alone "
            f"{microseconds(lambda: validate_data(estimator, row, reset=False)):.1f} us"
        )


def peers():
    for module, name, options in (
        ("sklearn.linear_model", "LogisticRegression", {"max_iter": 50}),
        ("lightgbm", "LGBMClassifier", {"n_estimators": 20, "verbose": -1}),
        ("xgboost", "XGBClassifier", {"n_estimators": 20, "multi_strategy": "multi_output_tree"}),
    ):
        try:
            yield name, getattr(importlib.import_module(module), name)(**options)
        except ImportError:
            print(f"predict  {name}: not installed")


def peer_times(x, y):
    rows = np.ascontiguousarray(x[: min(len(x), 100000)])
    for name, peer in peers():
        peer.fit(rows[:5000], y[:5000])
        one = microseconds(lambda p=peer: p.predict(rows[:1]))
        print(f"predict  {name}: one row {one:.1f} us, {len(rows)} rows {cpu(lambda p=peer: p.predict(rows)):.3f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/check/sharelearn")
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    x, y = table(given.rows, given.columns)
    for features in sorted({3, given.features}):
        print(f"{given.rows} x {given.columns} float32, {features} features")
        fit_times(x, y, {"n_features": features, "ridge": 1e-3}, given.repeats)
    peak_memory(x, y, given.features, given.program)
    predict_times(x, y, given.features, given.repeats)
    peer_times(x, y)


if __name__ == "__main__":
    main()
