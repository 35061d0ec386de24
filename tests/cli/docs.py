#!/usr/bin/env python3
"""Checks that the README's program is the first example, that the commands of the README and of docs/ run, and that the C++ of docs/ compiles:
docs.py SHARELEARN SOURCE_DIR COMPILER

The commands of a page run in their order in one folder, on 400 of the digits where the page says TRAIN or DATA. Commands on data that the tests do not have
(DIR/..., and those of the pages of reproductions, which take long) must at least name options that their command knows."""
import gzip
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.S | re.M)
PROGRAM = re.compile(r"(?:build/release/)?sharelearn ")
FILES = {"TRAIN": "rows.csv", "DATA": "rows.csv", "TEST": "rows.csv", "NEW": "rows.csv", "HELD_OUT": "held_out.csv", "MODEL": "model.model"}
ELSEWHERE = re.compile(r"DIR/|mail")


def commands_of(text):
    """Commands of fences marked sh and of indented lines; a line that ends in a backslash goes on."""
    lines = [line for _, kind, body in FENCE.findall(text) if kind == "sh" for line in textwrap.dedent(body).splitlines()]
    lines += [line[4:] for line in FENCE.sub("", text).splitlines() if line.startswith("    ")]
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [line.strip() for line in joined if PROGRAM.match(line) or line.startswith("printf ")]


def known_options(sharelearn, words):
    """What --help lists for a command."""
    command = words[:2] if words[0] == "fit" else words[:1]
    listed = subprocess.run([sharelearn, *command, "--help"], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"--[a-z0-9][a-z0-9-]*", listed))


def check_options(sharelearn, command):
    words = [word for word in shlex.split(command.split("|")[-1]) if not PROGRAM.match(word + " ")]
    options = {word for word in words if word.startswith("--")}
    unknown = options - known_options(sharelearn, words)
    assert not unknown, f"{command}: no such option: {', '.join(sorted(unknown))}"


def prepare(folder, source, sharelearn):
    """What the pages take for granted."""
    (folder / "examples").symlink_to(source / "examples")
    rows = gzip.decompress((source / "examples/data/digits.csv.gz").read_bytes()).decode().splitlines()
    (folder / "rows.csv").write_text("\n".join(rows[:400]) + "\n")
    (folder / "train.csv").symlink_to("rows.csv")
    (folder / "held_out.csv").write_text("\n".join(3 * rows) + "\n")
    (folder / "groups.txt").write_text("20 21\n28 29\n")
    visits = [f"{i % 12},{i % 12 % 3},{i % 7},{i % 5},{'ill' if i % 7 > 3 else 'well'}\n" for i in range(60)]
    (folder / "visits.csv").write_text("patient,fold,a,b,state\n" + "".join(visits))
    (folder / "costs.txt").write_text("1\n2\n")
    for name in ("model", "digits"):
        run([sharelearn, "fit", "shareboost", "rows.csv", "--features", "12", "--ridge", "0.01", "-o", f"{name}.model", "--quiet"], folder)
    run([sharelearn, "generate", "sharing-common", "--rows", "300", "-o", "train.svm"], folder)


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stderr}"


def run_page(page, sharelearn, source):
    """Runs the commands of a page; their number."""
    commands = commands_of(page.read_text(encoding="utf-8"))
    if not commands:
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder, source, sharelearn)
        for command in commands:
            if "[" in command:
                continue  # a synopsis
            if ELSEWHERE.search(command) or page.name.startswith("reproduction"):
                check_options(sharelearn, command)
                continue
            words = re.sub(r"\b[A-Z_]+\b", lambda m: FILES.get(m[0], m[0]), command)
            words = re.sub(r"(^|\| )(?:build/release/)?sharelearn ", lambda m: f"{m[1]}{shlex.quote(sharelearn)} ", words)
            run(["bash", "-o", "pipefail", "-c", re.sub(r"\| head.*", "> /dev/null", words)], folder)
    return len(commands)


def compile_page(page, source, compiler):
    """Compiles the C++ of a page as one function; whether there is any."""
    snippets = [textwrap.dedent(body) for _, kind, body in FENCE.findall(page.read_text(encoding="utf-8")) if kind == "cpp"]
    if not snippets:
        return 0
    lines = "\n".join(snippets).splitlines()
    head = [line for line in lines if line.startswith("#include")]
    body = [line for line in lines if not line.startswith("#include")]
    program = "\n".join([*head, "void snippets() {", *body, "}"])
    command = [compiler, "-std=c++20", "-fsyntax-only", "-I", str(source / "include"), "-x", "c++", "-"]
    done = subprocess.run(command, input=program, capture_output=True, text=True)
    assert done.returncode == 0, f"{page.name}: {done.stderr}"
    return 1


def main():
    sharelearn, source, compiler = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    readme = source / "README.md"
    program = re.search(r"```cpp\n(.*?)```", readme.read_text(), re.S).group(1)
    assert program == (source / "examples/01_shareboost.cpp").read_text(), "README and examples/01_shareboost.cpp differ"
    pages = sorted((source / "docs").glob("*.md"))
    commands = sum(run_page(page, sharelearn, source) for page in [readme, *pages])
    assert commands >= 60, "the commands of the documentation were not found"
    programs = sum(compile_page(page, source, compiler) for page in pages)
    print(f"{commands} commands run, C++ of {programs} pages compiles, and the README's program is the first example")


if __name__ == "__main__":
    main()
