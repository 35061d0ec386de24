"""Weights of raw columns, and the models of a path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _core
from ._base import require_model


class Linear:
    """Attributes of models whose features are columns of the data."""

    model_: _core.Model

    def _in_shape(self, model: _core.Model, weights: Any, intercept: Any) -> tuple[Any, Any]:
        """Weights (outputs x columns) and intercepts of a model in the shapes of scikit-learn."""
        raise NotImplementedError

    def _coef_of(self, model: _core.Model) -> tuple[Any, Any]:
        pair = model.coefficients
        if pair is None:
            raise AttributeError("the model has coef_ only if its features are columns of the data")
        return self._in_shape(model, np.asarray(pair[0]), np.asarray(pair[1]))

    @property
    def coef_(self) -> Any:
        """Weights of raw columns, where features are columns: of classes or tasks x columns, of a regression one per
        column; two classes have one row."""
        return self._coef_of(self.model_)[0]

    @property
    def intercept_(self) -> Any:
        """Intercepts that go with ``coef_``."""
        return self._coef_of(self.model_)[1]

    def _models(self) -> Iterator[_core.Model]:
        """The models of the path, from small to large."""
        require_model(self)
        return (self.model_.at_stage(stage) for stage in range(len(self.model_.stages)))


class PathMixin(Linear):
    """Attributes of a path of models."""

    report_: dict[str, Any]

    @property
    def lambdas_(self) -> Any:
        """Lambda of every model of the path."""
        return np.array([stage[1] for stage in self.model_.stages])

    @property
    def gap_(self) -> Any:
        """Bound on the distance of every model of the path to its optimum."""
        return np.array([np.nan if r.get("gap") is None else r["gap"] for r in self.report_["rounds"]])

    @property
    def coef_path_(self) -> Any:
        """Coefficients of every model of the path: path x outputs x columns, outputs as in ``coef_``."""
        return np.stack([self._coef_of(model)[0] for model in self._models()])
