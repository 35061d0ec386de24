"""Rows of every kind that Python has, and what is refused."""

from __future__ import annotations

import pickle
import subprocess

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


@pytest.fixture
def towns():
    """A frame with a column of text and one of categories, and labels that depend on them."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {"height": rng.normal(size=240).astype(np.float32), "city": rng.choice(["Oslo", "Rome", "Bern"], 240)}
    )
    frame["storeys"] = pandas.Categorical(rng.choice(["9", "10", "many"], 240))
    frame["old"] = rng.random(240) < 0.5
    y = np.where(frame["city"] == "Oslo", "a", np.where((frame["storeys"] == "10") ^ frame["old"], "b", "c"))
    return frame, y


def test_text_becomes_the_categories_of_the_command_line(program, tmp_path, towns):
    frame, y = towns
    frame.assign(old=frame["old"].astype(int), label=y).to_csv(tmp_path / "towns.csv", index=False)
    command = [
        program,
        "fit",
        "shareboost",
        str(tmp_path / "towns.csv"),
        "--category-columns",
        "storeys",
        "--features",
        "4",
    ]
    subprocess.run([*command, "-o", str(tmp_path / "towns.shl"), "--quiet"], check=True)
    expected = sl.load(tmp_path / "towns.shl")
    model = sl.ShareBoostClassifier(n_features=4).fit(frame, y).model_
    names = ["height", "city=Bern", "city=Oslo", "city=Rome", "storeys=10", "storeys=9", "storeys=many", "old"]
    assert model.column_names == names
    ours, theirs = model.to_json(), expected.to_json()
    theirs.pop("label_place", None)  # an array has no column of labels
    assert ours == theirs


def test_text_in_every_kind_of_table_gives_the_same_model(towns):
    arrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    frame, y = towns
    table = arrow.Table.from_pandas(frame.astype({"storeys": str}))
    views = polars.from_arrow(table)
    long = frame.assign(city="the old town of " + frame["city"])  # too long for a view to hold
    tables = {
        "text": table,
        "large": table.set_column(1, "city", table["city"].cast(arrow.large_string())),
        "dictionary": table.set_column(1, "city", table["city"].dictionary_encode()),
        "batches": type(table).from_batches(
            table.slice(0, 50).to_batches() + table.slice(50).to_batches(max_chunksize=7)
        ),
        "polars": views,
        "categorical": views.with_columns(polars.col("city").cast(polars.Categorical)),
        "enum": views.with_columns(polars.col("storeys").cast(polars.Enum(["none", "10", "9", "many"]))),
        "object": frame.astype({"city": object, "storeys": object}),
    }
    expected = sl.ShareBoostClassifier(**FEW).fit(frame, y)
    for name, rows in tables.items():
        estimator = sl.ShareBoostClassifier(**FEW).fit(rows, y)
        assert estimator.model_.to_bytes() == expected.model_.to_bytes(), name
        np.testing.assert_array_equal(estimator.predict_proba(frame), expected.predict_proba(rows))
    in_views = sl.ShareBoostClassifier(**FEW).fit(polars.from_pandas(long), y)
    assert in_views.model_.to_bytes() == sl.ShareBoostClassifier(**FEW).fit(long, y).model_.to_bytes()


def test_levels_that_are_new_or_missing(towns):
    frame, y = towns
    estimator = pickle.loads(pickle.dumps(sl.ShareBoostClassifier(**FEW, missing="mean").fit(frame, y)))
    some = frame.head(4).copy()
    others = [name for name in estimator.model_.column_names if not name.startswith("city=")]
    by_hand = np.zeros((4, len(estimator.model_.column_names)), np.float32)
    for j, name in enumerate(estimator.model_.column_names):
        if name in others:
            column, _, level = name.partition("=")
            by_hand[:, j] = (some[column] == level) if level else some[column]
    np.testing.assert_array_equal(estimator.predict_proba(some.assign(city="Paris")), estimator.model_.proba(by_hand))
    by_hand[:, [name not in others for name in estimator.model_.column_names]] = np.nan
    for empty in (None, "NA", "?", ""):
        np.testing.assert_array_equal(estimator.predict_proba(some.assign(city=empty)), estimator.model_.proba(by_hand))
    with pytest.raises(ValueError, match="missing='mean'"):
        sl.ShareBoostClassifier(**FEW).fit(frame.assign(city=frame["city"].where(frame["height"] > 0)), y)


def test_columns_of_the_table_are_selected_whole(towns):
    frame, y = towns
    selector = sl.ShareBoostSelector(n_features=3, ridge=0.01).set_output(transform="pandas").fit(frame, y)
    names = selector.get_feature_names_out().tolist()
    assert "city" in names and len(names) < 4 and selector.n_features_in_ == 4
    assert selector.transform(frame).columns.tolist() == names
    online = sl.SharingClassifier().partial_fit(frame[:100], y[:100]).partial_fit(frame[100:], y[100:])
    assert online.score(frame, y) > 0.5


def test_tables_that_do_not_fit_are_refused(table, towns):
    arrow = pytest.importorskip("pyarrow")
    rows, _, of_rows = table
    with pytest.raises(ValueError, match="column 'day' has Arrow's type 'tdD'"):
        day = arrow.array([0] * len(of_rows), type=arrow.date32())
        sl.ShareBoostClassifier(**FEW).fit(rows.append_column("day", day), of_rows)
    with pytest.raises(ValueError, match="labels for"):
        sl.ShareBoostClassifier(**FEW).fit(rows, of_rows[:-1])
    frame, y = towns
    many = frame.iloc[np.tile(np.arange(240), 2)].assign(city=[f"town {i}" for i in range(480)])
    with pytest.raises(ValueError, match="column 'city' holds text with 480 different values"):
        sl.ShareBoostClassifier(**FEW).fit(many, np.tile(y, 2))
    for city, message in (
        (None, "column 'city' has no value in any row"),
        (["a", 1] * 120, "column 'city' has the type object"),
    ):
        with pytest.raises(ValueError, match=message):
            sl.ShareBoostClassifier(**FEW).fit(frame.assign(city=city), y)
    estimator = sl.ShareBoostClassifier(**FEW).fit(frame, y)
    for bad, message in (
        (frame.assign(city=1.0), "column 'city' holds numbers, but held text"),
        (frame.assign(height="tall"), "column 'height' holds text, but held numbers"),
        (np.zeros((3, 4)), "learned from columns of text"),
        (frame[["city", "height", "storeys", "old"]], "feature names"),
    ):
        with pytest.raises(ValueError, match=message):
            estimator.predict(bad)


@pytest.mark.parametrize("missing", ["mean", "median", "zero", "indicator"])
def test_predictions_fill_missing_values_as_the_fit_did(digits, missing):
    X, y = digits
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    estimator = sl.ShareBoostClassifier(**FEW, missing=missing).fit(X, y)
    if missing == "zero":
        np.testing.assert_array_equal(estimator.predict_proba(X), estimator.predict_proba(np.nan_to_num(X)))
    assert estimator.score(X, y) > 0.4
    selector = sl.ShareBoostSelector(**FEW, missing=missing).fit(X, y)
    assert 1 <= selector.get_support().sum() <= 4
    large = np.tile(X, (45, 1))  # large data is looked at only where the prediction reads
    np.testing.assert_array_equal(estimator.predict(large)[:400], estimator.predict(X))


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
