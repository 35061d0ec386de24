#!/usr/bin/env python3
"""What a user at a terminal sees while a model is learned: how far it is, and, after some seconds, about how long it takes.

    progress.py SHARELEARN
"""
import os
import pathlib
import pty
import random
import re
import select
import subprocess
import sys
import tempfile
import time

MOST_SECONDS = 100


def shown(program, folder, arguments, wanted):
    """What a run writes to a terminal, until the text that is wanted or the end of the run."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([program, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text, end = "", time.monotonic() + MOST_SECONDS
    while not re.search(wanted, text) and time.monotonic() < end:
        if not select.select([ours], [], [], 0.2)[0]:
            continue
        try:
            text += os.read(ours, 65536).decode()
        except OSError:  # the other end is closed
            break
    process.terminate()
    process.wait()
    os.close(ours)
    return text


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    left = r"about \d+(\.\d)? (s|min|h) left"
    runs = {
        "features": ["fit", "shareboost", "data.svm", "--features", "500", "--pool", "products", "--rule", "line", "--ridge", "1e-4"],
        "lambdas": ["fit", "gradboost", "data.svm", "--path", "5000", "--path-min", "1e-5"],
        "rounds": ["fit", "jointboost", "data.svm", "--rounds", "100000"],
    }
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        generator = random.Random(1)
        with open(folder / "data.svm", "w", encoding="utf-8") as file:
            for row in range(3000):
                file.write(f"{row % 12} " + " ".join(f"{j + 1}:{generator.gauss(0, 1):.4f}" for j in range(40)) + "\n")
        for what, arguments in runs.items():
            text = shown(program, folder, arguments, left)
            assert re.search(what + r" \[#*\.+\] \d+/\d+.*" + left, text), (what, text[-500:])
        quiet = shown(program, folder, [*runs["features"][:4], "3", "--quiet"], left)
        assert quiet == "", quiet
    print("ok")


if __name__ == "__main__":
    main()
