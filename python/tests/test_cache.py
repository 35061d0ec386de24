"""Rows in files: written from batches of every kind, learned from, and refused where they are wrong."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
import scipy.sparse

import sharelearn as sl

FEW = {"n_features": 4, "ridge": 0.01}


def batches(X, y, size=130):
    for begin in range(0, len(y), size):
        yield X[begin : begin + size], y[begin : begin + size]


def test_a_cache_gives_the_model_of_the_array(digits, tmp_path):
    X, y = digits
    for expected_rows in (None, len(y)):
        rows = sl.Cache.write(tmp_path / "digits.shd", batches(X, y), rows=expected_rows)
        assert rows.shape == X.shape and len(rows) == len(y) and rows.labels.tolist() == y.tolist()
        assert rows.weights is None and rows.column_names == []
        for estimator in (sl.ShareBoostClassifier(**FEW), sl.GradBoostClassifier(path=5)):
            of_array = estimator.fit(X, y).model_.to_bytes()
            assert estimator.fit(rows, rows.labels).model_.to_bytes() == of_array
            np.testing.assert_array_equal(estimator.predict(rows), estimator.predict(X))
            np.testing.assert_array_equal(estimator.predict_proba(rows), estimator.predict_proba(X))


def test_the_file_is_the_command_lines(digits, tmp_path, program):
    X, y = digits
    np.savetxt(tmp_path / "digits.csv", np.column_stack([X, y]), fmt="%g", delimiter=",")
    subprocess.run([program, "cache", "digits.csv", "-o", "theirs.shd"], cwd=tmp_path, check=True)
    theirs = sl.Cache(tmp_path / "theirs.shd")
    ours = sl.Cache.write(tmp_path / "ours.shd", batches(X, y))
    assert ours.labels.dtype == theirs.labels.dtype == np.int64 and (ours.labels == theirs.labels).all()
    models = [sl.ShareBoostClassifier(**FEW).fit(rows, rows.labels).model_ for rows in (ours, theirs)]
    assert models[0].to_bytes() == models[1].to_bytes()
    fit = [program, "fit", "shareboost", "ours.shd", "--features", "4", "--ridge", "0.01", "-o", "model", "--quiet"]
    subprocess.run(fit, cwd=tmp_path, check=True)
    assert (tmp_path / "model").read_bytes() == models[0].to_bytes()


def test_batches_of_every_kind(digits, tmp_path):
    arrow, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    X, y = digits
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    names = [f"pixel{j}" for j in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names)
    table = arrow.table(frame)
    text = np.array(list("abcdefghij"))[y]
    weight = 1.0 + y
    kinds = {
        "memmap": ((mapped[i : i + 90], y[i : i + 90]) for i in range(0, len(y), 90)),
        "frame": ((frame[i : i + 90], y[i : i + 90]) for i in range(0, len(y), 90)),
        "arrow": ((table.slice(i, 90), y[i : i + 90]) for i in range(0, len(y), 90)),
        "sparse": ((scipy.sparse.csr_array(X[i : i + 90]), y[i : i + 90]) for i in range(0, len(y), 90)),
        "weighted": ((X[i : i + 90], text[i : i + 90], weight[i : i + 90]) for i in range(0, len(y), 90)),
        "images": ((X[i : i + 90].reshape(-1, 8, 8), y[i : i + 90]) for i in range(0, len(y), 90)),
        "unlabelled": (X[i : i + 90] for i in range(0, len(y), 90)),
    }
    expected = sl.ShareBoostClassifier(**FEW).fit(X, y).predict(X)
    of_sparse = sl.ShareBoostClassifier(**FEW).fit(scipy.sparse.csr_array(X), y).predict(X)  # scaled in another way
    for kind, parts in kinds.items():
        rows = sl.Cache.write(tmp_path / kind, parts)
        assert rows.shape == X.shape
        assert rows.column_names == (names if kind in ("frame", "arrow") else [])
        if kind == "weighted":
            assert rows.labels.tolist() == text.tolist() and rows.weights.tolist() == weight.tolist()
            estimator = sl.ShareBoostClassifier(**FEW).fit(rows, rows.labels, rows.weights)
            of_arrays = sl.ShareBoostClassifier(**FEW).fit(X, text, weight)
            assert estimator.model_.to_bytes() == of_arrays.model_.to_bytes()
        elif kind == "unlabelled":
            assert rows.labels is None
            assert (sl.ShareBoostClassifier(**FEW).fit(rows, y).predict(rows) == expected).all()
        else:
            estimator = sl.ShareBoostClassifier(**FEW).fit(rows, rows.labels)
            assert (estimator.predict(rows) == (of_sparse if kind == "sparse" else expected)).all()
            assert hasattr(estimator, "feature_names_in_") == (kind in ("frame", "arrow"))


def test_numbers_are_targets(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 5)).astype(np.float32)
    y = X[:, 1] - 0.5 * X[:, 3] + 0.25
    rows = sl.Cache.write(tmp_path / "rows.shd", batches(X, y))
    assert rows.labels.dtype == np.float64
    estimator = sl.ShareBoostRegressor(n_features=2, ridge=1e-6).fit(rows, rows.labels)
    assert estimator.score(rows, rows.labels) > 0.99


def test_wrong_batches_leave_no_file(digits, tmp_path):
    X, y = digits
    path = tmp_path / "rows.shd"

    def fails(parts, match, **options):
        with pytest.raises((ValueError, TypeError), match=match):
            sl.Cache.write(path, parts, **options)
        assert list(tmp_path.iterdir()) == []

    fails([], "no rows")
    fails([(X, y), (X[:, 1:], y)], "63 columns")
    fails([(X, y[1:])], "399 labels for 400 rows")
    fails([(X, y), X], "some batches have labels")
    fails([X, scipy.sparse.csr_array(X)], "some batches are sparse")
    fails([np.ones((3, 2)), np.full((3, 2), np.inf)], "batch 1 .* infinity")
    fails([X], "rows", rows=1000)
    fails([np.array([["a"]])], "convert string to float|dtype")
    pandas = pytest.importorskip("pandas")
    fails([pandas.DataFrame({"city": ["Oslo", "Rome"]})], "column 'city' holds text")

    def interrupted():
        yield X, y
        raise RuntimeError("the source fails")

    with pytest.raises(RuntimeError, match="the source fails"):
        sl.Cache.write(path, interrupted())
    assert list(tmp_path.iterdir()) == []


def test_wrong_files_and_columns_are_refused(digits, tmp_path):
    X, y = digits
    (tmp_path / "text").write_text("1,2\n")
    with pytest.raises(ValueError, match="text"):
        sl.Cache(tmp_path / "text")
    with pytest.raises(ValueError, match="missing"):
        sl.Cache(tmp_path / "missing")
    rows = sl.Cache.write(tmp_path / "rows.shd", [(X, y)])
    estimator = sl.ShareBoostClassifier(**FEW).fit(X[:, 1:], y)
    with pytest.raises(ValueError, match="64 features"):
        estimator.predict(rows)
    holes = X.copy()
    holes[3, 20] = np.nan
    rows = sl.Cache.write(tmp_path / "holes.shd", [(holes, y)])
    with pytest.raises(ValueError, match="NaN"):
        sl.ShareBoostClassifier(**FEW).fit(rows, y)
    filled = sl.ShareBoostClassifier(**FEW, missing="mean").fit(rows, y)
    assert filled.model_.to_bytes() == sl.ShareBoostClassifier(**FEW, missing="mean").fit(holes, y).model_.to_bytes()
