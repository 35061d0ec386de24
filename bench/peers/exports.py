#!/usr/bin/env python3
"""Exported C on Cortex-M: bytes of flash and instructions per prediction, beside trees of emlearn and m2cgen.

    bench/peers/exports.py --sharelearn build/release/sharelearn --data DIR [--digits MODEL] [--rows 30]

Needs numpy, scikit-learn, arm-none-eabi-gcc and qemu-system-arm; emlearn and m2cgen where they are installed. The trees are the smallest
forests of a grid whose test error is at most ours (else the best). Flash: text and data of a linked program that holds nothing but
the prediction and what it calls of the C library, at -Os. Instructions: mean over test rows, counted by QEMU (-icount) with the system
timer of a Cortex-M3; it runs the code for Cortex-M0, too. --digits: a model of MNIST with thresholds for stopping early; without it,
digits are left out.
"""
import argparse
import gzip
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from results import record, version

PAGE = {
    "name": "exports", "order": 8, "title": "Exported C on Cortex-M",
    "text": "Bytes of flash and instructions per prediction (QEMU) beside trees of emlearn and m2cgen, whose forest is the smallest of a grid with at most our test "
            "error. The ratio is that of the instructions on Cortex-M4 to sharelearn's in int16.",
    "full": ["--sharelearn", "{program}", "--data", "{data}"],
    "quick": ["--sharelearn", "{program}", "--data", "{data}", "--sets", "optdigits", "--rows", "10", "--quick"],
    "claims": [["an exported model needs fewer instructions than the smallest forest of equal error", "", "emlearn|m2cgen", 1],
               ["and fewer bytes of flash (Cortex-M4)", "", "emlearn|m2cgen", 1, "flash, M4"]],
}
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from export import ARM, LINKER_SCRIPT  # noqa: E402

MAIN = """#include <stdio.h>
int answer(const void *row);
static volatile unsigned *const timer = (volatile unsigned *)0xE000E010;
int main(void) {
  unsigned ticks;
  int i, sum = 0;
  timer[1] = 0xFFFFFF; timer[2] = 0; timer[0] = 5;
  ticks = timer[2];
  for (i = 0; i < ROWS; ++i) sum += answer(rows[i]);
  ticks = (ticks - timer[2]) & 0xFFFFFF;
  printf("ticks %u sum %d\\n", ticks, sum);
  return 0;
}
"""
NANOSECONDS_PER_TICK = 40  # 25 MHz; -icount shift=0 makes an instruction a nanosecond


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command[:6]))}: {(done.stdout + done.stderr)[-800:]}")
    return done.stdout


def read(path):
    with gzip.open(path) as file:
        table = np.loadtxt(file, delimiter=",")
    return table[:, :-1], table[:, -1].astype(int)


def compiled(folder, code, rows, number):
    """Flash and mean instructions of `code`, which defines answer(const void *row), on M0 and M4."""
    (folder / "answer.c").write_text(code)
    values = ",".join("{" + ",".join(f"{v:g}" for v in row) + "}" for row in rows)
    (folder / "main.c").write_text(f"#include <stdint.h>\n#define ROWS {len(rows)}\n"
                                   f"static const {number} rows[ROWS][{len(rows[0])}] = {{{values}}};\n" + MAIN)
    (folder / "link.ld").write_text(LINKER_SCRIPT.format(flash=0, ram=0x20000000, size="2M"))
    result = []
    for processor in ("cortex-m0", "cortex-m4"):
        flags = ["-std=gnu99", "-Os", f"-mcpu={processor}", "-mthumb", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-T", folder / "link.ld"]
        run("arm-none-eabi-gcc", *flags, "-nostartfiles", "-Wl,-e,answer", "-Wl,-u,answer", folder / "answer.c", "--specs=nosys.specs", "-lm", "-o", folder / "flash.elf")
        sizes = run("arm-none-eabi-size", folder / "flash.elf").splitlines()[1].split()
        run("arm-none-eabi-gcc", *flags, "--specs=rdimon.specs", ARM / "start.c", folder / "answer.c", folder / "main.c", "-lm", "-o", folder / "run.elf")
        machine = "mps2-an385" if processor == "cortex-m0" else "mps2-an386"
        said = run("qemu-system-arm", "-machine", machine, "-icount", "shift=0", "-nographic", "-semihosting-config", "enable=on,target=native",
                   "-monitor", "none", "-serial", "none", "-kernel", folder / "run.elf")
        ticks = int(re.search(r"ticks (\d+)", said)[1])
        result.append((int(sizes[0]) + int(sizes[1]), ticks * NANOSECONDS_PER_TICK / len(rows)))
    return result


FIRST = {}  # of each case: instructions on Cortex-M4 of our int16 export


def show(what, error, result):
    (flash0, steps0), (flash4, steps4) = result
    case, tool = what.rsplit(": ", 1)
    own = tool.startswith("sharelearn")
    if own and "int16" in tool or case not in FIRST:
        FIRST[case] = steps4
    measures = {"error, %": 100 * error, "flash, M0": flash0, "flash, M4": flash4, "instructions, M0": steps0, "instructions, M4": steps4}
    record(case, tool, measures, None if own else steps4 / FIRST[case])
    print(f"| {what} | {100 * error:.2f} | {flash0:,} | {flash4:,} | {steps0:,.0f} | {steps4:,.0f} |", flush=True)


def ours(folder, program, model, data, error, rows, what, early=False):
    for arithmetic in ("float", "int16", "int8"):
        run(program, "export", model, "--to", "c", "--arithmetic", arithmetic, "-o", folder / "m.h", "--check", data, "--check-rows", len(rows))
        header, check = (folder / "m.h").read_text(), (folder / "m_check.c").read_text()
        number = re.search(r"typedef (\w+) m_number", header)[1]
        stored = check.split("rows[] = {")[1].split("};")[0].replace("f", "").replace("(", "").replace(")", "")
        values = np.array([float(v) for v in stored.split(",") if v.strip()]).reshape(len(rows), -1)
        work = "static m_work work;\n" if "m_work" in header else ""
        call = ("int used; return m_predict_early(row, " if early else "return m_predict(row") + ("&work, &used)" if early else ", &work)" if work else ")")
        code = f'#include "m.h"\n{work}int answer(const void *row);\nint answer(const void *row) {{ {call}; }}\n'
        show(f"{what}: sharelearn, {arithmetic}", error, compiled(folder, code, values, number))


def forests(x, y, x_test, y_test, error, quick=False):
    """The forest with the fewest nodes whose test error is at most `error`."""
    from sklearn.ensemble import RandomForestClassifier
    best = None
    for trees in (1, 3, 10) if quick else (1, 2, 3, 5, 7, 10, 15, 20, 30, 50):
        for leaves in (8, 16, 32, 64, 128, 256, 512, 100000):
            model = RandomForestClassifier(trees, max_leaf_nodes=leaves, random_state=1, bootstrap=trees > 1, n_jobs=1).fit(x, y)
            wrong = float(np.mean(model.predict(x_test) != y_test))
            nodes = sum(tree.tree_.node_count for tree in model.estimators_)
            key = (wrong > error, wrong if wrong > error else 0, nodes)
            if best is None or key < best[0]:
                best = (key, model, wrong)
            if wrong <= error or nodes < trees * leaves:
                break  # more leaves only make it larger, or there are no more
    return best[1], best[2]


def peers(folder, what_for, quick, x, y, x_test, y_test, error, rows):
    model, wrong = forests(x, y, x_test, y_test, error, quick)
    what = f"{len(model.estimators_)} trees, {sum(t.tree_.node_count for t in model.estimators_)} nodes"
    columns, classes = x.shape[1], len(model.classes_)
    if importlib.util.find_spec("emlearn"):
        import emlearn
        converted = emlearn.convert(model, method="inline", dtype="int16_t")
        text = converted.save(name="tree", format="c", include_proba=False)
        code = f"{text}\nint answer(const void *row);\nint answer(const void *row) {{ return tree_predict((const int16_t *)row, {columns}); }}\n"
        show(f"{what_for}: {version('emlearn')}, {what}, int16", wrong, compiled(folder, code, rows, "int16_t"))
    else:
        print("| emlearn is not installed | | | | | |")
    if importlib.util.find_spec("m2cgen"):
        import m2cgen
        code = m2cgen.export_to_c(model) + f"""
int answer(const void *row);
int answer(const void *row) {{
  double p[{classes}];
  int best = 0, c;
  score((double *)row, p);
  for (c = 1; c < {classes}; ++c) if (p[c] > p[best]) best = c;
  return best;
}}
"""
        show(f"{what_for}: {version('m2cgen')}, {what}, double", wrong, compiled(folder, code, rows, "double"))
    else:
        print("| m2cgen is not installed | | | | | |")


def error_of(program, model, data, *more):
    return float(re.search(r"^error\s+(\S+)", run(program, "evaluate", model, data, *more), re.M)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sharelearn", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--digits", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--sets", default="shuttle,optdigits")
    parser.add_argument("--quick", action="store_true", help="a coarse grid of forests")
    options = parser.parse_args()
    print("| model | error, % | flash, M0 | flash, M4 | instructions, M0 | instructions, M4 |\n|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, fit in (("shuttle", ["--pool", "stumps", "--features", 10]), ("optdigits", ["--pool", "columns", "--features", 20])):
            if name not in options.sets.split(","):
                continue
            train, test = options.data / name / "train.csv.gz", options.data / name / "test.csv.gz"
            run(options.sharelearn, "fit", "shareboost", train, *fit, "-o", folder / "fitted.model", "--quiet")
            error = error_of(options.sharelearn, folder / "fitted.model", test)
            (x, y), (x_test, y_test) = read(train), read(test)
            ours(folder, options.sharelearn, folder / "fitted.model", test, error, x_test[: options.rows], f"{name}, {fit[3]} {fit[1]}")
            peers(folder, f"{name}, {fit[3]} {fit[1]}", options.quick, x, y, x_test, y_test, error, x_test[: options.rows])
        if options.digits:
            test = options.data / "mnist" / "t10k-images-idx3-ubyte.gz"
            error = error_of(options.sharelearn, options.digits, test, "--early")
            ours(folder, options.sharelearn, options.digits, test, error, range(options.rows), "digits, templates, early stop", early=True)


if __name__ == "__main__":
    main()
