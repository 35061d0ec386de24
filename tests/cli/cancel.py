#!/usr/bin/env python3
"""Ctrl-C while a model is learned: the model learned so far is kept and reported; nothing is written if nothing was learned.

    cancel.py SHARELEARN
"""
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time


def write_data(path, rows=6000, columns=60, classes=12):
    generator = random.Random(1)
    with open(path, "w") as file:
        for row in range(rows):
            values = " ".join(f"{j + 1}:{generator.gauss(0, 1):.4f}" for j in range(columns))
            file.write(f"{row % classes} {values}\n")


def interrupted(program, folder, arguments, seconds):
    """The run's exit code and messages, with Ctrl-C after so many seconds."""
    command = [program, "fit", *arguments, "--threads", "1", "--quiet", "-o", "m.shl", "--report", "r.json"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    message = process.communicate(timeout=100)[1]
    return process.returncode, message


def check_partial(program, folder):
    for seconds in (1, 4, 16):  # the time of the first round depends on the machine
        code, message = interrupted(program, folder, ["jointboost", "data.svm", "--rounds", "100000"], seconds)
        if code == 0:
            break
        assert code == 1 and "before a feature was chosen" in message, (code, message)
        assert not (folder / "m.shl").exists() and not (folder / "r.json").exists()
    assert code == 0 and "cancelled" in message, (code, message)
    report = json.loads((folder / "r.json").read_text())
    assert report["stop"] == "cancelled" and report["features_used"] > 0, report
    evaluated = subprocess.run([program, "evaluate", "m.shl", "data.svm"], cwd=folder, capture_output=True)
    assert evaluated.returncode == 0, evaluated
    (folder / "m.shl").unlink()
    (folder / "r.json").unlink()


def check_unfinished(program, folder, arguments):
    code, message = interrupted(program, folder, [*arguments, "data.svm", "--folds", "50"], 2)
    assert code == 1 and "cancelled during cross-validation" in message, (code, message)
    assert not (folder / "m.shl").exists() and not (folder / "r.json").exists()


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_data(folder / "data.svm")
        check_partial(program, folder)
        check_unfinished(program, folder, ["shareboost", "--features", "60"])
        check_unfinished(program, folder, ["gradboost", "--path", "60"])
    print("ok")


if __name__ == "__main__":
    main()
