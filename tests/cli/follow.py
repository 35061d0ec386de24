#!/usr/bin/env python3
"""Checks that `predict --follow` answers each row before the next one is sent, for every kind of model, and soon.

    follow.py SHARELEARN [ROWS]

Prints the median and the 99th percentile of the delay of each kind. On a busy machine single delays say little, so the
test asks only that one row in ten is answered within a millisecond.
"""
import pathlib
import random
import subprocess
import sys
import tempfile
import time

LIMIT = 1e-3


def data(rows, columns, seed):
    """Lines 'label value ...': the label is the column with the largest value among the first three."""
    draw = random.Random(seed)
    for _ in range(rows):
        values = [round(draw.random(), 3) for _ in range(columns)]
        yield "abc"[max(range(3), key=lambda j: values[j])], values


def csv_line(label, values):
    return ",".join(map(str, values)) + f",{label}\n"


def svm_line(label, values):
    return label + "".join(f" {j + 1}:{v}" for j, v in enumerate(values)) + "\n"


def delays(program, model, lines):
    """Seconds from a row to its answer, one row at a time."""
    found = []
    with subprocess.Popen([program, "predict", model, "-", "--follow"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        for line in lines:
            begun = time.perf_counter()
            process.stdin.write(line.encode())
            process.stdin.flush()
            answer = process.stdout.readline().decode().strip()
            found.append(time.perf_counter() - begun)
            assert answer in ("a", "b", "c"), f"{model}: {line!r} was answered by {answer!r}"
        process.stdin.close()
        assert process.stdout.read() == b"", f"{model}: more answers than rows"
    assert process.returncode == 0, f"{model}: exit code {process.returncode}"
    return sorted(found[5:])


def main():
    program, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    ridge = ["--ridge", "0.01"]
    kinds = {
        "columns": ("csv", ["shareboost", "--features", "5", *ridge]),
        "stumps": ("csv", ["shareboost", "--pool", "stumps", "--features", "20", *ridge]),
        "kernel": ("csv", ["shareboost", "--pool", "kernel", "--features", "10", *ridge]),
        "patches": ("csv", ["shareboost", "--pool", "patches", "--features", "10", *ridge]),
        "sparse": ("svm", ["gradboost", "--lambda", "0.01"]),
        "jointboost": ("csv", ["jointboost", "--rounds", "10"]),
        "cascade": ("csv", ["cascade", "--phi", "0.01", "--levels", "2"]),
        "online cascade": ("svm", ["cascade", "--online", "--phi", "0.01", "--levels", "2"]),
        "sharing": ("svm", ["sharing"]),
        "sharing, kernel": ("svm", ["sharing", "--kernel", "gaussian"]),
        "tfidf": ("svm", ["shareboost", "--transform", "tfidf", "--features", "5", *ridge]),
    }
    late = []
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        line_of = {"csv": csv_line, "svm": svm_line}
        for form, line in line_of.items():
            (here / f"train.{form}").write_text("".join(line(*row) for row in data(300, 64, 1)))
        for name, (form, options) in kinds.items():
            model = str(here / "model")
            subprocess.run([program, "fit", options[0], here / f"train.{form}", *options[1:], "--quiet", "-o", model],
                           check=True)
            found = delays(program, model, [line_of[form](*row) for row in data(rows, 64, 2)])
            middle, high = found[len(found) // 2], found[len(found) * 99 // 100]
            print(f"{name:15} median {1e3 * middle:7.3f} ms, 99% {1e3 * high:7.3f} ms")
            if found[len(found) // 10] > LIMIT:
                late.append(name)
    if late:
        sys.exit(f"answered late: {', '.join(late)}")


if __name__ == "__main__":
    main()
