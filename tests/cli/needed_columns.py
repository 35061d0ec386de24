#!/usr/bin/env python3
"""Checks, for every kind of model, that a prediction needs the columns that the model reads and no others.

    needed_columns.py SHARELEARN

A column is needed if `predict` refuses a file without it, and names it. Without a column that is not needed, and without all of
them, in another order, predictions and errors must be those of the whole file; text in such a column must not matter.
"""
import pathlib
import random
import subprocess
import sys
import tempfile

COLUMNS = [f"sensor {letter}" for letter in "abcdefghij"]
RIDGE = ["--ridge", "0.01"]
KINDS = {  # options of fit, and the most columns that may be needed
    "columns": (["shareboost", "--features", "3", *RIDGE], 3),
    "stumps": (["shareboost", "--pool", "stumps", "--features", "4", *RIDGE], 4),
    "products": (["shareboost", "--pool", "products", "--features", "2", *RIDGE], 4),
    "kernel": (["shareboost", "--pool", "kernel", "--features", "4", "--support", "20", *RIDGE], 10),
    "pieces": (["shareboost", "--pool", "pieces", "--features", "4", "--centres", "5", *RIDGE], 10),
    "standard": (["shareboost", "--scale", "standard", "--features", "3", *RIDGE], 3),
    "indicator": (["shareboost", "--missing", "indicator", "--features", "3", *RIDGE], 3),
    "gradboost": (["gradboost", "--lambda", "0.05"], 7),
    "adaboost": (["adaboost", "--lambda", "0.05"], 7),
    "onevsrest": (["onevsrest", "--features", "1"], 3),
    "jointboost": (["jointboost", "--rounds", "4"], 4),
    "cascade": (["cascade", "--phi", "0.1,0.05"], 9),
    "treelasso": (["treelasso", "--loss", "multiclass-hinge", "--lambda", "0.05"], 9),
    "online cascade": (["cascade", "--online", "--phi", "0.1,0.05"], 10),
    "sharing": (["sharing"], 10),
}


def write(path, names, rows):
    lines = [",".join([*names, "kind"])]
    lines += [",".join([*(str(row[name]) for name in names), row["kind"]]) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def rows_of(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        row = {name: round(draw.gauss(0, 1), 3) for name in COLUMNS}
        row["kind"] = "uvw"[max(range(3), key=lambda j, row=row: row[COLUMNS[j]])]
        yield row


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    rows = list(rows_of(40, 2))
    with tempfile.TemporaryDirectory() as name:
        here = pathlib.Path(name)
        write(here / "train.csv", COLUMNS, list(rows_of(300, 1)))

        def run(*arguments):
            return subprocess.run([program, *arguments], cwd=here, capture_output=True, text=True)

        def answers(names, texts=()):
            """Predictions and error on a file with these columns only; None and a message if it is refused."""
            write(here / "rows.csv", names, [{**row, **dict.fromkeys(texts, "text")} for row in rows])
            predicted, judged = run("predict", "model", "rows.csv", "--scores"), run("evaluate", "model", "rows.csv")
            assert predicted.returncode == judged.returncode, (names, predicted.stderr, judged.stderr)
            if predicted.returncode == 0:
                error = next(line for line in judged.stdout.splitlines() if line.startswith("error "))
                return (predicted.stdout, error), ""
            assert predicted.returncode == 2, predicted.stderr
            return None, predicted.stderr

        for kind, (options, most) in KINDS.items():
            fitted = run("fit", options[0], "train.csv", *options[1:], "--quiet", "-o", "model")
            assert fitted.returncode == 0, (kind, fitted.stderr)
            whole, _ = answers(COLUMNS)
            needed = []
            for dropped in COLUMNS:
                found, message = answers([name for name in COLUMNS if name != dropped])
                if found is None:
                    assert f"'{dropped}'" in message, (kind, dropped, message)
                    needed.append(dropped)
                else:
                    assert found == whole, (kind, dropped)
            assert 1 <= len(needed) <= most, (kind, needed)
            assert answers(needed[::-1])[0] == whole, kind
            others = [name for name in COLUMNS if name not in needed]
            assert answers(COLUMNS, others)[0] == whole, kind
            print(f"{kind:15} needs {len(needed)} of {len(COLUMNS)} columns")


if __name__ == "__main__":
    main()
