"""The same data and options give the same model file from Python and from the command line."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sharelearn as sl
from sharelearn import _core
from sharelearn._data import data_of, set_classes, set_indicators

FLAGS = {"n_features": "features", "lambda_": "lambda", "validation_fraction": "validation", "random_state": "seed"}


def arguments(options):
    for name, value in options.items():
        flag = FLAGS.get(name, name).replace("_", "-")
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        else:
            yield f"--{flag}"
            yield ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def command_line(program, method, file, folder, options):
    model = folder / "model.shl"
    run = [program, "fit", method, str(file), "-o", str(model), "--quiet", *arguments(options)]
    subprocess.run(run, check=True, capture_output=True, text=True)
    return model.read_bytes()


def python(method, data, options):
    return _core.fit(method, options, data)[0].to_bytes()


POOLS = [
    {"pool": "columns"},
    {"pool": "stumps"},
    {"pool": "stumps", "bins": 16},
    {"pool": "products", "with_columns": True},
    {"pool": "kernel", "support": 30},
    {"pool": "pieces", "centres": 5, "radii": 3},
]
METHODS = {
    "shareboost": {"n_features": 6, "ridge": 0.01},
    "onevsrest": {"n_features": 6, "ridge": 0.01},
    "gradboost": {"path": 5, "path_min": 0.1},
    "adaboost": {"path": 5, "path_min": 0.1},
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory, digits):
    X, y = digits
    X = np.asfortranarray(X[:200, 20:36], dtype=np.float32)
    file = tmp_path_factory.mktemp("rows") / "rows.npz"
    np.savez(file, x=X, y=y[:200])
    return file, X, y[:200]


def labelled(X, y):
    data = data_of(X)
    set_classes(data, y)
    return data


@pytest.mark.parametrize("pool", POOLS, ids=lambda pool: "-".join(map(str, pool.values())))
@pytest.mark.parametrize("method", METHODS)
def test_every_pool(program, tmp_path, rows, method, pool):
    file, X, y = rows
    options = METHODS[method] | pool
    assert python(method, labelled(X, y), options) == command_line(program, method, file, tmp_path, options)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("jointboost", {"rounds": 5}),
        ("cascade", {"phi": [0.05, 0.02], "levels": 2}),
        ("cascade", {"phi": [0.05], "levels": 1, "loss": "multitask-logistic"}),
        ("treelasso", {"lambda_": 0.01}),
        ("shareboost", {"n_features": 5, "folds": 3, "ridge": 0.01}),
        ("shareboost", {"n_features": 5, "validation_fraction": 0.3, "random_state": 7, "rule": "exact"}),
        ("gradboost", {"lambda_": 0.02, "penalty": "l1l2"}),
        ("gradboost", {"path": 4, "loss": "multitask"}),
        ("gradboost", {"path": 4, "loss": "regression"}),
    ],
    ids=str,
)
def test_every_method(program, tmp_path, rows, method, options):
    file, X, y = rows
    assert python(method, labelled(X, y), options) == command_line(program, method, file, tmp_path, options)


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (sl.ShareBoostClassifier, {"n_features": 6}),
        (sl.GradBoostClassifier, {"path": 5}),
        (sl.StructuralAdaBoostClassifier, {"path": 5}),
        (sl.CascadeClassifier, {"phi": [0.05]}),
        (sl.ShareBoostRegressor, {"n_features": 4, "loss": "squared"}),
        (sl.GradBoostRegressor, {"path": 4, "loss": "squared"}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_every_estimator(program, tmp_path, rows, estimator, options):
    file, X, y = rows
    expected = command_line(program, estimator._method, file, tmp_path, options)
    assert estimator(**options).fit(X, y).model_.to_bytes() == expected


def test_images(program, tmp_path, digits):
    X, y = digits
    images = X[:150].reshape(-1, 8, 8).astype(np.float32)
    np.savez(tmp_path / "images.npz", x=images, y=y[:150])
    options = {"n_features": 3, "pool": "patches", "templates": "3:20", "ridge": 0.01}
    estimator = sl.ShareBoostClassifier(**options).fit(images, y[:150])
    expected = command_line(program, "shareboost", tmp_path / "images.npz", tmp_path, options)
    assert estimator.model_.to_bytes() == expected


def test_online_methods(program, tmp_path, rows):
    file, X, y = rows
    online = {"online": True, "phi": [0.01], "levels": 1}
    cascade = sl.CascadeClassifier(**online).fit(X, y)
    assert cascade.model_.to_bytes() == command_line(program, "cascade", file, tmp_path, online)
    sharing = sl.SharingClassifier(hypotheses="hybrid").fit(X, y)
    assert sharing.model_.to_bytes() == command_line(program, "sharing", file, tmp_path, {"hypotheses": "hybrid"})


def test_sparse_rows_with_lists_of_tasks(program, tmp_path):
    import scipy.sparse

    rng = np.random.default_rng(3)
    X = scipy.sparse.random_array((60, 12), density=0.4, rng=rng, format="csr", dtype=np.float32)
    y = (rng.random((60, 3)) < 0.5).astype(int)
    lines = []
    for i in range(60):
        tasks = ",".join(str(task) for task in np.flatnonzero(y[i]))
        row = X[[i]].tocoo()
        entries = " ".join(
            f"{j + 1}:{v!r}" for j, v in sorted(zip(row.col.tolist(), map(float, row.data), strict=True))
        )
        lines.append(f"{tasks} {entries}")
    (tmp_path / "rows.svm").write_text("\n".join(lines) + "\n")
    options = {"path": 4, "loss": "multitask"}
    data = data_of(X)
    set_indicators(data, y)
    expected = command_line(program, "gradboost", tmp_path / "rows.svm", tmp_path, options)
    assert python("gradboost", data, options) == expected


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**31),
    rows=st.integers(12, 60),
    columns=st.integers(1, 8),
    classes=st.integers(2, 4),
    weighted=st.booleans(),
    text=st.booleans(),
    scale=st.sampled_from(["none", "minmax", "standard"]),
    method=st.sampled_from([*METHODS, "cascade"]),
    pool=st.sampled_from(["columns", "stumps", "products"]),
)
def test_any_table(program, tmp_path, seed, rows, columns, classes, weighted, text, scale, method, pool):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)).astype(np.float32)
    y = np.arange(rows) % classes
    labels = np.array([f"c{k}" for k in y]) if text else y
    weights = rng.integers(1, 4, rows).astype(float)
    header = [f"x{j}" for j in range(columns)] + ["weight"] * weighted + ["label"]
    table = [",".join(header)]
    for i in range(rows):
        entries = [repr(float(v)) for v in X[i]] + [str(weights[i])] * weighted + [str(labels[i])]
        table.append(",".join(entries))
    (tmp_path / "table.csv").write_text("\n".join(table) + "\n")
    options = {"scale": scale} | ({"phi": [0.05]} if method == "cascade" else METHODS[method] | {"pool": pool})
    data = labelled(X, labels)
    data.column_names, data.label_name = header[:columns], "label"  # the model remembers the label column
    if weighted:
        data.set_weights(weights)
    flags = options | ({"weight_column": "weight"} if weighted else {})
    expected = command_line(program, method, tmp_path / "table.csv", tmp_path, flags)
    assert python(method, data, options) == expected
