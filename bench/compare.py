#!/usr/bin/env python3
"""Two builds of sharelearn in one run: CPU time and peak memory of typical fits, interleaved.

    bench/compare.py OLD NEW --data DIR [--cases letter-products,pixels] [--repeats 5] [--markdown]

Each case runs OLD, NEW, OLD, NEW, ... with one thread. Columns: median CPU seconds (user and system, reading the data included) of both;
the ratio NEW / OLD of the medians; the smallest and the largest ratio of neighbouring runs, which show how far the machine can be trusted;
the median peak memory of both. shareboost runs with --ridge 0, since a build that chooses the ridge itself does more work.
"""
import argparse
import gzip
import os
import statistics
import subprocess
import sys
import tempfile

SHAREBOOST = ["fit", "shareboost", "--ridge", "0", "--features"]
GROUPED = ["fit", "gradboost", "--penalty", "l1l2", "--path", "50", "--scale", "standard"]
PHI = ["--phi", "0.02,0.02,0.02"]
# name: arguments; {name} is a file that DATA makes or names
CASES = {
    "letter-products": [*SHAREBOOST, "30", "{letter152}"],
    "pixels": [*SHAREBOOST, "30", "{mnist}"],
    "stumps": [*SHAREBOOST, "30", "{letter}", "--pool", "stumps"],
    "isolet-products": [*SHAREBOOST, "10", "{isolet}", "--pool", "products"],
    "patches": [*SHAREBOOST, "20", "{mnist}", "--pool", "patches"],
    "pieces": [*SHAREBOOST, "20", "{letter}", "--pool", "pieces"],
    "landsat-path": [*GROUPED, "{landsat702}"],
    "mnist10k-path": [*GROUPED, "{mnist10k}"],
    "cascade": ["fit", "cascade", "{letter}", "--levels", "3", *PHI],
    "cascade-chosen": ["fit", "cascade", "{landsat}", "--levels", "2", "--folds", "3"],
    "online-cascade": ["fit", "cascade", "{letter}", "--online", "--levels", "3", *PHI],
    "sharing": ["fit", "sharing", "{letter}"],
}


def with_products(line):
    *values, label = line.rstrip("\n").split(",")
    x = [int(value) for value in values]
    pairs = [str(x[i] * x[j]) for i in range(len(x)) for j in range(i, len(x))]
    return ",".join([*values, *pairs, label]) + "\n"


def copy_lines(source, target, rows=None, change=lambda line: line):
    """Line by line: the memory of this process would count as that of the programs it starts."""
    with gzip.open(source, "rt") as file, open(target, "w") as out:
        for number, line in enumerate(file):
            if rows is None or number < rows:
                out.write(change(line))


def first_images(data, folder, rows):
    for kind, header, size in (("images-idx3", 16, 784), ("labels-idx1", 8, 1)):
        with gzip.open(f"{data}/mnist/train-{kind}-ubyte.gz") as file, open(f"{folder}/mnist10k-{kind}-ubyte", "wb") as out:
            head = bytearray(file.read(header))
            head[4:8] = rows.to_bytes(4, "big")
            out.write(head + file.read(rows * size))
    return f"{folder}/mnist10k-images-idx3-ubyte"


def make(name, data, folder):
    if name == "mnist":
        return f"{data}/mnist/train-images-idx3-ubyte.gz"
    if name == "mnist10k":
        return first_images(data, folder, 10000)
    if name == "isolet":
        return f"{data}/isolet/train.csv.gz"
    target = f"{folder}/{name}.csv"
    change = with_products if name[-1].isdigit() else lambda line: line
    if name.startswith("letter"):
        copy_lines(f"{data}/letter/letter.csv.gz", target, 16000, change)
    else:
        copy_lines(f"{data}/satimage/train.csv.gz", target, None, change)
    return target


def run(program, arguments):
    process = subprocess.Popen([program, *arguments, "--threads", "1", "--quiet"])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{program} {' '.join(arguments)}: exit {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(programs, arguments, repeats):
    runs = [[], []]
    for _ in range(repeats):
        for program, done in zip(programs, runs):
            done.append(run(program, arguments))
    seconds = [statistics.median(s for s, _ in done) for done in runs]
    memory = [statistics.median(m for _, m in done) for done in runs]
    ratios = [new / old for (old, _), (new, _) in zip(*runs)]
    return seconds, seconds[1] / seconds[0], (min(ratios), max(ratios)), memory


def print_row(case, result, markdown):
    (old, new), ratio, (least, most), (old_memory, new_memory) = result
    cells = [f"{old:.2f}", f"{new:.2f}", f"{ratio:.2f}", f"{least:.2f}-{most:.2f}", f"{old_memory:.0f}", f"{new_memory:.0f}"]
    print("| " + " | ".join([case, *cells]) + " |" if markdown else f"{case:16}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--data", required=True, help="folder of the data sets")
    parser.add_argument("--cases", default=",".join(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--markdown", action="store_true", help="rows of a Markdown table")
    options = parser.parse_args()
    cases = options.cases.split(",")
    if unknown := [case for case in cases if case not in CASES]:
        sys.exit(f"unknown case: {', '.join(unknown)}; there are {', '.join(CASES)}")
    header = ["case", "old s", "new s", "ratio", "of pairs", "old MB", "new MB"]
    if options.markdown:
        print("| " + " | ".join(header) + " |\n|---" + "|---:" * 6 + "|")
    else:
        print(f"{header[0]:16}" + "".join(f"{name:>12}" for name in header[1:]))
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            data = next(part for part in CASES[case] if part.startswith("{"))
            path = make(data[1:-1], options.data, folder)
            arguments = [path if part == data else part for part in CASES[case]]
            print_row(case, compare([options.old, options.new], arguments, options.repeats), options.markdown)


if __name__ == "__main__":
    main()
