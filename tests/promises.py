#!/usr/bin/env python3
"""Every test that docs/promises.md names exists, and every promise names one.

    tests/promises.py SOURCE_FOLDER
"""
import json
import pathlib
import re
import sys


def unit_tests(top):
    for path in (top / "tests").glob("*/*_test.cpp"):
        for suite, name in re.findall(r"(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP)\(\s*(\w+),\s*(\w+)", path.read_text()):
            yield f"{path.parent.name}.{suite}.{name}"


def program_tests(top):
    """CTest's names, and the cases of each file of cases."""
    for path in top.glob("tests/**/CMakeLists.txt"):
        for name in re.findall(r"add_test\(\s*NAME ([\w.]+)(?=\s)", path.read_text()):
            yield name
        yield from (f"cli.{name}" for name in re.findall(r"cli_script\((\w+) \d", path.read_text()))
    for path in (top / "tests" / "cli" / "cases").glob("*.json"):
        yield f"cli.{path.stem}"
        for case in json.loads(path.read_text())["cases"]:
            yield f"cli.{path.stem}: {case['name']}"
    for folder in (top / "tests" / "fixtures" / "models").iterdir():
        yield from (f"cli.{script}.{folder.name}" for script in ("fixtures", "recompute", "model_format"))
    yield from ("cli.export.host", "cli.export.arm")


def python_tests(top):
    for path in (top / "python" / "tests").glob("test_*.py"):
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE):
            yield f"{path.relative_to(top)}::{name}"


def fuzz_targets(top):
    for name in re.search(r"targets=\((.*?)\)", (top / "scripts" / "fuzz").read_text()).group(1).split():
        if (top / "fuzz" / f"{name}.cpp").exists():
            yield f"fuzz/{name}.cpp"


def main():
    top = pathlib.Path(sys.argv[1])
    known = {*unit_tests(top), *program_tests(top), *python_tests(top), *fuzz_targets(top)}
    rows = re.findall(r"^\| (.*?) \| (.*) \|$", (top / "docs" / "promises.md").read_text(), re.MULTILINE)
    rows = [(promise, re.findall(r"`([^`]+)`", tests)) for promise, tests in rows if promise != "promise"]
    faults = [f"no test: {promise}" for promise, tests in rows if not tests]
    faults += [f"there is no test {test}: {promise}" for promise, tests in rows for test in tests if test not in known]
    print("\n".join(faults) or f"{len(rows)} promises name tests that exist")
    return 1 if faults or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
