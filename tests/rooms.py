#!/usr/bin/env python3
"""Which room may include which: the folders of src/ and include/sharelearn/, and the fronts.

    tests/rooms.py SOURCE_FOLDER

A room that is not listed beside another must not be included by it, so learn/ knows no model, model/ does not know how it was learned,
loss/ knows no features, and nothing below fit/ knows a front. A new dependency is a decision: it is made here, in the open.
"""
import pathlib
import re
import sys

BASE = {"run", "data"}
MAY_INCLUDE = {
    "run": set(),
    "data": {"run"},
    "kernels": {"data"},
    "text": BASE,
    "generate": BASE,
    "transform": BASE | {"kernels"},
    "pool": BASE | {"kernels", "transform"},
    "loss": BASE | {"kernels"},
    "penalty": BASE,
    "solve": BASE | {"kernels", "loss", "penalty"},
    "state": BASE | {"kernels", "loss", "penalty"},
    "learn": BASE | {"kernels", "transform", "pool", "loss", "penalty", "solve", "state"},
    "analysis": BASE | {"learn", "state"},
    "model": BASE | {"kernels", "transform", "pool", "state"},
    "export": BASE | {"model", "pool", "transform"},
    "report": BASE | {"model"},
    "fit": BASE | {"analysis", "transform", "pool", "loss", "penalty", "solve", "state", "learn", "model", "report"},
    "cli": BASE | {"analysis", "text", "generate", "transform", "model", "export", "report", "fit"},
    "python/bindings": BASE | {"transform", "model", "export", "report", "fit"},
}
# single files that others may include in spite of the table
ALSO = {
    ("kernels", "state/feature_map.hpp"),  # a map from two numbers to one, which the kernel applies to whole rows
}
# rooms that read and write files or print; no other room may include these headers
FILE_ROOMS = {"run", "data", "text", "model", "cli", "python/bindings"}
FILE_HEADERS = re.compile(r'^\s*#\s*include\s*[<"](fstream|iostream|cstdio|sharelearn/data/(?:read|write)\.hpp)[>"]', re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*"(?:sharelearn/)?(([a-z_]+)/[^"]+)"', re.MULTILINE)


def folders_of(room, top):
    if "/" in room or room == "cli":
        return [top / room]
    return [top / "src" / room, top / "include" / "sharelearn" / room]


def faults_of(room, top):
    for folder in folders_of(room, top):
        for path in sorted(folder.rglob("*.[chi]pp")) + sorted(folder.rglob("*.inc")):
            text = path.read_text()
            for header in FILE_HEADERS.findall(text) if room not in FILE_ROOMS else []:
                yield f"{path.relative_to(top)} includes {header}: {room} must not depend on files or print"
            for name, other in INCLUDE.findall(text):
                allowed = other == room or other in MAY_INCLUDE[room] or (room, name) in ALSO
                if other in MAY_INCLUDE and not allowed:
                    yield f"{path.relative_to(top)} includes {name}: {room} must not depend on {other}"


def main():
    top = pathlib.Path(sys.argv[1])
    known = {room for room in MAY_INCLUDE if room != "cli" and "/" not in room}
    present = {folder.name for part in ("src", "include/sharelearn") for folder in (top / part).iterdir() if folder.is_dir()}
    faults = [f"{room}/ is not in the table of {sys.argv[0]}" for room in sorted(present - known)]
    faults += [f"{room}/ does not exist" for room in sorted(known - present)]
    for room in MAY_INCLUDE:
        faults += faults_of(room, top)
    print("\n".join(faults) or "every room includes only what it may")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
