"""From Python's arrays to the library's data sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.multiclass import type_of_target

from . import _core


def unfold_images(X: Any) -> tuple[Any, int]:
    """Images (n, h, w) as rows of pixels, and their width; other data as it is, and 0."""
    if isinstance(X, np.ndarray) and X.ndim == 3:
        return X.reshape(len(X), -1), X.shape[2]
    return X, 0


def data_of(X: Any, threads: int = 0) -> _core.Data:
    """A data set of validated rows: float32 columns are used in place, other layouts are converted once."""
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


def texts_of(labels: Any) -> list[str]:
    """Labels as the command line writes them; as they are, where that would unite two of them."""
    raw = [str(label) for label in np.asarray(labels).tolist()]
    texts = [_core.canonical_label(text) for text in raw]
    return texts if len(set(texts)) == len(texts) else raw


def set_classes(data: _core.Data, y: Any) -> tuple[Any, dict[str, int]]:
    """Labels the rows; returns the sorted classes and the place of each class's text among them."""
    classes, place = np.unique(y, return_inverse=True)
    texts = texts_of(classes)
    data.set_labels(texts, place.astype(np.int32).ravel())
    return classes, {text: i for i, text in enumerate(texts)}


def set_indicators(data: _core.Data, y: Any) -> None:
    """Labels the rows by the columns of y that are positive, as in "1,3"; columns count from 0."""
    rows, place = np.unique(np.asarray(y) > 0, axis=0, return_inverse=True)
    texts = [",".join(str(task) for task in np.flatnonzero(row)) for row in rows]
    data.set_labels(texts, place.astype(np.int32).ravel())


def is_indicator(y: Any) -> bool:
    return bool(type_of_target(y, raise_unknown=True) == "multilabel-indicator")
