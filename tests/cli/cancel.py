#!/usr/bin/env python3
"""Ctrl-C and SIGTERM in every command: exit code 130 or 143 after at most 2 seconds of work. While a model is learned,
what was learned so far is kept and reported; nothing is written if nothing was learned.

    cancel.py SHARELEARN [CASE ...]
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

MOST_SECONDS = 2  # of CPU time: the machine may be busy with other things

# Runs that end with what they learned so far: each would take minutes.
PARTIAL = {
    "shareboost": ["data.svm", "--features", "40", "--rule", "line", "--shortlist", "0", "--ridge", "1e-4"],
    "surplus": ["data.svm", "--features", "25", "--surplus", "1", "--rule", "line", "--shortlist", "0", "--ridge", "1e-4"],
    "gradboost": ["data.svm", "--path", "5000", "--path-min", "1e-5"],
    "gradboost groups": ["data.svm", "--path", "5000", "--path-min", "1e-5", "--groups", "groups.txt"],
    "adaboost": ["data.svm", "--lambda", "1e-9", "--sequential", "--rounds", "1000000"],
    "cascade": ["data.svm", "--phi", "1e-7,1e-7,1e-7", "--tolerance", "1e-14", "--max-iterations", "1000000"],
    "cascade logistic": ["data.svm", "--loss", "multiclass-logistic", "--phi", "1e-7,1e-7", "--tolerance", "1e-14",
                         "--max-iterations", "1000000"],
    "treelasso": ["data.svm", "--lambda", "1e-7", "--tolerance", "1e-14"],
    "jointboost": ["data.svm", "--rounds", "100000"],
    "onevsrest": ["data.svm", "--features", "40"],
    "cascade online": ["data.svm", "--online", "--phi", "0.01", "--passes", "100000"],
    "cascade stream": ["data.svm", "--online", "--stream", "--phi", "0.01", "--passes", "100000"],
    "sharing": ["long.svm", "--kernel", "gaussian"],
    "sharing rows": ["long.svm", "--kernel", "gaussian", "--load"],
}  # fmt: skip

# Runs that are cancelled while there is nothing to keep, and a part of what they say.
NOTHING = {
    "shareboost folds": (["data.svm", "--features", "40", "--folds", "50", "--ridge", "0"], "during cross-validation"),
    "shareboost ridge": (["data.svm", "--features", "40", "--rule", "line", "--shortlist", "0"], "choice of the ridge"),
    "shareboost patches": (["images.csv", "--pool", "patches", "--image-width", "28", "--templates", "7:300"], "cancelled"),
    "gradboost folds": (["data.svm", "--path", "600", "--folds", "50"], "during cross-validation"),
    "onevsrest folds": (["data.svm", "--features", "6", "--folds", "50"], "during cross-validation"),
    "jointboost folds": (["data.svm", "--rounds", "500", "--folds", "50"], "during cross-validation"),
    "cascade search": (["data.svm", "--folds", "50"], "during cross-validation"),
    "treelasso search": (["data.svm", "--folds", "50"], "during cross-validation"),
}

# Commands that wait for input.
WAITING = {
    "fit shareboost": ["fit", "shareboost", "-", "-o", "m.shl"],
    "fit sharing": ["fit", "sharing", "-", "--format", "csv", "-o", "m.shl"],
    "transfer": ["transfer", "cascade.shl", "-", "-o", "m.shl"],
    "predict": ["predict", "small.shl", "-", "-o", "m.shl"],
    "evaluate": ["evaluate", "small.shl", "-"],
    "early": ["early", "small.shl", "-", "-o", "m.shl"],
    "report": ["report", "small.shl", "--data", "-", "-o", "m.shl"],
}  # fmt: skip


def write_rows(path, rows, columns, classes, separator=None):
    generator = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        for row in range(rows):
            values = [f"{generator.gauss(0, 1):.4f}" for _ in range(columns)]
            if separator:
                file.write(separator.join(values) + f"{separator}c{row % classes}\n")
            else:
                file.write(f"{row % classes} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(values)) + "\n")


def cpu_seconds(process):
    try:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_work(process, seconds):
    """Until the process has worked for this long: the machine may be busy with other things."""
    while cpu_seconds(process) < seconds and process.poll() is None:
        time.sleep(0.02)


def signalled(command, folder, number, seconds, stdin=subprocess.DEVNULL):
    """(exit code, messages, seconds of work after the signal) of a run that gets a signal after so many seconds."""
    with open(folder / "stderr", "w+", encoding="utf-8") as messages:
        process = subprocess.Popen(command, cwd=folder, stdin=stdin, stdout=subprocess.DEVNULL, stderr=messages)
        if stdin == subprocess.DEVNULL:
            wait_for_work(process, seconds)
        else:  # it waits for input
            time.sleep(seconds)
        assert process.poll() is None, (command, process.returncode)
        before = cpu_seconds(process)
        process.send_signal(number)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        return process.returncode, messages.read(), usage.ru_utime + usage.ru_stime - before


def remove_outputs(folder):
    for name in ("m.shl", "r.json"):
        (folder / name).unlink(missing_ok=True)


def fit_command(program, name, arguments):
    method = "shareboost" if name == "surplus" else name.split()[0]
    return [program, "fit", method, *arguments, "--threads", "1", "--quiet", "-o", "m.shl", "--report", "r.json"]


def check_partial(program, folder, name, number):
    command = fit_command(program, name, PARTIAL[name])
    for seconds in (0.3, 1, 3, 9):  # the time of the first round depends on the machine
        remove_outputs(folder)
        code, message, worked = signalled(command, folder, number, seconds)
        assert code == 128 + number, (name, number, code, message)
        assert worked < MOST_SECONDS, (name, number, worked, message)
        if (folder / "m.shl").exists():
            break
        assert ("there is no model" in message or "interrupted" in message) and not (folder / "r.json").exists(), message
    report = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    if not name.startswith("sharing"):
        assert report["stop"] == "cancelled" and "cancelled" in message, (name, report.get("stop"), message)
    else:
        assert "interrupted after" in message, (name, message)
    subprocess.run([program, "describe", "m.shl"], cwd=folder, check=True, capture_output=True)
    return worked


def check_nothing(program, folder, name, number):
    arguments, words = NOTHING[name]
    for seconds in (0.3, 0.15, 0.5, 0.1, 0.8, 1.2):  # when a phase begins and ends depends on the machine
        remove_outputs(folder)
        code, message, worked = signalled(fit_command(program, name, arguments), folder, number, seconds)
        assert code == 128 + number, (name, number, code, message)
        assert worked < MOST_SECONDS, (name, number, worked, message)
        if words in message:
            assert "there is no model" in message, (name, message)
            assert not (folder / "m.shl").exists() and not (folder / "r.json").exists(), name
            return worked
    raise AssertionError((name, number, message))


def check_waiting(program, folder, name, number):
    remove_outputs(folder)
    read, write = os.pipe()
    os.write(write, b"a,b,c\n1,2,x\n")
    try:
        code, message, worked = signalled([program, *WAITING[name]], folder, number, 0.5, stdin=read)
    finally:
        os.close(read)
        os.close(write)
    assert code == 128 + number and ("interrupted" in message or "there is no model" in message), (name, code, message)
    assert not (folder / "m.shl").exists(), name
    return worked


def prepare(program, folder):
    write_rows(folder / "data.svm", 3000, 40, 12)
    write_rows(folder / "long.svm", 30000, 8, 12)
    write_rows(folder / "small.csv", 60, 2, 2, ",")
    write_rows(folder / "images.csv", 600, 784, 10, ",")
    (folder / "groups.txt").write_text("0 1 2\n3 4 5\n6 7 8\n", encoding="utf-8")
    fits = (["shareboost", "small.csv", "-o", "small.shl"], ["cascade", "data.svm", "--phi", "0.02,0.01", "-o", "cascade.shl"])
    for fit in fits:
        subprocess.run([program, "fit", *fit, "--quiet"], cwd=folder, check=True)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    wanted = sys.argv[2:]
    slowest = (0.0, "")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(program, folder)
        for check, cases in ((check_partial, PARTIAL), (check_nothing, NOTHING), (check_waiting, WAITING)):
            for case in cases:
                if wanted and case not in wanted:
                    continue
                for number in (signal.SIGINT, signal.SIGTERM):
                    slowest = max(slowest, (check(program, folder, case, int(number)), case))
    print(f"ok; the longest answer took {slowest[0]:.2f} s of work: {slowest[1]}")


if __name__ == "__main__":
    main()
