#!/usr/bin/env python3
"""Recomputes the predictions of stored models from `describe --json` alone and compares them with the program's.

    recompute.py SHARELEARN FOLDER

FOLDER holds index.json and the models of tests/fixtures/make.py: every method, kind of model and pool.
"""
import json
import math
import sys

sys.dont_write_bytecode = True  # no __pycache__ in the source tree
import json_predictor
from fixtures import each_model, run, unpacked

DIGITS = 5.1e-9  # nine are printed


def table(text):
    lines = text.splitlines()
    return [[float(number) for number in line.split(",")] for line in lines[1:]]


def compare(what, expected, found, relative):
    if len(expected) != len(found):
        raise AssertionError(f"{what}: {len(found)} rows, expected {len(expected)}")
    for i, (row, own) in enumerate(zip(expected, found)):
        largest = max(1e-3, *(abs(number) for number in row))  # terms cancel, so errors are relative to the row's largest score
        for c, (a, b) in enumerate(zip(row, own, strict=True)):
            if not math.isclose(a, b, rel_tol=relative, abs_tol=relative * largest):
                raise AssertionError(f"{what}, row {i + 1}, output {c + 1}: recomputed {b!r}, the program says {a!r}")


def check(program, folder, name, entry, into):
    model_file, data = unpacked(folder, name, into), folder / entry["data"]
    choice = entry["reading"] if "--features" in entry["reading"] else []
    model = json.loads(run(program, "describe", model_file, "--json", *choice))
    levels = int(entry["reading"][-1]) if "--levels" in entry["reading"] else 0
    if levels == 0:
        check_answers(model, folder, entry)
    if model["kind"] != "sharing":
        check_stages(program, folder, model_file, entry, levels)


def check_answers(model, folder, entry):
    """Compares the scores and probabilities that are stored with those of a model as JSON."""
    found = json_predictor.scores(model, folder / entry["data"], "--early" in entry["reading"])
    compare("scores", table((folder / entry["scores"]).read_text()), found, DIGITS)
    if "proba" in entry:
        found = [json_predictor.probabilities(model, row) for row in found]
        compare("probabilities", table((folder / entry["proba"]).read_text()), found, 1e-8)


def check_stages(program, folder, model_file, entry, levels):
    """Checks the weights of every stage: the current stage gives the same scores, each level those of predict --levels."""
    model = json.loads(run(program, "describe", model_file, "--json", "--stages"))
    data = folder / entry["data"]
    reading = [a for a in entry["reading"] if a in ("--missing", "mean")]
    for stage in range(len(model["stages"])) if model["increments"] else [model["stage"]]:
        if levels and stage + 1 != levels:
            continue
        chosen = ["--levels", stage + 1] if model["increments"] else []
        expected = table(run(program, "predict", model_file, data, "--scores", *reading, *chosen))
        compare(f"stage {stage}", expected, json_predictor.linear_scores(model, data, stage), DIGITS)


if __name__ == "__main__":
    sys.exit(each_model(check, "models were recomputed from their JSON"))
