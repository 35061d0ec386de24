#!/usr/bin/env python3
"""Runs the program on small inputs and compares its behaviour with the expectations of test cases.

    run.py SHARELEARN CASES.json [NAME]

CASES.json holds {"files": {name: text}, "cases": [case, ...]}; each case runs in a separate folder that holds the files.
A byte that is not valid UTF-8 is written as "\\udcXX".
A case is {"name": ..., "steps": [step, ...]} or has the keys of its only step:

    run       list of arguments; "{data}" is the folder examples/data
    stdin     text given to the program
    onto      file that standard output goes to; the output is then not checked
    exit      expected exit code, 0 unless given
    stdout    the whole output, or null for any
    has       list of texts that standard output must hold
    lacks     list of texts that standard output must not hold
    order     list of texts that standard output must hold one after the other
    error     list of texts that standard error must hold
    json      {file: {path: value}}: a path such as "rounds.0.features"; a value, or {"min": a, "max": b}
    exists    list of files that must be there
    absent    list of files that must not be there
    same      list of two files with the same bytes
"""
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile


def lookup(value, path):
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def check_json(folder, expectations, problems):
    for name, paths in expectations.items():
        content = json.loads((folder / name).read_text())
        for path, expected in paths.items():
            try:
                found = lookup(content, path)
            except (KeyError, IndexError, TypeError, ValueError):
                problems.append(f"{name}: there is no {path}")
                continue
            if isinstance(expected, dict) and set(expected) <= {"min", "max"}:
                if not expected.get("min", found) <= found <= expected.get("max", found):
                    problems.append(f"{name}: {path} is {found}, expected {expected}")
            elif found != expected:
                problems.append(f"{name}: {path} is {found!r}, expected {expected!r}")


def check_files(folder, step, problems):
    problems += [f"{name} is not there" for name in step.get("exists", []) if not (folder / name).exists()]
    problems += [f"{name} is there" for name in step.get("absent", []) if (folder / name).exists()]
    if "same" in step and len({(folder / name).read_bytes() for name in step["same"]}) != 1:
        problems.append(f"{step['same']} differ")


def check_order(text, parts, problems):
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            problems.append(f"standard output lacks {part!r}, or has it too early")
            return
        at += len(part)


def run_step(program, data, folder, step):
    arguments = [argument.replace("{data}", data) for argument in step["run"]]
    with open(step["onto"], "w") if "onto" in step else contextlib.nullcontext(subprocess.PIPE) as onto:
        done = subprocess.run([program, *arguments], cwd=folder, input=step.get("stdin", ""), text=True,
                              errors="surrogateescape", stdout=onto, stderr=subprocess.PIPE, timeout=120)
    done.stdout = done.stdout or ""
    problems = []
    if done.returncode != step.get("exit", 0):
        problems.append(f"exit code {done.returncode}, expected {step.get('exit', 0)}")
    if step.get("stdout") is not None and done.stdout != step["stdout"]:
        problems.append(f"standard output differs from {step['stdout']!r}")
    problems += [f"standard output lacks {text!r}" for text in step.get("has", []) if text not in done.stdout]
    problems += [f"standard output holds {text!r}" for text in step.get("lacks", []) if text in done.stdout]
    check_order(done.stdout, step.get("order", []), problems)
    problems += [f"standard error lacks {text!r}" for text in step.get("error", []) if text not in done.stderr]
    if not problems:
        check_json(folder, step.get("json", {}), problems)
        check_files(folder, step, problems)
    if problems:
        print(f"  $ sharelearn {' '.join(arguments)}")
        print("".join(f"    {problem}\n" for problem in problems), end="")
        print(f"    standard output: {done.stdout[:2000]!r}\n    standard error: {done.stderr[:2000]!r}")
    return not problems


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    suite = json.loads(pathlib.Path(sys.argv[2]).read_text())
    wanted = sys.argv[3] if len(sys.argv) > 3 else None
    data = str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "data")
    failed = 0
    for case in suite["cases"]:
        if wanted and case["name"] != wanted:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file, text in suite.get("files", {}).items():
                (folder / file).write_text(text, errors="surrogateescape")
            passed = all(run_step(program, data, folder, step) for step in case.get("steps", [case]))
        print(("ok      " if passed else "FAILED  ") + case["name"])
        failed += not passed
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
