#!/usr/bin/env python3
"""Kills `sharelearn fit METHOD --checkpoint FILE` at random moments, runs the same command again until it ends, and
compares the model with that of a run without a checkpoint, byte by byte. Then other data, other options and damaged
checkpoints, which must be refused.

    resume.py SHARELEARN [--kills 3] [--seed 1] [CASE ...]
"""
import argparse
import pathlib
import random
import signal
import subprocess
import tempfile
import time

CASES = {
    "shareboost": ["--features", "25", "--test", "test.svm"],
    "shareboost folds": ["--features", "12", "--folds", "4", "--ridge", "1e-4"],
    "shareboost rough": ["--features", "40", "--round-tolerance", "0.1", "--ridge", "1e-4", "--pool", "products"],
    "shareboost surplus": ["--features", "15", "--surplus", "1", "--ridge", "1e-4"],
    "shareboost stop": ["--features", "30", "--validation", "0.2", "--patience", "5", "--ridge", "1e-4"],
    "shareboost pieces": ["--features", "12", "--pool", "pieces", "--round-tolerance", "0.1", "--ridge", "1e-4"],
    "gradboost": ["--path", "60", "--path-min", "1e-3", "--test", "test.svm"],
    "gradboost folds": ["--path", "15", "--folds", "3"],
    "gradboost lambda": ["--lambda", "1e-3", "--penalty", "l1", "--pool", "stumps", "--bins", "32", "--rounds", "12"],
    "gradboost l1linf": ["--path", "15", "--penalty", "l1linf", "--pool", "products", "--degree", "3"],
    "gradboost l2sq": ["--path", "40", "--penalty", "l2sq"],
    "gradboost groups": ["--path", "25", "--groups", "groups.txt"],
    "adaboost": ["--path", "6", "--path-min", "0.2", "--pool", "stumps", "--bins", "32"],
    "adaboost sequential": ["--lambda", "1e-5", "--sequential", "--rounds", "300", "--pool", "stumps", "--bins", "32"],
    "adaboost paper": ["--path", "3", "--path-min", "0.3", "--solver", "paper", "--template", "all"],
    "cascade": ["--phi", "0.002,0.001,0.001,0.001", "--tolerance", "1e-8"],
    "cascade folds": ["--folds", "3", "--levels", "2", "--phi-scales", "0.2,0.05"],
    "cascade logistic": ["--loss", "multiclass-logistic", "--phi", "0.001,0.001,0.0005", "--tolerance", "1e-9"],
}  # fmt: skip


def write_rows(path, rows, columns, classes, seed):
    """Noisy classes: each has a centre of its own."""
    generator = random.Random(seed)
    centres = random.Random(7)
    centre = [[centres.gauss(0, 0.6) for _ in range(columns)] for _ in range(classes)]
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(rows):
            label = generator.randrange(classes)
            values = " ".join(f"{j + 1}:{centre[label][j] + generator.gauss(0, 1):.3f}" for j in range(columns))
            file.write(f"{label} {values}\n")


def command_of(program, case, model, more=()):
    return [program, "fit", case.split()[0], "train.svm", *CASES[case], "--threads", "1", "--quiet", "-o", model, *more]


def uninterrupted(program, folder, case):
    """The model's bytes and the seconds that the run took."""
    start = time.monotonic()
    subprocess.run(command_of(program, case, "whole.shl"), cwd=folder, check=True, stderr=subprocess.DEVNULL)
    return (folder / "whole.shl").read_bytes(), time.monotonic() - start


def killed(program, folder, case, kills, seconds, rng):
    """The model's bytes after this many kills, and how many runs began from a checkpoint."""
    command = command_of(program, case, "parts.shl", ["--checkpoint", "run.ckpt"])
    continued = 0
    for _ in range(kills):
        process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=rng.uniform(0, seconds))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        if (folder / "parts.shl").exists():  # it was faster than the signal: begin again
            (folder / "parts.shl").unlink()
        continued += (folder / "run.ckpt").exists()
    end = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert end.returncode == 0, (case, end.stderr)
    assert not (folder / "run.ckpt").exists(), f"{case}: the checkpoint stays after success"
    bytes_ = (folder / "parts.shl").read_bytes()
    (folder / "parts.shl").unlink()
    return bytes_, continued


def stopped(program, folder, arguments, seconds):
    """Leaves run.ckpt behind."""
    command = [program, "fit", "shareboost", *arguments, "--checkpoint", "run.ckpt", "--quiet", "-o", "parts.shl"]
    while not (folder / "run.ckpt").exists():
        process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not (folder / "run.ckpt").exists():
            time.sleep(0.01)
        process.kill()
        process.wait()


def check_refused(program, folder):
    """Exit code 2 and a message; the checkpoint is left as it is."""
    arguments = ["train.svm", "--features", "60", "--rule", "line", "--shortlist", "0", "--ridge", "1e-4"]
    stopped(program, folder, arguments, 20)
    whole = (folder / "run.ckpt").read_bytes()

    def refused(words, run):
        command = [program, "fit", "shareboost", *run, "--checkpoint", "run.ckpt", "-o", "parts.shl"]
        end = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert end.returncode == 2 and words in end.stderr, (words, end)
        assert not (folder / "parts.shl").exists()

    refused("another run", ["test.svm", *arguments[1:]])
    refused("another run", [*arguments, "--seed", "2"])
    assert (folder / "run.ckpt").read_bytes() == whole
    rng = random.Random(3)
    for _ in range(20):
        at = rng.randrange(8, len(whole))
        (folder / "run.ckpt").write_bytes(whole[:at] + bytes([whole[at] ^ (1 << rng.randrange(8))]) + whole[at + 1 :])
        refused("damaged", arguments)
        (folder / "run.ckpt").write_bytes(whole[:at])
        refused("damaged", arguments)
    (folder / "run.ckpt").write_bytes((folder / "train.svm").read_bytes())
    refused("not a checkpoint", arguments)
    (folder / "run.ckpt").unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sharelearn")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_intermixed_args()
    program = str(pathlib.Path(args.sharelearn).resolve())
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_rows(folder / "train.svm", 1500, 30, 8, 1)
        write_rows(folder / "test.svm", 500, 30, 8, 2)
        (folder / "groups.txt").write_text("0 1 2\n3 4 5\n6 7 8\n9 10 11\n", encoding="utf-8")
        for case in args.cases or CASES:
            expected, seconds = uninterrupted(program, folder, case)
            found, continued = killed(program, folder, case, args.kills, seconds, rng)
            assert found == expected, f"{case}: the model after {args.kills} kills differs"
            print(f"{case}: {seconds:.1f} s, {args.kills} kills, {continued} left a checkpoint: the same bytes", flush=True)
        if not args.cases:
            check_refused(program, folder)
    print("ok")


if __name__ == "__main__":
    main()
