"""Results of the scripts of this folder, for the page that bench/all makes of them.

A script that the page shows has a constant PAGE (see bench/all) and calls record() for every line that it measures. Where the environment
variable SHARELEARN_RESULTS names a file, each record becomes a line of JSON in it; otherwise nothing happens.
"""
import importlib.metadata
import json
import os


def version(name, distribution=None):
    """`name` with the version of the package that provides it, if it is installed."""
    try:
        return f"{name} {importlib.metadata.version(distribution or name)}"
    except importlib.metadata.PackageNotFoundError:
        return name


def record(case, tool, measures, ratio=None, note=""):
    """`measures`: names and figures of the line, such as {"CPU s": 1.5, "gap": 1e-4}. `ratio`: how many times as much as sharelearn the tool
    takes in the same run; None for sharelearn itself. `note`: why something is missing, or "at least" for a tool that was stopped."""
    path = os.environ.get("SHARELEARN_RESULTS")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"case": case, "tool": tool, "measures": measures, "ratio": ratio, "note": note}) + "\n")
