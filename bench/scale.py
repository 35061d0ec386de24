#!/usr/bin/env python3
"""Training over a file that is larger than the memory it may take: generates dense data, writes its cache, trains from it, and
prints for each step the time, the peak of anonymous memory (RssAnon) and the bytes read per second, beside those of dd.

    bench/scale.py [--program FILE] [--rows M] [--columns D] [--classes K | --data FILE] [--folder DIR] [--in-memory] [--fit "METHOD OPTIONS"]...

The data (K classes; every class moves 5 columns of its own by 1, in normal noise) are written a few rows at a time. Everything in the
folder that this script wrote is deleted at the end. Needs numpy.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

FITS = ["shareboost --features 20", "shareboost --features 20 --ridge 1e-6 --calibration none"]


def generate(path, rows, columns, classes):
    """NPY, its labels in a file beside it."""
    random = np.random.default_rng(1)
    labels = random.integers(0, classes, rows).astype("<i4")
    np.save(path.with_name(path.stem + "_labels.npy"), labels)
    own = np.random.default_rng(2).integers(0, columns, (classes, 5))
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (rows, columns)})
        step = max(1, 4_000_000 // columns)
        for first in range(0, rows, step):
            some = labels[first : first + step]
            x = random.standard_normal((len(some), columns), dtype=np.float32)
            np.put_along_axis(x, own[some], np.take_along_axis(x, own[some], 1) + 1, 1)
            x.tofile(file)


def status_of(pid):
    """RssAnon in MB and the CPU seconds so far; None when the process has ended."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        anonymous = next((line for line in lines if line.startswith("RssAnon")), None)
        return int(anonymous.split()[1]) / 1000 if anonymous else None
    except (FileNotFoundError, ProcessLookupError):
        return None


def measure(name, command):
    """Runs a command; prints what it took."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start, peak = time.monotonic(), 0.0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        peak = max(peak, status_of(process.pid) or 0)
        time.sleep(0.02)
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 0, (command, process.returncode)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    read = (after.ru_inblock - before.ru_inblock) * 512 / 1e9
    faults = after.ru_majflt - before.ru_majflt
    print(f"{name:<64} {seconds:8.1f} s  CPU {cpu:8.1f} s  RssAnon {peak:7.0f} MB  from disk {read:6.2f} GB  major faults {faults}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/check/sharelearn")
    parser.add_argument("--rows", type=int, default=250_000)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--data", type=pathlib.Path, help="these data instead of generated ones")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--in-memory", action="store_true", help="also fit from the array; the models must be the same bytes")
    parser.add_argument("--fit", action="append")
    given = parser.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = pathlib.Path(name)
        array, cache = given.data or folder / "x.npy", folder / "x.shd"
        if not given.data:
            generate(array, given.rows, given.columns, given.classes)
            print(f"{given.rows} rows, {given.columns} columns, {given.classes} classes: {array.stat().st_size / 1e9:.2f} GB")
        measure("cache", [program, "cache", array, "-o", cache, "--quiet"])
        if not given.data and not given.in_memory:
            array.unlink()
        measure("dd", ["dd", f"if={cache}", "of=/dev/null", "bs=1M", "status=none"])
        for options in given.fit or FITS:
            measure("fit " + options, [program, "fit", options.split()[0], cache, *options.split()[1:], "--quiet", "-o", folder / "m"])
            if not given.in_memory:
                continue
            measure("  in memory", [program, "fit", options.split()[0], array, *options.split()[1:], "--quiet", "-o", folder / "n"])
            assert (folder / "m").read_bytes() == (folder / "n").read_bytes(), "not the same bytes"
        measure("predict", [program, "predict", folder / "m", cache, "-o", folder / "p"])
        measure("evaluate", [program, "evaluate", folder / "m", cache])


if __name__ == "__main__":
    sys.exit(main())
