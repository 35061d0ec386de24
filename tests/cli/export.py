#!/usr/bin/env python3
"""Exports every stored linear model, and a new one with fitted probabilities, to C, JavaScript and Python and runs the generated checks.

    export.py SHARELEARN FOLDER [arm]

FOLDER holds the models of tests/fixtures/make.py. C is compiled by every compiler found, as C99 and as C++, with warnings as
errors, and once with AddressSanitizer and UndefinedBehaviorSanitizer for random rows, NaN and infinities. In fixed point, the
scores of all compilers must be the same. `arm`: one model per pool is run under QEMU on Cortex-M0, M3, M4 and M33 instead; in fixed
point, scores must be those of this machine. What is not installed is left out with a message; exit code 77 if nothing could be run.
"""
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
ARM = pathlib.Path(__file__).resolve().parent.parent / "export" / "arm"
DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv.gz"
# machine, processor, start of flash, start and size of RAM
CORES = [("microbit", "cortex-m0", 0x0, 0x20000000, "16K"), ("mps2-an385", "cortex-m3", 0x0, 0x20000000, "2M"),
         ("mps2-an386", "cortex-m4", 0x0, 0x20000000, "2M"), ("mps2-an505", "cortex-m33", 0x10000000, 0x38000000, "2M")]
LINKER_SCRIPT = """MEMORY {{ FLASH (rx) : ORIGIN = {flash:#x}, LENGTH = 256K  RAM (rwx) : ORIGIN = {ram:#x}, LENGTH = {size} }}
SECTIONS {{
  .text : {{ KEEP(*(.vectors)) *(.text*) *(.rodata*) KEEP(*(.init)) KEEP(*(.fini)) }} > FLASH
  .init_array : {{ __preinit_array_start = .; __preinit_array_end = .; __init_array_start = .; KEEP(*(.init_array*)) __init_array_end = .; __fini_array_start = .; KEEP(*(.fini_array*)) __fini_array_end = .; }} > FLASH
  .ARM.exidx : {{ *(.ARM.exidx*) }} > FLASH
  .data : {{ *(.data*) }} > RAM
  .bss : {{ __bss_start__ = .; *(.bss*) *(COMMON) __bss_end__ = .; }} > RAM
  end = .;
  __end__ = .;
  stack_top = ORIGIN(RAM) + LENGTH(RAM);
}}
"""
# Every row that a caller could pass: random bytes are NaN, infinities and denormals as well as numbers.
FUZZ = """#define {name}_PROBA
#include "{name}.h"
#include <string.h>
int main(void) {{
  static {name}_number x[{name}_COLUMNS + 1];
  unsigned seed = 1, i, round;
  for (round = 0; round < 300; ++round) {{
    for (i = 0; i < sizeof x; ++i) {{
      unsigned char byte = (unsigned char)((seed = seed * 1664525u + 1013904223u) >> 24);
      if (round % 3 == 1 && i % 4 >= 2) byte = i % 4 == 2 ? 0xC0 : 0x7F;
      memcpy((unsigned char *)x + i, &byte, 1);
    }}
    {name}_score scores[{name}_OUTPUTS];
    {work}
    {name}_scores(x, {argument}scores);
    {proba}
  }}
  return 0;
}}
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=300, **options)


def must(*command, **options):
    done = run(*command, **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command[:8]))}: exit code {done.returncode}: {(done.stdout + done.stderr)[-600:]}")
    return done.stdout


def python_with_numpy():
    """This interpreter, or Debian's; None: neither has NumPy."""
    for python in (sys.executable, "/usr/bin/python3"):
        if shutil.which(python) and run(python, "-c", "import numpy").returncode == 0:
            return python
    return None


def same_digest(said):
    """Fixed point: the programs print a digest of all scores."""
    digests = {text.split("digest ")[1] for text in said if "digest " in text}
    if len(digests) > 1:
        raise AssertionError(f"scores in fixed point differ: {said}")


def compile_host(check, name, into):
    said = []
    for compiler, plus in (("gcc", "g++"), ("clang", "clang++"), ("clang-16", "clang++-16")):
        if not shutil.which(compiler):
            continue
        for level in ("-O2", "-Os"):
            must(compiler, "-std=c99", level, *WARNINGS, check, "-lm", "-o", into / "check")
            said.append(must(into / "check"))
        if shutil.which(plus):
            must(plus, "-x", "c++", "-O2", *WARNINGS, check, "-lm", "-o", into / "check")
            said.append(must(into / "check"))
    same_digest(said)
    header = (into / f"{name}.h").read_text()
    work = f"{name}_work work;" if f"}} {name}_work;" in header else ""
    argument = "&work, " if work else ""
    proba = f"{{ float p[{name}_OUTPUTS]; {name}_proba(x, {argument}p); }}" if f" {name}_proba(" in header else ""
    (into / "fuzz.c").write_text(FUZZ.format(name=name, work=work, argument=argument, proba=proba))
    must("gcc", "-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", into / "fuzz.c", "-lm", "-o", into / "fuzz")
    must(into / "fuzz")


def run_arm(check, into):
    must("gcc", "-std=c99", "-O1", check, "-lm", "-o", into / "check")
    said = [must(into / "check")]
    for machine, processor, flash, ram, size in CORES:
        (into / "link.ld").write_text(LINKER_SCRIPT.format(flash=flash, ram=ram, size=size))
        must("arm-none-eabi-gcc", "-std=c99", "-Os", f"-mcpu={processor}", "-mthumb", "--specs=rdimon.specs", "-T", into / "link.ld",
             "-ffunction-sections", "-Wl,--gc-sections", ARM / "start.c", check, "-lm", "-o", into / "check.elf")
        said.append(must("qemu-system-arm", "-machine", machine, "-nographic", "-semihosting-config", "enable=on,target=native",
                         "-monitor", "none", "-serial", "none", "-kernel", into / "check.elf"))
    same_digest(said)


def check_model(program, folder, name, entry, into, arm, one_per_pool, python):
    model, plain = into / "stored.model", name.replace("-", "_")
    if name == "calibrated":
        must(program, "fit", "shareboost", folder / entry["data"], "--features", 12, "--ridge", 0.001, "--quiet", "-o", model)
        if '"confidence"' not in must(program, "describe", model, "--json"):
            raise AssertionError("the model has no map of the confidence")
    else:
        model.write_bytes(gzip.decompress((folder / f"{name}.model.gz").read_bytes()))
    reading = [a for option in ("--features", "--missing") if option in entry["reading"]
               for a in (option, entry["reading"][entry["reading"].index(option) + 1])]
    export = lambda to, file, *more: must(program, "export", model, "--to", to, "-o", into / file, "--check", folder / entry["data"],
                                          "--check-rows", 15 if arm else 100, *reading, *more)
    if python:
        export("python", f"{plain}.py")
        must(python, into / f"{plain}_check.py")
    if not arm and shutil.which("node"):
        export("js", f"{plain}.mjs")
        must("node", into / f"{plain}_check.mjs")
    if name == "patches-scaled":  # templates of scaled images are refused in C
        return
    # Fixed point differs by pool; int8 and int16 differ in nothing but their weights.
    for arithmetic in ("float", "int16", "int8") if one_per_pool else ("float",):
        if arm and arithmetic == "int16" and name not in ("columns", "kernel"):
            continue
        export("c", f"{plain}.h", "--arithmetic", arithmetic)
        if arm:
            run_arm(into / f"{plain}_check.c", into)
        else:
            compile_host(into / f"{plain}_check.c", plain, into)


def main():
    program, folder, arm = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:] == ["arm"]
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm") if arm else ("node", "gcc", "clang-16"):
        if not shutil.which(tool):
            print(f"{tool} is not installed: what needs it is left out")
            if arm:
                return 77
    python = None if arm else python_with_numpy()
    if not arm and not python:
        print("NumPy is not installed: exports to Python are not run")
    index = json.loads((folder / "index.json").read_text())
    chosen = {name: entry for name, entry in index.items() if not name.startswith("sharing") and "--levels" not in entry["reading"]}
    chosen["calibrated"] = {"data": DIGITS, "reading": []}
    one_per_pool = ("calibrated", "columns", "columns-missing", "stumps", "products", "kernel", "pieces-pca", "cascade-fourier", "patches", "patches-deskew")
    if arm:
        chosen = {name: chosen[name] for name in one_per_pool}
    failed = 0
    for name, entry in chosen.items():
        with tempfile.TemporaryDirectory() as into:
            try:
                check_model(program, folder, name, entry, pathlib.Path(into), arm, name in one_per_pool, python)
            except AssertionError as problem:
                failed += 1
                print(f"{name}: {problem}")
    print(f"{len(chosen) - failed} of {len(chosen)} exported models predict the same")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
