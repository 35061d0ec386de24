#!/usr/bin/env python3
"""Online learning, ours and the peers in one run: CPU seconds and ratios.

    sharing.py --sharelearn PROGRAM --data DIR            speed on Letter (dense) and Enron (sparse words)
    sharing.py --sharelearn PROGRAM --memory              1,000,000 sparse examples, 500,000 words
    sharing.py --sharelearn PROGRAM --data DIR --streams  mistakes and speed on Reuters, Enron by owner, Letter, Isolet

A mistake of --streams is a wrong prediction before the example is learned, the first one of a class included; values are
as in the files for everyone, and everyone has a constant feature. --others adds scikit-learn's and river's learners, one
example at a time without reading, on the first 500 only (that takes long); the second figure is everyone's for these.

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

from results import record, version

PAGES = [{
    "name": "online", "order": 5, "title": "Online learning: speed",
    "text": "One pass. scikit-learn's Perceptron gets all rows in one call, its fastest way, and is timed without reading, like sharelearn on the same line; Vowpal "
            "Wabbit and sharelearn read text and learn, minus a run on one line.",
    "full": ["--sharelearn", "{program}", "--data", "{data}"],
    "quick": ["--sharelearn", "{program}", "--data", "{data}", "--repeats", "1", "--sets", "letter"],
    "claims": [["learning is at least 10 times as fast as scikit-learn's Perceptron", ", learning$", "", 10],
               ["reading and learning is at least twice as fast as Vowpal Wabbit", ", reading", "", 2]],
}]


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


STREAMS = {"default": (), "multi": ("--hypotheses", "multi"),
           "perceptron": ("--update", "perceptron", "--bias")}
PEERS = {"Vowpal Wabbit --oaa": "", "Vowpal Wabbit --oaa, hinge": "--loss_function hinge",
         "Vowpal Wabbit --oaa, logistic": "--loss_function logistic"}
PREFIX = 500


def percent(wrong):
    return 100 * sum(wrong) / len(wrong)


def show(name, wrong, speed=None, ratio=None, whole=True):
    """`whole`: of all examples, not of the first ones only."""
    print(f"  {name:38} " + (f"{percent(wrong):6.2f} %" if whole else " " * 8) + f"  {percent(wrong[:PREFIX]):6.2f} %"
          + (f"  {speed:9.0f} examples/s" if speed else "") + (f"  {ratio:5.2f} x ours" if ratio else ""), flush=True)


def our_mistakes(program, path, labels, extra):
    out = subprocess.run([program, "fit", "sharing", path, "--follow", "--quiet", *extra], check=True,
                         stdout=subprocess.PIPE, text=True).stdout.split("\n")[:-1]
    return [guess.split()[0] != label for guess, label in zip(out, labels)]


def vw_run(options, path, predictions=None):
    code = "import sys, vowpalwabbit\nvowpalwabbit.Workspace(sys.argv[1]).finish()\n"
    more = f" -p {predictions}" if predictions else ""
    return [sys.executable, "-c", code, f"{options} --quiet -b 20 -d {path}{more}"]


def run_python(name, rows, predict, learn):
    """Mistakes and speed of a learner in Python, one example at a time, on the first rows."""
    wrong, begin = [], time.process_time()
    for label, x in rows:
        wrong.append(not wrong or predict(x) != label)
        learn(x, label)
    show(name, wrong, len(rows) / (time.process_time() - begin), whole=False)


def sklearn_mistakes(rows):
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import Perceptron, SGDClassifier

    columns = max(i for _, pairs in rows for i, _ in pairs)
    classes = np.unique([label for label, _ in rows])
    part = [(label, csr_matrix(([v for _, v in pairs], ([0] * len(pairs), [i - 1 for i, _ in pairs])), shape=(1, columns)))
            for label, pairs in rows[:PREFIX]]
    for name, model in (("SGDClassifier", SGDClassifier()), ("Perceptron", Perceptron()),
                        ("passive-aggressive (SGD)", SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0))):
        run_python("scikit-learn " + name, part, lambda x: model.predict(x)[0],
                   lambda x, label: model.partial_fit(x, [label], classes=classes))


def river_mistakes(rows):
    from river import linear_model, multiclass, naive_bayes, preprocessing

    part = [(label, {i: v for i, v in pairs}) for label, pairs in rows[:PREFIX]]
    one_vs_rest = multiclass.OneVsRestClassifier
    counts = all(v >= 0 for _, x in part for v in x.values())
    for name, model in (("softmax", linear_model.SoftmaxRegression()),
                        ("softmax, columns scaled", preprocessing.StandardScaler() | linear_model.SoftmaxRegression()),
                        ("perceptron", one_vs_rest(linear_model.Perceptron())),
                        ("passive-aggressive", one_vs_rest(linear_model.PAClassifier())),
                        ("naive Bayes", naive_bayes.MultinomialNB())):
        if name == "naive Bayes" and not counts:
            continue
        run_python("river " + name, part, model.predict_one, model.learn_one)


def stream(args, name, rows, folder):
    text, vw_text, one, vw_one, guesses = (
        os.path.join(folder, f) for f in ("rows.svm", "rows.vw", "one.svm", "one.vw", "guesses"))
    write_svmlight(rows, text)
    write_svmlight(rows[:1], one)
    classes = write_vw(rows, vw_text)
    write_vw(rows[:1], vw_one)
    labels = [label for label, _ in rows]
    print(f"\n{name}: {len(rows)} examples, {classes} classes; mistakes of all, of the first {PREFIX}", flush=True)
    ours = None
    for title, extra in STREAMS.items():
        command = lambda file: [args.sharelearn, "fit", "sharing", file, "--quiet", *extra]
        speed = len(rows) / beyond_start(command, text, one, args.repeats)
        ours = ours or speed
        show("sharelearn " + title, our_mistakes(args.sharelearn, text, labels, extra), speed, speed / ours)
    for title, options in PEERS.items():
        options = f"--oaa {classes} {options}"
        subprocess.run(vw_run(options, vw_text, guesses), check=True, stderr=subprocess.DEVNULL)
        numbers = {}
        truth = [numbers.setdefault(label, len(numbers) + 1) for label in labels]
        with open(guesses) as file:
            wrong = [int(float(line.split()[0])) != y for line, y in zip(file, truth)]
        speed = len(rows) / beyond_start(lambda file: vw_run(options, file), vw_text, vw_one, args.repeats)
        show(title, wrong, speed, speed / ours)
    if args.others:
        sklearn_mistakes(rows)
        river_mistakes(rows)


def single(path):
    """Rows of documents with one label, with their counts."""
    rows = []
    with gzip.open(path, "rt") as file:
        for line in file:
            label, *pairs = line.split()
            if "," not in label and ":" not in label:
                rows.append((label, [(int(p.split(":")[0]), float(p.split(":")[1])) for p in pairs]))
    return rows


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
    record(f"{name}, learning", "sharelearn, multi", {"CPU s": learning["multi"], "examples/s": count / learning["multi"]})
    record(f"{name}, learning", version("scikit-learn"), {"CPU s": whole, "examples/s": count / whole}, whole / learning["multi"])
    print(f"  scikit-learn partial_fit, one call  {whole:8.4f} s  {count / whole:12.0f} examples/s  "
          f"ratio {whole / learning['multi']:.1f}")
    print(f"  scikit-learn, a row at a time       {single:8.4f} s  {count / single:12.0f} examples/s  "
          f"ratio {single / learning['multi']:.0f}")
    stream = beyond_start(
        lambda file: [args.sharelearn, "fit", "sharing", file, "--quiet", "--hypotheses", "multi", *extra], text, one,
        args.repeats)
    print(f"  sharelearn multi, with reading      {stream:8.4f} s  {count / stream:12.0f} examples/s")
    try:
        record(f"{name}, reading and learning", "sharelearn, multi", {"CPU s": stream, "examples/s": count / stream})
        vw = vw_seconds(vw_text, vw_one, classes, args.repeats)
        record(f"{name}, reading and learning", version("Vowpal Wabbit", "vowpalwabbit"), {"CPU s": vw, "examples/s": count / vw}, vw / stream)
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
    parser.add_argument("--streams", action="store_true")
    parser.add_argument("--others", action="store_true", help="with --streams: scikit-learn's and river's learners, too")
    parser.add_argument("--examples", type=int, default=1000000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sets", default="letter,enron", help="of the speeds")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.memory:
            memory(args, folder)
            return
        import random
        if args.streams:
            isolet = load(os.path.join(args.data, "isolet/train.csv.gz"), True)
            random.Random(1).shuffle(isolet)
            stream(args, "Reuters, one topic, by time", single(os.path.join(args.data, "reuters21578/docs.svm.gz")), folder)
            stream(args, "Enron by owner", single(os.path.join(args.data, "enron_aeslc/docs.svm.gz")), folder)
            stream(args, "Letter", load(os.path.join(args.data, "letter/letter.csv.gz"), True), folder)
            stream(args, "Isolet, shuffled", isolet, folder)
            return
        letter = load(os.path.join(args.data, "letter/letter.csv.gz"), True)
        compare(args, "Letter (dense)", letter, True, folder)
        if "enron" not in args.sets.split(","):
            return
        enron = load(os.path.join(args.data, "enron_aeslc/docs.svm.gz"), False)
        random.Random(1).shuffle(enron)
        compare(args, "Enron by owner (sparse words)", enron, False, folder)


if __name__ == "__main__":
    main()
