#!/usr/bin/env python3
"""What ranks cost: fits the same data with 1 and 2 threads and on 1 to 4 ranks, and prints CPU seconds of the arithmetic (the largest
rank; without waiting in MPI, which spins), messages and bytes received per rank. The models must have the same bytes.

    ranks.py SHARELEARN [--rows M] [--columns D] [--classes K] [--weak]

--weak: M rows per rank. CPU seconds, because ranks may share processors here.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import tempfile

import numpy

CASES = ("shareboost DATA --features 20 --ridge 1e-6 --calibration none", "shareboost DATA --features 20",
         "gradboost DATA --path 8 --path-min 0.1 --calibration none", "cascade DATA --levels 2 --phi 0.01,0.01 --calibration none")


def write_data(path, rows, columns, classes):
    generator = numpy.random.default_rng(1)
    centres = generator.normal(size=(classes, columns)).astype(numpy.float32) * (generator.random(columns) < 0.1)
    labels = generator.integers(classes, size=rows)
    data = numpy.empty((rows, columns + 1), dtype=numpy.float32)
    data[:, :-1] = centres[labels] + generator.normal(size=(rows, columns)).astype(numpy.float32)
    data[:, -1] = labels
    numpy.save(path, data)


def cpu_of(command, folder, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env={**os.environ, **environment}, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(program, folder, case, ranks, threads, profile):
    """CPU seconds, messages and megabytes per rank, and the model's bytes."""
    own = [program, "fit", *case.split(), "--threads", str(threads), "--quiet", "-o", "model"]
    if ranks == 0:
        return cpu_of(own, folder, {}), 0, 0.0, (folder / "model").read_bytes()
    (folder / "profile").unlink(missing_ok=True)
    start = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), "-x", f"LD_PRELOAD={profile}",
             "-x", f"MPI_PROFILE={folder / 'profile'}"]
    cpu_of(start + own, folder, {"OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"})
    lines = [[float(field) for field in line.split()] for line in (folder / "profile").read_text().splitlines()]
    assert len(lines) == ranks
    return max(line[0] for line in lines), int(lines[0][2]), max(line[3] for line in lines) / 1e6, (folder / "model").read_bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=400)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--weak", action="store_true")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        profile = folder / "profile.so"
        subprocess.run(["mpicc", "-O2", "-shared", "-fPIC", str(pathlib.Path(__file__).with_name("mpi_profile.c")), "-o", str(profile)],
                       check=True)
        for case in CASES:
            print(f"\n{case}\n{'':<16}{'CPU s':>9}{'messages':>10}{'MB':>10}")
            expected = None
            for ranks, threads in ((0, 1), (0, 2), (1, 1), (2, 1), (3, 1), (4, 1)):
                rows = options.rows * (max(ranks, 1) if options.weak else 1)
                data = f"data-{rows}"
                if not (folder / f"{data}.shd").exists():
                    write_data(folder / f"{data}.npy", rows, options.columns, options.classes)
                    subprocess.run([program, "cache", f"{data}.npy", "-o", f"{data}.shd", "--quiet"], cwd=folder, check=True)
                    (folder / f"{data}.npy").unlink()
                seconds, messages, megabytes, model = measure(program, folder, case.replace("DATA", f"{data}.shd"), ranks, threads, profile)
                if not options.weak:
                    assert expected in (None, model), "not the same bytes"
                    expected = model
                label = f"{threads} thread{'s' if threads > 1 else ''}" if ranks == 0 else f"{ranks} rank{'s' if ranks > 1 else ''}"
                print(f"{label:<16}{seconds:>9.2f}{messages:>10}{megabytes:>10.1f}", flush=True)


if __name__ == "__main__":
    main()
