#!/usr/bin/env python3
"""Checks that docs/options.md equals the output of `sharelearn options`: options_page.py SHARELEARN SOURCE_DIR"""
import pathlib
import subprocess
import sys


def main():
    page = pathlib.Path(sys.argv[2]) / "docs" / "options.md"
    printed = subprocess.run([sys.argv[1], "options"], check=True, capture_output=True, text=True).stdout
    if page.read_text() != printed:
        sys.exit(f"{page} is out of date: run `sharelearn options > docs/options.md`")
    print("docs/options.md is current")


if __name__ == "__main__":
    main()
