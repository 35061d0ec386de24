"""Rows in a binary file that is mapped: data larger than the memory, or read again and again."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core


class Cache:
    """Rows in a file that ``sharelearn cache`` or ``Cache.write`` has written.

    Estimators take it in place of an array: ``estimator.fit(rows, rows.labels)``. Its values stay on the disk.
    """

    def __init__(self, path: str | os.PathLike[str], n_jobs: int | None = None) -> None:
        self._data = _core.open_cache(os.fspath(path), n_jobs or 0)

    @staticmethod
    def write(
        path: str | os.PathLike[str], batches: Iterable[Any], rows: int | None = None, n_jobs: int | None = None
    ) -> Cache:
        """Writes batches of rows one after the other, and opens the file, which appears when it is complete.

        A batch is X, (X, y) or (X, y, sample_weight), with X an array, a part of an ``np.memmap``, images (n, h, w), a
        sparse matrix, a frame of numbers or an Arrow table. ``rows``: the number of all rows, if it is known; without
        it dense batches wait in a temporary file of the same size.
        """
        from ._data import data_of_batch, set_classes  # needs scikit-learn, which opening does not

        threads = n_jobs or 0
        writer = _core.BatchWriter(os.fspath(path), rows, threads)
        for number, batch in enumerate(batches):
            X, y, sample_weight = (*batch, None, None)[:3] if isinstance(batch, tuple) else (batch, None, None)
            data = data_of_batch(X, threads)
            if not data.is_finite(True, None, threads):
                raise ValueError(f"batch {number} (counted from 0) holds infinity")
            if y is not None:
                set_classes(data, y)
            if sample_weight is not None:
                data.set_weights(np.ascontiguousarray(sample_weight, np.float64))
            writer.add(data)
        writer.finish()
        return Cache(path, n_jobs)

    def __len__(self) -> int:
        return int(self.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self._data.shape
        return rows, columns

    @property
    def column_names(self) -> list[str]:
        """The names of the columns; empty where they have none."""
        return list(self._data.column_names)

    @property
    def labels(self) -> Any:
        """The label of each row: whole numbers, numbers or text; None where the file has none."""
        if self._data.labels is None:
            return None
        names, place = self._data.labels
        if (place < 0).any():
            raise ValueError(f"row {int(np.flatnonzero(place < 0)[0])} (counted from 0) has no label")
        for kind in (np.int64, np.float64):
            try:
                return np.array(names).astype(kind)[place]
            except (ValueError, OverflowError):
                continue
        return np.array(names)[place]

    @property
    def weights(self) -> Any:
        """The weight of each row; None where the file has none."""
        return self._data.weights

    def _rows(self) -> _core.Data:
        """A data set of the same values, to which estimators give labels and weights."""
        return self._data.shared()
