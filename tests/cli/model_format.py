#!/usr/bin/env python3
"""Reads stored models with a reader written from docs/model-format.md alone, predicts, and compares with the program's answers.

    model_format.py FOLDER         FOLDER holds index.json and the models of tests/fixtures/make.py; the program is not needed
    model_format.py SHARELEARN     models that this program makes now, one of every kind of content
"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # no __pycache__ in the source tree
import model_file
from json_predictor import xxh64
from recompute import check_answers

MAKE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "make.py"
FRESH = ("columns", "categories", "indicators", "tfidf", "calibrated", "early", "pieces-pca", "patches-deskew", "cascade-fourier",
         "online-cascade", "sharing-adaptive", "sharing-sets", "sharing-polynomial")
KNOWN_HASHES = {b"": 0xef46db3751d8e999, b"a": 0xd24ec4f1a98c6e5b, b"abc": 0x44bc2cf5ad770999}


def check(folder, name, entry):
    model = model_file.read(gzip.decompress((folder / f"{name}.model.gz").read_bytes()))
    reading = dict(zip(entry["reading"], entry["reading"][1:]))
    if "--features" in reading:
        model_file.use_features(model, int(reading["--features"]))
    if "--levels" in reading:
        model_file.use_stage(model, int(reading["--levels"]) - 1)
    check_answers(model, folder, entry)


def check_refused(data):
    """A file with one byte changed or missing is refused."""
    for damaged in (data[:-1], data[:40] + bytes([data[40] ^ 1]) + data[41:], b"X" + data[1:], b""):
        try:
            model_file.read(damaged)
        except model_file.Damaged:
            continue
        raise AssertionError("a damaged file was read")


def main():
    if pathlib.Path(sys.argv[1]).is_dir():
        return check_folder(pathlib.Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, MAKE, sys.argv[1], folder, *FRESH], check=True)
        return check_folder(pathlib.Path(folder))


def check_folder(folder):
    index = json.loads((folder / "index.json").read_text())
    failed = 0
    for data, expected in KNOWN_HASHES.items():
        assert xxh64(data) == expected, data
    check_refused(gzip.decompress((folder / f"{next(iter(index))}.model.gz").read_bytes()))
    for name, entry in index.items():
        try:
            check(folder, name, entry)
        except (AssertionError, model_file.Damaged) as problem:
            failed += 1
            print(f"{name}: {problem}")
    print(f"{len(index) - failed} of {len(index)} models were read and predict as the program did")
    return 1 if failed or not index else 0


if __name__ == "__main__":
    sys.exit(main())
