"""Regressors, and the selector of columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.feature_selection import SelectorMixin

from . import _core
from ._base import Estimator, require_model
from ._data import require_classes, set_classes
from ._linear import Linear, PathMixin


class Regressor(RegressorMixin, Linear, Estimator):
    """Numbers."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns from rows X with numbers y. A weight counts as that many copies of a row."""
        data, y = self._rows(X, y, y_numeric=True, ensure_min_samples=2)
        data.set_values(np.ascontiguousarray(y, np.float64))
        self._weigh(data, y, sample_weight)
        self._learn(data)
        return self

    def predict(self, X: Any) -> Any:
        """The number of each row."""
        data = self._prediction_rows(X)
        return self.model_.predict(data, self._threads())

    def _set_truth(self, data: _core.Data, y: Any) -> None:
        data.set_values(np.ascontiguousarray(y, np.float64))

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """The predictions of every model of the path, from small to large."""
        models, data = self._models(), self._rows(X, reset=False)[0]
        return (model.predict(data, self._threads()) for model in models)

    def _in_shape(self, model: _core.Model, weights: Any, intercept: Any) -> tuple[Any, Any]:
        return weights[0], intercept[0]


class PathRegressor(PathMixin, Regressor):
    """Numbers, by a path of models."""


class Selector(SelectorMixin, Estimator):
    """Keeps the columns that the chosen features read."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Chooses columns of X that tell the classes y apart."""
        data, y = self._rows(X, y, ensure_min_samples=2)
        require_classes(y)
        set_classes(data, y)
        self._weigh(data, y, sample_weight)
        self._learn(data)
        return self

    def _given(self, defaults: dict[str, Any]) -> dict[str, Any]:
        return {"loss": "multiclass"} | super()._given(defaults)

    def _get_support_mask(self) -> Any:
        require_model(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self._table_columns[self.model_.inputs]] = True
        return mask
