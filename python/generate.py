"""Writes what follows from the library into python/sharelearn: signatures and docstrings of the estimators from the
tables of options (_estimators.py), and types of the extension module (_core.pyi). --check fails if they are stale.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import Any

from nanobind.stubgen import StubGen

from sharelearn import _core

PACKAGE = Path(__file__).parent / "sharelearn"
TYPES = {
    "flag": "bool",
    "whole": "int",
    "number": "float",
    "text": "str",
    "numbers": "float | Sequence[float]",
    "texts": "Sequence[str]",
    "lists": "Sequence[Sequence[str | int]]",
}
COMMON = [
    ("n_jobs", "int | None", None, "Number of threads; None: one per core. The result does not depend on it."),
    ("verbose", "bool", False, "Show progress."),
]
CALLBACKS = (
    "callbacks",
    "Sequence[Callable[[dict[str, Any]], Any]] | None",
    None,
    "Called after each round with its figures; one that returns False ends the fit.",
)
WARM_START = {
    "shareboost": "fit goes on from the model of the last fit to more features, with the same data and pool columns.",
    "cascade": "With online: fit goes on learning from the model of the last fit, as partial_fit does.",
    "sharing": "fit goes on learning from the model of the last fit, as partial_fit does.",
}
ONLINE = ("online", "bool", False, "Learn from the rows one after the other, in one pass; allows partial_fit.")

SQUARED = {"loss": "squared"}

# Modules of the bases that are not classifiers learned as a whole.
HOMES = {
    "CascadeBase": "_online",
    "SharingBase": "_online",
    "Regressor": "_regressors",
    "PathRegressor": "_regressors",
    "Selector": "_regressors",
}

# name, base, method, what it is, parameters with another default, parameters left out
CLASSES: list[tuple[str, str, str, str, dict[str, Any], set[str]]] = [
    ("ShareBoostClassifier", "BoostingClassifier", "shareboost", "Classifier with few features", {}, {"epsilon"}),
    ("ShareBoostRegressor", "Regressor", "shareboost", "Regression with few features", SQUARED, {"class_weight"}),
    ("ShareBoostSelector", "Selector", "shareboost", "Selection of columns for pipelines", {}, {"loss", "epsilon"}),
    ("GradBoostClassifier", "PathClassifier", "gradboost", "Classifier", {}, {"epsilon"}),
    ("GradBoostRegressor", "PathRegressor", "gradboost", "Regression", SQUARED, {"class_weight"}),
    ("StructuralAdaBoostClassifier", "PathClassifier", "adaboost", "Classifier", {}, {"epsilon"}),
    ("CascadeClassifier", "CascadeBase", "cascade", "Classifier", {}, {"negatives", "epsilon", "task_weight"}),
    (
        "MultitaskCascadeClassifier",
        "CascadeBase",
        "cascade",
        "Several yes/no tasks",
        {"loss": "multitask-hinge"},
        {"epsilon"},
    ),
    ("SharingClassifier", "SharingBase", "sharing", "Online classifier", {}, {"names"}),
]


def literal(default: Any) -> Any:
    """scikit-learn wants defaults that cannot change."""
    return tuple(default) if isinstance(default, list) else default


def field_lines(field: dict[str, Any]) -> str:
    text = field["help"].rstrip(".") + "."
    if field["is_file"] and text.startswith("File of "):
        text = text.removeprefix("File of ")
        text = text[0].upper() + text[1:]
    if field["choices"]:
        text += f" One of {', '.join(field['choices'])}."
    elif field["type"] in ("whole", "number", "numbers"):
        expected = field["expected"]
        text += f" {expected[0].upper()}{expected[1:]}."
    if field["default"] is None and field["default_text"]:
        text += f" None: {field['default_text']}."
    if field["requirement"]:
        text += f" It {field['requirement']}."
    return text


def parameters(
    method: str, changed: dict[str, Any], left_out: set[str], tables: dict[str, Any]
) -> list[tuple[Any, ...]]:
    """(name, annotation, default, help), as the signature has them."""
    fields = [f for f in tables[method]["fields"] if f["name"] not in left_out]
    if method == "cascade":
        known = {f["name"] for f in fields}
        fields += [f for f in tables["online-cascade"]["fields"] if f["name"] not in known]
    result: list[tuple[Any, ...]] = []
    for field in fields:
        default = changed.get(field["name"], literal(field["default"]))
        annotation = TYPES[field["type"]]
        if field["name"] == "random_state":
            annotation, default = "int | np.random.RandomState | None", None
        elif field["name"] == "class_weight":
            annotation, default = "str | dict[Any, float] | None", None
        elif field["name"] == "per_round":
            annotation = "int | str"
        if default is None and "None" not in annotation:
            annotation += " | None"
        result.append((field["name"], annotation, default, field_lines(field)))
    if method == "cascade":
        result.append(("class_weight", "str | dict[Any, float] | None", None, "Weights of classes, or balanced."))
        result.append(ONLINE)
    if method in WARM_START:
        result.append(("warm_start", "bool", False, WARM_START[method]))
    return result + COMMON + ([CALLBACKS] if method != "sharing" else [])


def wrapped(text: str, indent: str) -> str:
    return "\n".join(textwrap.wrap(text, 110, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False))


def write_class(entry: tuple[str, str, str, str, dict[str, Any], set[str]], tables: dict[str, Any]) -> str:
    name, base, method, what, changed, left_out = entry
    table = tables[method]
    doc = [wrapped(f'"""{what}. {table["summary"]}.', "    "), "", "    Parameters", "    ----------"]
    pars = parameters(method, changed, left_out, tables)
    for par, annotation, default, text in pars:
        doc += [f"    {par} : {annotation}, default={default!r}", wrapped(text, "        ")]
    doc.append('    """')
    lines = [f"class {name}({base}):", *doc, "", f'    _method = "{method}"']

    def defaults(of: str) -> str:
        entries = {f["name"]: literal(f["default"]) for f in tables[of]["fields"] if f["name"] not in left_out}
        return "{" + ", ".join(f'"{k}": {v!r}' for k, v in entries.items()) + "}"

    lines.append(f"    _defaults = {defaults(method)}")
    if method == "cascade":
        lines.append(f"    _online_defaults = {defaults('online-cascade')}")
    if name == "MultitaskCascadeClassifier":
        lines.append("    _multilabel = True")
    lines += ["", "    def __init__(", "        self,", "        *,"]
    lines += [f"        {par}: {annotation} = {default!r}," for par, annotation, default, _ in pars]
    lines += ["    ) -> None:"]
    lines += [f"        self.{par} = {par}" for par, *_ in pars]
    return "\n".join(lines) + "\n"


def generated() -> str:
    tables = {table["name"]: table for table in _core.methods()}
    homes: dict[str, set[str]] = {}
    for _, base, *_ in CLASSES:
        homes.setdefault(HOMES.get(base, "_classifiers"), set()).add(base)
    imports = "\n".join(f"from .{home} import {', '.join(sorted(bases))}" for home, bases in sorted(homes.items()))
    head = f'''# Generated by python/generate.py from the library's tables of options; do not edit.
# ruff: noqa: E501
"""The estimators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

{imports}

'''
    return head + "\n\n".join("\n" + write_class(entry, tables) for entry in CLASSES).lstrip("\n").join(["\n", ""])


def stub() -> str:
    """nanobind's stub, with the parameters that strict type checkers ask of its containers."""
    generator = StubGen(_core)
    generator.put(_core)
    text = generator.get()
    text = re.sub(r"\btuple\b(?!\[)", "tuple[Any, ...]", text)
    text = re.sub(r"(?<=: )dict\b(?!\[)|(?<=-> )dict\b(?!\[)", "dict[str, Any]", text)
    text = re.sub(r"\blist\b(?=:)", "list[Any]", text).replace("-> object", "-> Any")
    text = re.sub(r"\bNDArray\b(?![\[\n])", "NDArray[Any]", text)
    return text.replace("from typing import", "from typing import Any,", 1) + "\n__version__: str\n"


def main() -> int:
    for name, text in {"_estimators.py": generated(), "_core.pyi": stub()}.items():
        if "--check" not in sys.argv:
            (PACKAGE / name).write_text(text)
        elif (PACKAGE / name).read_text() != text:
            print(f"python/sharelearn/{name} is not current: run python python/generate.py", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
