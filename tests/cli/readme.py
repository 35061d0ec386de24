#!/usr/bin/env python3
"""Checks that the README's program is the first example and that its commands run as printed: readme.py SHARELEARN SOURCE_DIR"""
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    sharelearn, source = sys.argv[1], pathlib.Path(sys.argv[2])
    text = (source / "README.md").read_text()
    program = re.search(r"```cpp\n(.*?)```", text, re.S).group(1)
    assert program == (source / "examples/01_shareboost.cpp").read_text(), "README and examples/01_shareboost.cpp differ"
    commands = [line.strip() for line in text.splitlines() if line.startswith("    build/release/sharelearn ")]
    assert len(commands) >= 4, "the README's commands were not found"
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "examples").symlink_to(source / "examples")
        for command in commands:
            run = command.replace("build/release/sharelearn", sharelearn)
            subprocess.run(["bash", "-c", run], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    print(f"1 program, {len(commands)} commands: as printed")


if __name__ == "__main__":
    main()
