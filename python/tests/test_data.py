"""Rows of every kind that Python has, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import sharelearn as sl
from sharelearn import _core
from sharelearn._data import data_of, encoded

FEW = {"n_features": 4, "ridge": 0.01}


@pytest.fixture
def table(digits):
    """A table of Arrow with the types that have a number for each value, and the same numbers as an array."""
    arrow = pytest.importorskip("pyarrow")
    X, y = digits
    X = X[:, 10:20].astype(np.float32)
    types = [arrow.float32(), arrow.float64(), arrow.int8(), arrow.uint8(), arrow.int16(), arrow.uint16()]
    types += [arrow.int32(), arrow.uint32(), arrow.int64(), arrow.uint64()]
    columns = [arrow.array(X[:, j].astype(types[j].to_pandas_dtype()), type=types[j]) for j in range(10)]
    names = [f"pixel{j}" for j in range(10)]
    flag = arrow.array(X[:, 3] > 4)
    return arrow.table([*columns, flag], names=[*names, "flag"]), np.column_stack([X, X[:, 3] > 4]), y


def test_arrow_streams_give_the_models_of_arrays(table):
    rows, X, y = table
    expected = sl.ShareBoostClassifier(**FEW).fit(X, y)
    parts = rows.slice(0, 7).to_batches() + rows.slice(7).to_batches(max_chunksize=50)  # offsets that are not 0
    for source in (rows, type(rows).from_batches(parts), type(rows).from_batches(parts).to_reader()):
        estimator = sl.ShareBoostClassifier(**FEW).fit(source, y)
        assert estimator.feature_names_in_.tolist() == rows.column_names
        assert [f["column"] for f in estimator.model_.features] == [f["column"] for f in expected.model_.features]
        np.testing.assert_array_equal(estimator.predict_proba(rows), expected.predict_proba(X))


def test_polars_frames_are_arrow_streams(table):
    polars = pytest.importorskip("polars")
    rows, X, y = table
    frame = polars.from_arrow(rows)
    estimator = sl.ShareBoostClassifier(**FEW).fit(frame, y, sample_weight=np.ones(len(y)))
    np.testing.assert_array_equal(estimator.predict(frame), sl.ShareBoostClassifier(**FEW).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        estimator.predict(frame.select(reversed(frame.columns)))
    with pytest.raises(ValueError, match="is expecting 11 features"):
        estimator.predict(frame[:, :5])


def test_missing_values_of_arrow_are_filled_in(table):
    arrow = pytest.importorskip("pyarrow")
    rows, X, y = table
    with_nulls = rows.set_column(0, "pixel0", arrow.array([None] * 9 + X[9:, 0].tolist(), type=arrow.float32()))
    X = X.copy()
    X[:9, 0] = np.nan
    with pytest.raises(ValueError, match="missing='mean'"):
        sl.ShareBoostClassifier(**FEW).fit(with_nulls, y)
    filled = sl.ShareBoostClassifier(**FEW, missing="mean").fit(with_nulls, y)
    expected = sl.ShareBoostClassifier(**FEW, missing="mean").fit(X, y)
    np.testing.assert_array_equal(filled.predict_proba(with_nulls), expected.predict_proba(X))


def test_parquet_is_read_in_batches(table, tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows, X, y = table
    parquet.write_table(rows, tmp_path / "rows.parquet", row_group_size=64)
    reader = dataset.dataset(tmp_path / "rows.parquet").scanner(batch_size=32).to_reader()
    estimator = sl.ShareBoostClassifier(**FEW).fit(reader, y)
    np.testing.assert_array_equal(estimator.predict(rows), sl.ShareBoostClassifier(**FEW).fit(X, y).predict(X))


def test_columns_that_are_not_numbers_are_named(table):
    arrow = pytest.importorskip("pyarrow")
    rows, _, y = table
    text = arrow.array(["a", "b"] * (len(y) // 2))
    for values, message in (
        (text, "column 'city' holds text: encode it"),
        (text.dictionary_encode(), "column 'city' holds categories: encode it"),
        (arrow.array([0] * len(y), type=arrow.date32()), "column 'city' has Arrow's type 'tdD'"),
    ):
        with pytest.raises(ValueError, match=message):
            sl.ShareBoostClassifier(**FEW).fit(rows.append_column("city", values), y)
    with pytest.raises(ValueError, match="labels for"):
        sl.ShareBoostClassifier(**FEW).fit(rows, y[:-1])


def test_values_that_are_not_finite_are_refused(digits):
    X, y = digits
    estimator = sl.ShareBoostClassifier(**FEW).fit(X, y)
    used = estimator.model_.inputs[0]
    for value, message in ((np.nan, "NaN"), (np.inf, "infinity")):
        bad = X.copy()
        bad[3, used] = value
        for rows in (bad, bad.astype(np.float32), np.asfortranarray(bad, np.float32)):
            with pytest.raises(ValueError, match=message):
                estimator.predict(rows)
            with pytest.raises(ValueError, match=message):
                sl.ShareBoostClassifier(**FEW).fit(rows, y)


def test_infinity_in_columns_that_are_not_read_does_no_harm_in_large_data(digits):
    X, y = digits
    estimator = sl.ShareBoostClassifier(**FEW).fit(X, y)
    large = np.asfortranarray(np.tile(X, (45, 1)), np.float32)
    assert large.size > 2**20
    unused = next(j for j in range(64) if j not in estimator.model_.inputs)
    expected = estimator.predict(large)
    large[5, unused] = np.inf
    np.testing.assert_array_equal(estimator.predict(large), expected)
    large[5, estimator.model_.inputs[0]] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        estimator.predict(large)
    large[5, unused] = np.nan
    with pytest.raises(ValueError, match="infinity|missing"):
        estimator.predict(large)


def test_infinity_is_refused_where_nan_is_allowed():
    data = data_of(np.asfortranarray([[1, np.nan], [2, 3]], np.float32))
    assert data.is_finite(True, None) and not data.is_finite(False, None) and data.is_finite(False, [0])
    assert not data_of(np.array([[np.inf]], np.float32)).is_finite(True, None)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64, bool, float, str, object])
def test_labels_are_numbered_as_numpy_sorts_them(kind):
    y = np.random.default_rng(0).integers(0, 250, 400).astype(np.uint8).astype(kind)
    classes, place = encoded(y)
    expected, of_row = np.unique(y, return_inverse=True)
    assert classes.dtype == expected.dtype and place.dtype == np.int32
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(place, of_row)
    far = np.array([-(2**62), 2**62, 0])
    np.testing.assert_array_equal(encoded(far)[1], [0, 2, 1])


def test_a_stream_is_read_once(table):
    rows, _, _ = table
    capsule = rows.__arrow_c_stream__()
    data = _core.Data()
    data.take_stream(capsule)
    assert data.shape == (rows.num_rows, rows.num_columns)
    with pytest.raises(ValueError, match="read already"):
        data.take_stream(capsule)
