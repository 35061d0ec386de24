"""The program `sharelearn` of the wheel."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).with_name("sharelearn")
    if sys.platform == "win32":
        import subprocess

        sys.exit(subprocess.call([str(program), *sys.argv[1:]]))
    os.execv(program, [str(program), *sys.argv[1:]])
