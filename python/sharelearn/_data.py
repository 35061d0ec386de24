"""From Python's arrays to the library's data sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from . import _core
from ._cache import Cache


def unfold_images(X: Any) -> tuple[Any, int]:
    """Images (n, h, w) as rows of pixels, and their width; other data as it is, and 0."""
    if isinstance(X, np.ndarray) and X.ndim == 3:
        return X.reshape(len(X), -1), X.shape[2]
    return X, 0


def data_of(X: Any, threads: int = 0) -> _core.Data:
    """A data set of validated rows: float32 columns are used in place, other layouts are converted once."""
    if isinstance(X, Cache):
        return X._rows()
    data = _core.Data()
    if scipy.sparse.issparse(X):
        columns = X.tocsc()
        if not columns.has_sorted_indices:
            columns = columns.sorted_indices()
        data.take_sparse(
            columns.shape[0],
            np.ascontiguousarray(columns.indptr, np.int64),
            np.ascontiguousarray(columns.indices, np.int32),
            np.ascontiguousarray(columns.data, np.float32),
        )
    else:
        data.take_dense(X, threads)
    data.source = "X"
    return data


def is_arrow(X: Any) -> bool:
    """Tables and readers with Arrow's stream interface. Frames of pandas come through NumPy: their columns are blocks
    of it, and their stream needs pyarrow."""
    return hasattr(X, "__arrow_c_stream__") and not hasattr(X, "iloc")


def _is_text(column: Any) -> bool:
    """Whether a column of a pandas frame is one of text or categories."""
    from pandas.api.types import infer_dtype

    kind = getattr(column.dtype, "kind", "O")
    return kind in "OUT" and infer_dtype(column, skipna=True) in ("categorical", "string", "empty")


def holds_text(X: Any) -> bool:
    """Whether X is a pandas frame with columns of text or categories."""
    if not (hasattr(X, "iloc") and hasattr(X, "columns") and hasattr(X, "dtypes")):
        return False
    return any(_is_text(X.iloc[:, j]) for j in range(X.shape[1]) if getattr(X.dtypes.iloc[j], "kind", "O") in "OUT")


def data_of_table(X: Any, threads: int = 0) -> _core.Data:
    """A data set of a table whose columns of text are put aside: an Arrow stream, which is read batch by batch, or a
    pandas frame. Missing values are NaN."""
    if not is_arrow(X):
        return _data_of_frame(X, threads)
    data = _core.Data()
    data.take_stream(X.__arrow_c_stream__(), threads)
    data.source = "X"
    return data


def data_of_batch(X: Any, threads: int = 0) -> _core.Data:
    """A data set of rows that may be anything that an estimator learns from; missing values are NaN."""
    if is_arrow(X) or hasattr(X, "iloc"):
        return data_of_table(X, threads)
    X, width = unfold_images(X)
    X = check_array(X, accept_sparse=["csc", "csr"], dtype=[np.float32, np.float64], ensure_all_finite=False)
    data = data_of(X, threads)
    data.image_width = width
    return data


def _data_of_frame(X: Any, threads: int) -> _core.Data:
    import pandas

    columns = [X.iloc[:, j] for j in range(X.shape[1])]
    is_text = [_is_text(column) for column in columns]
    for column, text in zip(columns, is_text, strict=True):
        if not text and column.dtype.kind not in "biuf" and not pandas.api.types.is_numeric_dtype(column.dtype):
            raise ValueError(f"column '{column.name}' has the type {column.dtype}: expected numbers, flags or text")
    numbers = X.loc[:, [not text for text in is_text]]
    data = data_of(numbers.to_numpy(dtype=np.float64, na_value=np.nan), threads)
    data.column_names = [str(name) for name in numbers.columns]
    place = 0
    for column, text in zip(columns, is_text, strict=True):
        if not text:
            place += 1
            continue
        ids, levels = pandas.factorize(column)
        data.add_text(str(column.name), place, [str(level) for level in levels], ids.astype(np.int32))
    return data


def texts_of(labels: Any) -> list[str]:
    """Labels as the command line writes them; as they are, where that would unite two of them."""
    raw = [str(label) for label in np.asarray(labels).tolist()]
    texts = [_core.canonical_label(text) for text in raw]
    return texts if len(set(texts)) == len(texts) else raw


def encoded(y: Any) -> tuple[Any, Any]:
    """Sorted classes, and the number of each row's class among them."""
    y = np.asarray(y).ravel()
    if y.dtype.kind in "iu" and len(y) > 0:
        low = y.min()
        span = int(y.max()) - int(low)
        if span <= 2 * len(y):  # a table over all values in between: ten times as fast as sorting
            present = np.zeros(span + 1, dtype=bool)
            shifted = y - low if y.dtype.itemsize == 8 else y.astype(np.int64) - int(low)
            present[shifted] = True
            number = np.cumsum(present, dtype=np.int32) - np.int32(1)
            return np.flatnonzero(present).astype(y.dtype) + low, number[shifted]
    classes, place = np.unique(y, return_inverse=True)
    return classes, place.astype(np.int32).ravel()


def require_classes(y: Any) -> None:
    """Raises what scikit-learn raises if y are not classes; whole numbers and text are, and need no look."""
    if y.ndim != 1 or y.dtype.kind not in "biuSU":
        check_classification_targets(y)


def set_classes(data: _core.Data, y: Any) -> tuple[Any, dict[str, int]]:
    """Labels the rows; returns the sorted classes and the place of each class's text among them."""
    classes, place = encoded(y)
    texts = texts_of(classes)
    data.set_labels(texts, place)
    return classes, {text: i for i, text in enumerate(texts)}


def set_indicators(data: _core.Data, y: Any) -> None:
    """Labels the rows by the columns of y that are positive, as in "1,3"; columns count from 0."""
    rows, place = np.unique(np.asarray(y) > 0, axis=0, return_inverse=True)
    texts = [",".join(str(task) for task in np.flatnonzero(row)) for row in rows]
    data.set_labels(texts, place.astype(np.int32).ravel())


def is_indicator(y: Any) -> bool:
    return y.ndim == 2 and bool(type_of_target(y, raise_unknown=True) == "multilabel-indicator")
