#!/usr/bin/env python3
"""Draws the tables of docs/benchmarks-python.md: test error against the columns that predictions read.

    plot_python.py docs/benchmarks-python.md docs/benchmarks-python.svg
"""

import re
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

matplotlib.rcParams["svg.hashsalt"] = "sharelearn"  # the same file for the same tables


def rows_of(page):
    """(data set, model, columns, error in percent) of every row. The last table names the set in its rows."""
    found, table = [], ""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 6 or not line.startswith("|"):
            continue
        if not re.fullmatch(r"\d+", cells[1]):
            table = cells[0] if cells[1] == "columns used" else table
            continue
        place = table or cells[0]
        model = cells[0] if table else cells[0].split(":")[1]
        model = re.split(r"[,(]", model)[0].strip()
        found.append((re.split(r"[,:]", place)[0], model, int(cells[1]), float(cells[2])))
    return found


def main():
    rows = rows_of(open(sys.argv[1], encoding="utf-8").read())
    models = list(dict.fromkeys(model for _, model, *_ in rows))
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2))
    for ax, data in zip(axes, dict.fromkeys(row[0] for row in rows), strict=True):
        for number, model in enumerate(models):
            points = sorted({(columns, error) for name, other, columns, error in rows if (name, other) == (data, model)})
            if points:
                ax.plot(*zip(*points, strict=True), "o-", color=f"C{number}", label=model, linewidth=2.5 if model == "ShareBoost" else 1)
        ax.set(title=data, xlabel="columns that a prediction reads", ylabel="test error, %", ylim=(0, 50))
        ax.grid(alpha=0.3)
    axes[1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(sys.argv[2], metadata={"Date": None})


if __name__ == "__main__":
    main()
