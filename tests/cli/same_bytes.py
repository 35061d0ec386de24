#!/usr/bin/env python3
"""Fits small models of every method and pool with 1, 2, 3 and, in turn, 7 or 16 threads, with AVX2 and AVX-512, and from the binary file
that `cache` makes of the data: the models must be the same bytes.

    same_bytes.py SHARELEARN

Instruction sets that the processor lacks are left out, with a message.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
from array import array

POOLS = {
    "columns": "dense.csv",
    "stumps": "dense.csv",
    "stumps --bins 32": "dense.csv",
    "products": "dense.csv",
    "kernel --support 40": "dense.csv",
    "kernel --support 40 --support-by kmeans": "dense.csv",
    "pieces --centres 12": "dense.csv",
    "pieces --centres 12 --pca 3": "dense.csv",
    "patches --templates 5:16": "images.csv",
}


def cases():
    for pool, data in POOLS.items():
        yield f"shareboost {data} --features 6 --ridge 0 --pool {pool}"
        yield f"gradboost {data} --path 4 --path-min 0.2 --pool {pool}"
    yield "gradboost dense.csv --lambda 0.02 --pool products --degree 0 --rounds 3"
    yield "shareboost dense.csv --features 5"  # chooses its ridge
    yield "shareboost images.csv --features 3 --pool patches --templates 5:16 --deform 1"
    for rule in ("gradient-l2", "line", "column", "exact"):
        yield f"shareboost dense.csv --features 5 --ridge 0 --rule {rule}"
    yield "shareboost dense.csv --features 5 --ridge 0.01 --scale standard --per-round 2"
    yield "shareboost dense.csv --features 5 --smooth-l1 0.01"
    yield "shareboost dense.csv --features 5 --smooth-l1linf 0.01"
    yield "shareboost sparse.svm --features 8 --ridge 0 --surplus 0.5"
    for method in ("gradboost", "adaboost"):
        for penalty in ("l1", "l1linf"):
            yield f"{method} dense.csv --path 4 --path-min 0.2 --penalty {penalty}"
            yield f"{method} sparse.svm --path 4 --path-min 0.2 --penalty {penalty}"
    yield "gradboost dense.csv --path 4 --path-min 0.2 --penalty l1l2 --solver paper"
    yield "gradboost dense.csv --lambda 0.01 --penalty l2sq"
    yield "gradboost tasks.svm --path 4 --path-min 0.2 --loss multitask"
    yield "gradboost two.csv --path 4 --path-min 0.2 --loss binary"
    yield "gradboost numbers.csv --path 4 --path-min 0.2 --loss regression"
    yield "adaboost tasks.svm --path 4 --path-min 0.2 --loss multitask-exp --penalty l1"
    yield "adaboost two.csv --loss binary-exp --penalty none --sequential --rounds 10"
    for loss in ("multiclass-hinge", "multiclass-logistic", "multitask-hinge", "multitask-logistic"):
        yield f"cascade dense.csv --levels 3 --loss {loss}"
        yield f"cascade sparse.svm --levels 3 --loss {loss} --online --phi 0.01,0.01,0.01"
    yield "cascade tasks.svm --levels 3 --loss multitask-logistic"
    for hypotheses in ("multi", "single", "hybrid"):
        yield f"sharing sparse.svm --hypotheses {hypotheses}"
        yield f"sharing sparse.svm --hypotheses {hypotheses} --kernel gaussian"
    yield "onevsrest dense.csv --features 4"
    yield "onevsrest dense.csv --features 4 --pool stumps"
    yield "jointboost dense.csv --rounds 6"
    yield "treelasso tasks.svm --lambda 0.01"


def values_of(generator, row, classes, columns):
    """Every class has columns of its own, with noise, so that there is something to learn but the classes are not separable."""
    return [generator.gauss(1.0 if j % classes == row % classes else 0.0, 1.0) for j in range(columns)]


def write_csv(path, rows, columns, classes, label=None):
    generator = random.Random(len(path.name))
    with open(path, "w") as file:
        for row in range(rows):
            values = values_of(generator, row, classes, columns)
            last = row % classes if label is None else label(values)
            file.write(",".join(f"{v:.4f}" for v in values) + f",{last}\n")


def write_svmlight(path, rows, columns, classes, tasks=0):
    generator = random.Random(7)
    with open(path, "w") as file:
        for row in range(rows):
            values = values_of(generator, row, classes, columns)
            head = f"{1 if values[row % tasks] > 0.3 else -1} qid:{row % tasks + 1}" if tasks else str(row % classes)
            entries = " ".join(f"{j + 1}:{v:.4f}" for j, v in enumerate(values) if abs(v) > 0.8)
            file.write(f"{head} {entries}\n")


def write_images(path, rows, side, classes):
    """A bright bar whose place is the class, in noise."""
    generator = random.Random(3)
    with open(path, "w") as file:
        for row in range(rows):
            bar = 2 + row % classes * 3
            pixels = [generator.randrange(60) + (180 if (p // side) in (bar, bar + 1) else 0) for p in range(side * side)]
            file.write(",".join(map(str, pixels)) + f",{row % classes}\n")


def write_data(folder):
    write_csv(folder / "dense.csv", 3001, 9, 4)
    write_csv(folder / "two.csv", 1203, 7, 2)
    write_csv(folder / "numbers.csv", 1203, 7, 1, lambda values: f"{sum(values[:3]):.4f}")
    write_svmlight(folder / "sparse.svm", 1307, 30, 5)
    write_svmlight(folder / "tasks.svm", 1307, 12, 3, tasks=4)
    write_images(folder / "images.csv", 150, 16, 4)


def write_npy(path, csv):
    """The numbers of a CSV file, its label in the last column, as an array of float32."""
    rows = [[float(field) for field in line.split(",")] for line in csv.read_text().splitlines()]
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d)}" % (len(rows), len(rows[0]))
    header += " " * (117 - len(header)) + "\n"
    values = array("f", [value for row in rows for value in row]).tobytes()
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values)


def write_caches(program, folder):
    """NAME.EXT.shd of every file; once from a pipe."""
    write_npy(folder / "dense.npy", folder / "dense.csv")
    for path in sorted(folder.glob("*.*")):
        command = [program, "cache", path.name, "-o", path.name + ".shd", "--quiet"]
        subprocess.run(command, cwd=folder, check=True, timeout=250)
    with open(folder / "dense.csv") as text:
        command = [program, "cache", "-", "-o", "piped.shd", "--quiet"]
        subprocess.run(command, cwd=folder, stdin=text, check=True, timeout=250)
    assert (folder / "piped.shd").read_bytes() == (folder / "dense.csv.shd").read_bytes()


def from_cache(case):
    """The same fit from the binary file of its data; that of a table once made from an array."""
    method, data, *options = case.split()
    data = "dense.npy" if data == "dense.csv" and method != "cascade" else data
    return " ".join([method, data + ".shd", *options])


def run(program, folder, case, threads, instructions):
    environment = {**os.environ, "SHARELEARN_INSTRUCTIONS": instructions}
    command = [program, "fit", *case.split(), "--threads", str(threads), "--quiet", "-o", "model"]
    (folder / "model").unlink(missing_ok=True)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, (command, done.returncode, done.stderr)
    return (folder / "model").read_bytes()


def has_instructions(program, name):
    environment = {**os.environ, "SHARELEARN_INSTRUCTIONS": name}
    command = [program, "generate", "binary-code", "--rows", "4", "--classes", "2"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 or "this processor" in done.stderr, done.stderr
    return done.returncode == 0


def check_unknown_name(program):
    environment = {**os.environ, "SHARELEARN_INSTRUCTIONS": "sse9"}
    done = subprocess.run([program, "generate", "binary-code"], env=environment, capture_output=True, text=True)
    assert done.returncode == 2 and "'sse9'" in done.stderr, (done.returncode, done.stderr)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    check_unknown_name(program)
    variants = [(2, "best"), (3, "best")]
    for name in ("avx2", "avx512"):
        if has_instructions(program, name):
            variants.append((1, name))
        else:
            print(f"left out: this processor, or this build, does not have {name}")
    failed = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_data(folder)
        write_caches(program, folder)
        for number, case in enumerate(cases()):
            many = (16 if number % 2 else 7, "best")
            expected = run(program, folder, case, 1, "best")
            if run(program, folder, from_cache(case), 2, "best") != expected:
                failed.append((from_cache(case), 2, "best"))
            failed += [(case, *variant) for variant in [*variants, many] if run(program, folder, case, *variant) != expected]
    for case, threads, instructions in failed:
        print(f"not the same bytes: fit {case} with {threads} threads and {instructions} instructions")
    print(f"{len(list(cases()))} models, {len(variants) + 2} ways beside the first, {len(failed)} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
