#!/usr/bin/env python3
"""Online learning, ours and the peers in one run: CPU seconds and ratios.

    sharing.py --sharelearn PROGRAM --data DIR            speed on Letter (dense) and Enron (sparse words)
    sharing.py --sharelearn PROGRAM --memory              1,000,000 sparse examples, 500,000 words

scikit-learn's Perceptron.partial_fit gets all rows in one call, which is its fastest way, and is timed without
reading. Ours takes one example at a time and is timed without reading, too (`learning_seconds`). Vowpal Wabbit reads
its text format and learns; ours reads svmlight text as a stream and learns. Both are timed as whole processes, minus a
run of the same process on a single line (Python and Vowpal Wabbit take a while to start). Needs NumPy, SciPy and
scikit-learn; vowpalwabbit is optional.
"""
import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time


def cpu_of(command):
    """CPU seconds (user + system) of a child process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def best(function, repeats):
    return min(function() for _ in range(repeats))


def load(path, dense):
    """Rows as (label, [(index from 1, value)])."""
    rows = []
    with gzip.open(path, "rt") as file:
        for line in file:
            if dense:
                cells = line.strip().split(",")
                rows.append((cells[-1], [(i + 1, float(v)) for i, v in enumerate(cells[:-1]) if float(v) != 0]))
            else:
                label, *pairs = line.split()
                rows.append((label, [(int(p.split(":")[0]), 1.0) for p in pairs]))
    return rows


def write_svmlight(rows, path):
    with open(path, "w") as out:
        for label, pairs in rows:
            out.write(label + "".join(f" {i}:{v:g}" for i, v in pairs) + "\n")


def write_vw(rows, path):
    numbers = {}
    with open(path, "w") as out:
        for label, pairs in rows:
            number = numbers.setdefault(label, len(numbers) + 1)
            out.write(f"{number} |" + "".join(f" {i}:{v:g}" for i, v in pairs) + "\n")
    return len(numbers)


def ours_learning(program, path, folder, hypotheses, repeats, extra=()):
    report = os.path.join(folder, "report.json")

    def once():
        subprocess.run([program, "fit", "sharing", path, "--load", "--quiet", "--hypotheses", hypotheses, "--report",
                        report, *extra], check=True)
        with open(report) as file:
            return json.load(file)["learning_seconds"]

    return best(once, repeats)


def sklearn_learning(rows, dense, repeats):
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import Perceptron

    columns = max(i for _, pairs in rows for i, _ in pairs)
    starts, indices, values = [0], [], []
    for _, pairs in rows:
        indices += [i - 1 for i, _ in pairs]
        values += [v for _, v in pairs]
        starts.append(len(indices))
    x = csr_matrix((values, indices, starts), shape=(len(rows), columns))
    y = np.array([label for label, _ in rows])
    classes = np.unique(y)
    if dense:
        x = np.ascontiguousarray(x.toarray())

    def whole():
        model = Perceptron()
        begin = time.process_time()
        model.partial_fit(x, y, classes=classes)
        return time.process_time() - begin

    def one_by_one():
        model = Perceptron()
        count = min(200 if dense else 20, len(rows))
        begin = time.process_time()
        for i in range(count):
            model.partial_fit(x[i:i + 1], y[i:i + 1], classes=classes if i == 0 else None)
        return (time.process_time() - begin) / count * len(rows)

    return best(whole, repeats), one_by_one()


def beyond_start(command_of, path, first_line, repeats):
    """CPU seconds of command_of(path) minus those of the same command on the first line alone."""
    return (best(lambda: cpu_of(command_of(path)), repeats) - best(lambda: cpu_of(command_of(first_line)), repeats))


def vw_seconds(path, first_line, classes, repeats):
    code = ("import sys, vowpalwabbit\n"
            "vowpalwabbit.Workspace(sys.argv[1]).finish()\n")
    options = f"--oaa {classes} --sgd --noconstant --quiet -b 20"
    return beyond_start(lambda file: [sys.executable, "-c", code, f"{options} -d {file}"], path, first_line, repeats)


def compare(args, name, rows, dense, folder):
    text, vw_text, one, vw_one = (os.path.join(folder, f) for f in ("rows.svm", "rows.vw", "one.svm", "one.vw"))
    write_svmlight(rows, text)
    write_svmlight(rows[:1], one)
    classes = write_vw(rows, vw_text)
    write_vw(rows[:1], vw_one)
    count = len(rows)
    extra = () if dense else ("--binary",)
    learning = {h: ours_learning(args.sharelearn, text, folder, h, args.repeats, extra) for h in ("multi", "single", "hybrid")}
    print(f"\n{name}: {count} examples, {classes} classes")
    for h, seconds in learning.items():
        print(f"  sharelearn {h:7} learning only      {seconds:8.4f} s  {count / seconds:12.0f} examples/s  "
              f"{seconds / learning['multi']:5.2f} x multi")
    whole, single = sklearn_learning(rows, dense, args.repeats)
    print(f"  scikit-learn partial_fit, one call  {whole:8.4f} s  {count / whole:12.0f} examples/s  "
          f"ratio {whole / learning['multi']:.1f}")
    print(f"  scikit-learn, a row at a time       {single:8.4f} s  {count / single:12.0f} examples/s  "
          f"ratio {single / learning['multi']:.0f}")
    stream = beyond_start(
        lambda file: [args.sharelearn, "fit", "sharing", file, "--quiet", "--hypotheses", "multi", *extra], text, one,
        args.repeats)
    print(f"  sharelearn multi, with reading      {stream:8.4f} s  {count / stream:12.0f} examples/s")
    try:
        vw = vw_seconds(vw_text, vw_one, classes, args.repeats)
        print(f"  Vowpal Wabbit --oaa, with reading   {vw:8.4f} s  {count / vw:12.0f} examples/s  ratio {vw / stream:.1f}")
    except (subprocess.CalledProcessError, ImportError):
        print("  Vowpal Wabbit: not installed")


def memory(args, folder):
    import numpy as np

    rng = np.random.default_rng(1)
    examples, words, classes = args.examples, 500000, 100
    path = os.path.join(folder, "stream.svm")
    with open(path, "w") as out:
        for begin in range(0, examples, 10000):
            label = rng.integers(classes, size=10000)
            # Zipf-like words, shifted by class so that there is something to learn, and some uniform words.
            common = (rng.zipf(1.3, size=(10000, 20)) + label[:, None] * 37) % words + 1
            rare = rng.integers(1, words + 1, size=(10000, 5))
            for y, row in zip(label, np.concatenate([common, rare], axis=1)):
                out.write(f"{y} " + " ".join(f"{i}:1" for i in np.unique(row)) + "\n")
    for h in ("multi", "single", "hybrid"):
        report = os.path.join(folder, "report.json")
        seconds = cpu_of([args.sharelearn, "fit", "sharing", path, "--hypotheses", h, "--report", report, "--quiet"])
        with open(report) as file:
            r = json.load(file)
        print(f"{h:7} {r['examples']} examples, {r['data']['d']} words, {r['data']['k']} classes: "
              f"{r['peak_bytes'] / 1e6:.0f} MB, {seconds:.1f} CPU s, {100 * r['mistake_rate']:.1f} % mistakes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sharelearn", required=True)
    parser.add_argument("--data")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--examples", type=int, default=1000000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.memory:
            memory(args, folder)
            return
        import random
        letter = load(os.path.join(args.data, "letter/letter.csv.gz"), True)
        enron = load(os.path.join(args.data, "enron_aeslc/docs.svm.gz"), False)
        random.Random(1).shuffle(enron)
        compare(args, "Letter (dense)", letter, True, folder)
        compare(args, "Enron by owner (sparse words)", enron, False, folder)


if __name__ == "__main__":
    main()
