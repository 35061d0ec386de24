#!/usr/bin/env python3
"""A row's weight is its number of copies: fits of every method, pool and scaling on rows of weight 0 to 3 must be those on rows
that are repeated (0: left out), each copy behind the other. Where rows are split (folds, held-out rows), copies of a weighted
row stay together and those in a file do not: there the fit is compared with one on the same rows without those of weight 0.

    weights.py SHARELEARN

Compared are the models (describe --json --stages), the reports and what `evaluate` says. Numbers may differ by what the
order of sums and the solver's tolerance leave; m, the number of rows read, may differ too.
"""
import itertools
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

TOLERANCE = 1e-6
# What a run costs, how it went, how many rows were read.
LEFT_OUT = {"seconds", "learning_seconds", "peak_bytes", "m", "rows", "metadata", "iterations", "steps", "gap", "gradient_norm",
            "expected_decrease", "induction_rounds", "converged", "stop"}

POOLS = ["columns", "stumps", "stumps --bins 4", "products", "products --with-columns --no-squares",
         "kernel --support 25", "kernel --support 25 --support-by sample", "kernel --support 8 --support-by kmeans",
         "kernel --support 500 --support-by sample", "pieces --centres 5 --radii 4", "pieces --centres 5 --radii 4 --pca 2"]


def cases():
    """Of each case: method with options, and the data."""
    for pool in POOLS:
        yield f"shareboost --features 4 --ridge 0.01 --round-tolerance 0 --tolerance 1e-10 --pool {pool}", "dense"
        # Two pieces may hold all rows, and two points of a support set be the same row: then the optimum is not unique.
        if "pieces" not in pool and "500" not in pool:
            yield f"gradboost --path 4 --path-min 0.2 --tolerance 1e-12 --pool {pool}", "dense"
        yield f"onevsrest --features 2 --ridge 0.01 --tolerance 1e-10 --pool {pool}", "dense"
    # Images are ranked by rounded residuals; the leaders' scores are exact.
    yield "shareboost --features 3 --ridge 0.01 --round-tolerance 0 --tolerance 1e-10 --pool patches --templates 3:8,5:4", "images"
    yield "gradboost --lambda 0.02 --tolerance 1e-12 --pool products --degree 0 --rounds 3", "dense"
    yield "adaboost --lambda 0.02 --tolerance 1e-12 --loss multitask-exp --pool stumps --bins 6", "tasks"
    for rule in ("gradient-l2", "line", "column", "exact"):
        yield f"shareboost --features 4 --ridge 0.01 --round-tolerance 0 --tolerance 1e-10 --rule {rule}", "dense"
    for scale in ("none", "minmax", "standard"):
        yield f"shareboost --features 4 --ridge 0.01 --round-tolerance 0 --tolerance 1e-10 --scale {scale}", "dense"
        yield f"gradboost --path 4 --path-min 0.2 --tolerance 1e-12 --scale {scale}", "dense"
        yield f"cascade --phi 0.02,0.01 --tolerance 1e-12 --loss multiclass-logistic --scale {scale}", "dense"
        yield f"jointboost --rounds 4 --scale {scale}", "dense"
    more = "--features 4 --ridge 0.01 --round-tolerance 0 --tolerance 1e-10"
    for options in ("--class-weight balanced", "--per-round 2 --diverse", "--surplus 0.5", "--smooth-l1 0.01",
                    "--smooth-l1linf 0.01", "--no-bias", "--sample 0.5", "--validation 0.3", "--folds 4", "--holdout 0.3",
                    "--folds 3 --holdout 0.25 --choose one-standard-error", "--folds 3 --pool kernel --support 10"):
        yield f"shareboost {more} {options}", "dense"
    yield f"shareboost {more} --missing mean", "missing"
    yield f"shareboost {more} --folds 4", "twice"
    yield f"shareboost {more} --pool kernel --support 20 --support-by kmeans", "twice"
    for loss, data in (("multiclass", "dense"), ("multitask", "dense"), ("multitask", "tasks"), ("binary", "two"),
                       ("regression", "values")):
        for penalty in ("l1", "l1l2", "l1linf", "l2sq"):
            yield f"gradboost --path 3 --path-min 0.3 --tolerance 1e-12 --loss {loss} --penalty {penalty}", data
        yield f"gradboost --path 4 --path-min 0.2 --tolerance 1e-12 --loss {loss} --folds 3", data
        yield f"gradboost --path 4 --path-min 0.2 --tolerance 1e-12 --loss {loss} --holdout 0.3", data
        yield f"gradboost --lambda 0.05 --tolerance 1e-12 --loss {loss} --solver paper --rounds 5", data
    yield "gradboost --path 4 --path-min 0.2 --tolerance 1e-12 --class-weight balanced --folds 3", "dense"
    for loss, data in (("multitask-exp", "tasks"), ("binary-exp", "two")):
        for penalty in ("l1", "l1linf"):
            yield f"adaboost --lambda 0.05 --tolerance 1e-12 --loss {loss} --penalty {penalty}", data
    yield "onevsrest --features 3 --ridge 0.01 --tolerance 1e-10 --folds 3", "dense"
    yield "onevsrest --features 3 --ridge 0.01 --tolerance 1e-10 --class-weight balanced", "dense"
    yield "jointboost --rounds 5 --bins 4 --class-weight balanced --holdout 0.3", "dense"
    for loss, data in (("multiclass-hinge", "dense"), ("multiclass-logistic", "dense"), ("multitask-hinge", "tasks"),
                       ("multitask-logistic", "dense"), ("multitask-hinge", "own"), ("multitask-logistic", "own")):
        cascade = f"--loss {loss} --tolerance 1e-12"
        yield f"cascade {cascade} --phi 0.02,0.01", data
        yield f"cascade {cascade} --levels 2 --folds 3 --phi-scales 0.5,0.1", data
        yield f"cascade {cascade} --phi 0.02 --fourier 12 --sigma 2 --holdout 0.3", data
        yield f"treelasso {cascade} --lambda 0.02", data
    yield "cascade --loss multitask-logistic --tolerance 1e-12 --phi 0.02 --negatives 7", "dense"
    yield "cascade --loss multitask-logistic --tolerance 1e-12 --levels 1 --folds 3 --phi-scales 0.3 --negatives 7", "dense"
    yield "treelasso --tolerance 1e-12 --folds 3", "own"


def row_of(kind, label, draw):
    """Values and label of a row."""
    x = [draw.gauss(0, 1) + 0.8 * (label == j % 3) - 0.4 * j * (label == 1) for j in range(6)]
    if kind == "images":
        return [max(0, int(draw.gauss(60, 60) + 90 * ((j // 3 + label) % 4 == 0))) for j in range(64)], "abc"[label]
    if kind == "two":
        return x, min(label, 1)
    if kind == "values":
        return x, round(x[0] - 0.5 * x[2] + 0.3 * draw.gauss(0, 1), 3)
    if kind == "tasks":
        return x, '"' + ",".join(str(t) for t in range(3) if t == label or x[t] + draw.gauss(0, 0.5) > 0.8) + '"'
    if kind == "own":
        return x, f"{draw.randrange(3)},{1 if x[0] + 0.5 * label > draw.gauss(0, 0.5) else -1}"
    if kind == "missing":
        x = [v if draw.random() > 0.1 else "" for v in x]
    return x, "abc"[label]


def write(folder, kind, part, rows):
    """The same rows with weights, with weights above 0 only, and with copies."""
    draw = random.Random(f"{kind} {part}")
    columns = 64 if kind == "images" else 6
    header = ",".join(f"x{j}" for j in range(columns)) + (",t,y" if kind == "own" else ",y")
    weighted, positive, copied = ["w," + header], ["w," + header], [header]
    for i in range(rows):
        x, label = row_of(kind, i % 3, draw)
        # The first rows weigh something, so that no class is absent.
        weight = 2 if kind == "twice" else draw.randrange(4) if i > 8 else 1 + i % 3
        line = ",".join(f"{v:.4f}" if isinstance(v, float) else str(v) for v in x) + f",{label}"
        weighted.append(f"{weight},{line}")
        positive += [f"{weight},{line}"] if weight else []
        copied += [line] * weight
    for form, lines in (("weighted", weighted), ("positive", positive), ("copied", copied)):
        (folder / f"{kind}_{part}_{form}.csv").write_text("\n".join(lines) + "\n")


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], text=True, capture_output=True, timeout=60)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, arguments))}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def outcome(program, folder, options, kind, form):
    """What a fit on the data of this form gives: the model, the report, an evaluation."""
    method, *rest = options.split()
    reading = ["--threads", 1, *(["--weight-column", "w"] if form != "copied" else []),
               *(["--task-column", "t"] if kind == "own" else [])]
    model, report, judged = folder / "m.shl", folder / "r.json", folder / "e.json"
    test = folder / f"{kind}_test_{form}.csv"
    tests = [] if "--holdout" in rest else ["--test", test]
    run(program, "fit", method, folder / f"{kind}_train_{form}.csv", *tests, *reading, *rest, "--quiet", "-o", model, "--report",
        report)
    run(program, "evaluate", model, test, *reading, *(["--missing", "mean"] if kind == "missing" else []), "--report", judged)
    described = json.loads(run(program, "describe", model, "--json", "--stages"))
    if "multitask" not in options:
        # A constant added to the scores of all classes changes nothing, and no penalty decides it.
        for part in (described, *described.get("stages", [])):
            part["bias"] = [b - sum(part["bias"]) / len(part["bias"]) for b in part["bias"]]
    return {"model": described, "report": json.loads(report.read_text()), "evaluation": json.loads(judged.read_text())}


def differences(a, b, where=""):
    """Where two JSON values differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted((a.keys() | b.keys()) - LEFT_OUT):
            if key in a and key in b:
                yield from differences(a[key], b[key], f"{where}.{key}")
            else:
                yield f"{where}.{key} is in one alone"
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for n, (of_a, of_b) in enumerate(zip(a, b)):
            yield from differences(of_a, of_b, f"{where}[{n}]")
    elif isinstance(a, float) or isinstance(b, float):
        if a is None or b is None or not math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{where}: {a} with weights, else {b}"
    elif a != b:
        yield f"{where}: {a} with weights, else {b}"


def main():
    program = sys.argv[1]
    count = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind, part in itertools.product(sorted({kind for _, kind in cases()}), ("train", "test")):
            write(folder, kind, part, 60 if part == "train" else 20)
        for options, kind in cases():
            count += 1
            try:
                splits = any(option in options for option in ("--folds", "--holdout", "--validation"))
                forms = ("weighted", "positive" if splits else "copied")
                found = list(differences(*(outcome(program, folder, options, kind, form) for form in forms)))
            except AssertionError as problem:
                found = [str(problem)]
            if found:
                failed += 1
                print(f"{options}, {kind}: " + "; ".join(found[:4]) + (f" and {len(found) - 4} more" if len(found) > 4 else ""))
    print(f"{count - failed} of {count} fits are the same with weights and with copies")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
