#!/usr/bin/env python3
"""Loads every stored model of an older version and compares its predictions, digit by digit.

    fixtures.py SHARELEARN FOLDER

FOLDER holds index.json and the files that it names (see tests/fixtures/make.py).
"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile


def unpacked(folder, name, into):
    """The stored model `name` as a file in the folder `into`."""
    model = pathlib.Path(into) / f"{name}.model"
    model.write_bytes(gzip.decompress((folder / f"{name}.model.gz").read_bytes()))
    return model


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], text=True, capture_output=True, timeout=60)
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def check(program, folder, name, entry, into):
    model = unpacked(folder, name, into)
    for output in ("scores", "proba"):
        if output not in entry:
            continue
        found = run(program, "predict", model, folder / entry["data"], f"--{output}", *entry["reading"])
        for number, (now, then) in enumerate(zip(found.splitlines(), (folder / entry[output]).read_text().splitlines())):
            if now != then:
                raise AssertionError(f"{output}, line {number + 1}: {now}, but it was {then}")
        if found != (folder / entry[output]).read_text():
            raise AssertionError(f"{output}: another number of lines")


def each_model(check, what):
    """Calls check(program, folder, name, entry, into) for every stored model; `what` the good ones did completes the count."""
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    index = json.loads((folder / "index.json").read_text())
    failed = 0
    with tempfile.TemporaryDirectory() as into:
        for name, entry in index.items():
            try:
                check(program, folder, name, entry, into)
            except AssertionError as problem:
                failed += 1
                print(f"{name}: {problem}")
    print(f"{len(index) - failed} of {len(index)} {what}")
    return 1 if failed or not index else 0


if __name__ == "__main__":
    sys.exit(each_model(check, "stored models predict as they did"))
