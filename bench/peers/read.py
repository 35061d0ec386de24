#!/usr/bin/env python3
"""Reading data files: CPU seconds of sharelearn and of common alternatives, on the same files in one run.

    bench/peers/read.py [--megabytes 200] [--folder FOLDER] [--program build/release/bench/bench_read_file] [--repeat 3]

Needs numpy. Measures xgboost, scikit-learn and pandas where they are installed, and numpy.loadtxt. Every reader runs in a
separate process on one thread; the best repetition counts. The last column is the reader's time divided by ours.
"""
import argparse
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from results import record

PAGE = {
    "name": "reading", "order": 1, "title": "Reading data files",
    "text": "The same files for all, into the reader's own float32 table. svmlight: 5,000 columns, 100 values per row; CSV: 100 columns.",
    "full": ["--megabytes", "50", "--program", "{build}/bench/bench_read_file"],
    "quick": ["--megabytes", "10", "--repeat", "1", "--program", "{build}/bench/bench_read_file"],
    "claims": [["svmlight is read at least twice as fast as by the fastest other reader", "svmlight", "", 2],
               ["CSV is read at least twice as fast as by the fastest other reader", "CSV", "", 2]],
}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
MEASURE = """
import resource
def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
{prepare}
start = cpu()
{read}
print("cpu", cpu() - start)
"""
PEERS = {
    "svmlight": [
        ("XGBoost", "xgboost", "import xgboost", "xgboost.DMatrix({path!r} + '?format=libsvm', nthread=1, silent=True)"),
        ("scikit-learn", "sklearn", "from sklearn.datasets import load_svmlight_file; import numpy",
         "load_svmlight_file({path!r}, dtype=numpy.float32)"),
    ],
    "csv": [
        ("XGBoost", "xgboost", "import xgboost",
         "xgboost.DMatrix({path!r} + '?format=csv&label_column=100', nthread=1, silent=True)"),
        ("numpy.loadtxt", "numpy", "import numpy", "numpy.loadtxt({path!r}, delimiter=',', dtype=numpy.float32)"),
        ("pandas", "pandas", "import pandas, numpy",
         "pandas.read_csv({path!r}, header=None, dtype=numpy.float32)"),
    ],
}


def write_svmlight(path, size):
    """100 values per row, 5,000 columns, 6 digits, 20 classes."""
    import numpy
    random = numpy.random.default_rng(1)
    with open(path, "w") as file:
        while file.tell() < size:
            for _ in range(1000):
                columns = numpy.unique(random.integers(1, 5001, 100)).tolist()
                values = random.random(len(columns)).tolist()
                features = " ".join("%d:%.6g" % pair for pair in zip(columns, values))
                file.write("%d %s\n" % (random.integers(20), features))


def write_csv(path, size):
    """100 columns, 6 digits, 20 classes."""
    import numpy
    random = numpy.random.default_rng(2)
    with open(path, "w") as file:
        while file.tell() < size:
            for row in random.random((1000, 100)).tolist():
                file.write(",".join(["%.6g" % value for value in row]) + ",%d\n" % random.integers(20))


def best(command, repeat):
    """The smallest CPU (and wall) seconds that the command prints."""
    runs = []
    for _ in range(repeat):
        done = subprocess.run(command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True)
        found = re.search(r"cpu ([0-9.]+)(?: wall ([0-9.]+))?", done.stdout)
        if not found:
            raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else "no output")
        runs.append((float(found[1]), float(found[2] or 0)))
    return min(runs)


def compare(kind, path, options):
    size = os.path.getsize(path) / 1e6
    ours, _ = best([options.program, path, "1"], options.repeat)
    two, wall = best([options.program, path, "2"], options.repeat)
    case = f"{'CSV' if kind == 'csv' else kind}, {size:.0f} MB"
    record(case, "sharelearn", {"CPU s": ours, "MB/s": size / ours})
    print(f"\n{kind}, {size:.0f} MB")
    print(f"{'reader':<28}{'CPU s':>8}{'MB/s':>8}{'of ours':>9}")
    print(f"{'sharelearn':<28}{ours:>8.2f}{size / ours:>8.0f}{1:>9.2f}")
    print(f"{'sharelearn, 2 threads':<28}{two:>8.2f}{size / two:>8.0f}{two / ours:>9.2f}   ({wall:.2f} s wall)")
    for name, module, prepare, read in PEERS[kind]:
        if importlib.util.find_spec(module) is None:
            print(f"{name:<28} not installed")
            continue
        version = __import__(module).__version__
        script = MEASURE.format(prepare=prepare, read=read.format(path=path))
        seconds, _ = best([sys.executable, "-c", script], options.repeat)
        record(case, f"{name} {version}", {"CPU s": seconds, "MB/s": size / seconds}, seconds / ours)
        print(f"{name + ' ' + version:<28}{seconds:>8.2f}{size / seconds:>8.0f}{seconds / ours:>9.2f}", flush=True)


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", help="where the files are written and kept; a temporary folder unless given")
    parser.add_argument("--program", default=str(root / "build/release/bench/bench_read_file"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for kind, write in (("svmlight", write_svmlight), ("csv", write_csv)):
            path = folder / f"{kind}-{options.megabytes:g}.txt"
            if not path.exists():
                write(path, options.megabytes * 1e6)
            compare(kind, str(path), options)


if __name__ == "__main__":
    main()
