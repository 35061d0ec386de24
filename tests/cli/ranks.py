#!/usr/bin/env python3
"""Fits small models of every batch method and pool on 2, 3 and 4 ranks of mpirun, with 1 and 2 threads, from text and from the
binary file that `cache` makes: the models must be the bytes of the plain program. Then predictions, reports, refusals, ranks that
are killed, and runs that go on from a checkpoint on another number of ranks.

    ranks.py SHARELEARN [--all]

Each case runs in one of the ways, in turn; with --all, in every way. Skipped (77) where mpirun is missing or the program was
built without SHARELEARN_MPI.
"""
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import same_bytes  # noqa: E402

WAYS = list(itertools.product((2, 3, 4), (1, 2), (False, True)))  # ranks, threads, from the cache
SKIPPED = 77
GRACE = 10  # seconds that a broken run has to end
PLAIN = "--calibration none"  # most cases: ranks that wait for each other hundreds of times are slow on a busy machine
OTHERS = (f"shareboost large.csv --features 5 --ridge 1e-4 {PLAIN}",
          "shareboost large.csv --features 2 --pool stumps --bins 16 --folds 2 --ridge 1e-4",
          "shareboost dense.csv --features 3",  # chooses its ridge, and calibrates
          f"shareboost dense.csv --features 3 --holdout 0.2 --validation 0.2 --ridge 1e-4 {PLAIN}",
          f"shareboost dense.csv --features 4 --per-round 2 --diverse --ridge 1e-4 --scale standard {PLAIN}",
          f"shareboost dense.csv --features 3 --exchange --surplus 0.5 --ridge 1e-4 {PLAIN}",
          f"shareboost dense.csv --features 2 --rule exact --ridge 1e-4 {PLAIN}",
          f"shareboost holes.csv --features 3 --missing indicator --ridge 1e-4 {PLAIN}",
          f"shareboost numbers.csv --features 3 --loss squared --ridge 1e-4 {PLAIN}",
          f"shareboost images.csv --features 2 --pool patches --templates 5:16 --deform 1 --ridge 1e-3 {PLAIN}",
          f"gradboost large.csv --path 3 --path-min 0.4 {PLAIN}",
          f"gradboost large.csv --lambda 0.05 --penalty sparse-group --mix 0.5 {PLAIN}",
          f"gradboost dense.csv --path 3 --path-min 0.4 --folds 2 {PLAIN}",
          f"gradboost counts.svm --path 2 --path-min 0.5 --transform tfidf --penalty l1 {PLAIN}",
          f"gradboost tasks.svm --path 2 --path-min 0.5 --loss multitask {PLAIN}",
          f"gradboost dense.csv --lambda 0.05 --pool products --degree 0 --rounds 2 {PLAIN}",
          f"adaboost dense.csv --path 2 --path-min 0.6 --penalty l1linf {PLAIN}",
          f"adaboost two.csv --loss binary-exp --penalty none --sequential --rounds 4 {PLAIN}",
          f"cascade large.csv --levels 2 --phi 0.05,0.03 {PLAIN}",
          f"cascade dense.csv --levels 2 --phi 0.05,0.03 --loss multiclass-logistic {PLAIN}",
          f"cascade tasks.svm --levels 2 --phi 0.05,0.03 --loss multitask-logistic {PLAIN}",
          f"onevsrest dense.csv --features 2 --ridge 1e-3 {PLAIN}",
          f"jointboost dense.csv --rounds 3 {PLAIN}",
          f"treelasso tasks.svm --lambda 0.05 {PLAIN}")


def cases():
    for pool, data in same_bytes.POOLS.items():
        yield f"shareboost {data} --features 3 --ridge 1e-3 --pool {pool} {PLAIN}"
        yield f"gradboost {data} --path 2 --path-min 0.7 --pool {pool} {PLAIN}"
    yield from OTHERS


def environment():
    quiet = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
             "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**os.environ, **quiet}


def mpirun(ranks, *command):
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *command]


def run(folder, command, **more):
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=600, **more)


def write_data(folder):
    same_bytes.write_data(folder)
    same_bytes.write_csv(folder / "large.csv", 20_011, 6, 3)
    counts = [[label, *(f"{entry.split(':')[0]}:{round(abs(float(entry.split(':')[1])) * 3)}" for entry in entries)]
              for label, *entries in map(str.split, (folder / "sparse.svm").read_text().splitlines())]
    (folder / "counts.svm").write_text("\n".join(map(" ".join, counts)) + "\n")
    lines = (folder / "dense.csv").read_text().splitlines()
    holes = ["" if (row * 7 + column) % 23 == 0 and column < 3 else field
             for row, line in enumerate(lines) for column, field in enumerate(line.split(","))]
    width = len(lines[0].split(","))
    (folder / "holes.csv").write_text("\n".join(",".join(holes[at:at + width]) for at in range(0, len(holes), width)) + "\n")


def cache(program, folder):
    for path in sorted(folder.glob("*.*")):
        done = run(folder, [program, "cache", path.name, "-o", path.name + ".shd", "--quiet"])
        assert done.returncode == 0, (path, done.stderr)


def fit(folder, case, start, threads, output="model"):
    (folder / output).unlink(missing_ok=True)
    done = run(folder, [*start, "fit", *case.split(), "--threads", str(threads), "--quiet", "-o", output])
    assert done.returncode == 0, (case, start, done.returncode, done.stderr)
    return (folder / output).read_bytes()


def from_cache(case):
    method, data, *options = case.split()
    return " ".join([method, data + ".shd", *options])


def compare_fits(program, folder, every_way):
    failed = []
    for number, case in enumerate(cases()):
        expected = fit(folder, case, [program], 2)
        for ranks, threads, cached in WAYS if every_way else [WAYS[(number + number // 2) % len(WAYS)]]:
            if fit(folder, from_cache(case) if cached else case, mpirun(ranks, program), threads) != expected:
                failed.append((case, ranks, threads, "cache" if cached else "text"))
    return failed


def check_use(program, folder):
    """Predictions in the order of the rows, of batch and online models; figures; the report."""
    for case in ("shareboost dense.csv --features 4", "cascade sparse.svm --levels 2 --phi 0.1,0.1 --online",
                 "sharing sparse.svm --hypotheses multi"):
        fit(folder, case, [program], 1)
        data = case.split()[1]
        for what in ("--scores", "--top 2"):
            command = [program, "predict", "model", data, *what.split()]
            plain, shared = run(folder, command), run(folder, mpirun(3, *command))
            assert plain.returncode == shared.returncode == 0, shared.stderr
            assert plain.stdout == shared.stdout, (case, what)
        command = [program, "evaluate", "model", data, "--report", "-"]
        assert run(folder, command).stdout == run(folder, mpirun(2, *command)).stdout, case
    done = run(folder, mpirun(3, program, "fit", "shareboost", "dense.csv", "--features", "2", "--report", "r.json", "--quiet"))
    report = json.loads((folder / "r.json").read_text())
    assert done.returncode == 0 and report["ranks"] == 3 and sum(report["rank_rows"]) == 3001, done.stderr


def check_refusals(program, folder):
    for command, text in (("fit sharing sparse.svm", "online learning"), ("fit cascade sparse.svm --online", "online learning"),
                          ("fit shareboost - --features 2", "standard input"), ("cache dense.csv -o x.shd", "one process"),
                          ("fit shareboost missing.csv --features 2", "missing.csv")):
        done = run(folder, mpirun(2, program, *command.split()), stdin=subprocess.DEVNULL)
        assert done.returncode == 2 and done.stderr.count("sharelearn: ") == 1 and text in done.stderr, (command, done)


def ranks_of(process):
    """Process numbers of the ranks that this mpirun started."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == process.pid:
            found.append(int(entry.name))
    return sorted(found)


def kill_one(program, folder, ranks, delay, generator):
    """Kills one rank after a while; True if the run was still going on."""
    command = mpirun(ranks, program, "fit", "shareboost", "large.csv", "--features", "40", "--pool", "products",
                     "--ridge", "1e-6", "--threads", "1", "--quiet", "-o", "kept")
    process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    victims = []
    while not victims and process.poll() is None:
        time.sleep(delay)
        victims = ranks_of(process)
    if victims:
        os.kill(generator.choice(victims), signal.SIGKILL)
    try:
        code = process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"ranks were still there {GRACE} s after one was killed")
    return code != 0


def check_kills(program, folder, times):
    generator = random.Random(times)
    (folder / "kept").write_text("an older model")
    killed = 0
    for turn in range(times):
        before = set(os.listdir(folder))
        if kill_one(program, folder, 2 + turn % 3, generator.uniform(0.05, 1.5), generator):
            killed += 1
            assert (folder / "kept").read_text() == "an older model" and set(os.listdir(folder)) == before
        else:
            (folder / "kept").write_text("an older model")
    return killed


def interrupted(program, folder, case):
    """Ends a run once it has left a checkpoint; False if it was done before."""
    command = mpirun(3, program, "fit", *case.split(), "--threads", "1", "--quiet", "-o", "m", "--checkpoint", "state")
    process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (folder / "state").exists():
        time.sleep(0.02)
    for victim in ranks_of(process):
        os.kill(victim, signal.SIGKILL)
    process.wait(GRACE)
    return (folder / "state").exists()


def check_resume(program, folder):
    for features in (5, 20, 80):  # a fast machine needs a longer run
        case = f"shareboost large.csv --features {features} --pool stumps --bins 32 --ridge 1e-6 {PLAIN}"
        if interrupted(program, folder, case):
            break
    expected = fit(folder, case, [program], 2)
    shutil.copy(folder / "state", folder / "copy")
    assert fit(folder, case + " --checkpoint copy", mpirun(2, program), 1) == expected
    assert fit(folder, case + " --checkpoint state", [program], 2) == expected
    assert not (folder / "state").exists() and not (folder / "copy").exists()


def has_ranks(program, folder):
    if shutil.which("mpirun") is None:
        return False
    done = run(folder, mpirun(2, program, "generate", "binary-code", "--rows", "4", "--classes", "2"))
    return done.returncode == 2 and "one process" in done.stderr


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    every_way = "--all" in sys.argv
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if not has_ranks(program, folder):
            print("skipped: mpirun is missing, or the program was built without SHARELEARN_MPI")
            return SKIPPED
        write_data(folder)
        cache(program, folder)
        failed = compare_fits(program, folder, every_way)
        check_use(program, folder)
        check_refusals(program, folder)
        check_resume(program, folder)
        killed = check_kills(program, folder, 50 if every_way else 4)
    for failure in failed:
        print("not the same bytes:", *failure)
    print(f"{len(list(cases()))} models, {len(failed)} differ; {killed} runs ended by a killed rank")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
