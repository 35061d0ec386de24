"""Classifiers: labels in, classes and probabilities out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d

from . import _core
from ._base import Estimator
from ._data import is_indicator, require_classes, set_classes, set_indicators
from ._linear import Linear, PathMixin


def _gives_probabilities(self: Any) -> bool:
    model = getattr(self, "model_", None)
    if model is None:
        return not str(getattr(self, "loss", "")).endswith("hinge") and getattr(self, "_method", "") != "sharing"
    if not model.gives_probabilities:
        raise AttributeError("a hinge loss gives no probabilities")
    return True


class Classifier(ClassifierMixin, Linear, Estimator):
    """Classes, or yes/no answers of several tasks where y is an indicator matrix."""

    _multilabel: ClassVar[bool] = False
    _boosts: ClassVar[bool] = False
    classes_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._multilabel
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns from rows X (n, d), or images (n, h, w), with labels y. A weight is a number of copies of a row."""
        data, y = self._labelled(X, y)
        self._weigh(data, y, sample_weight)
        self._learn(data)
        return self

    def _labelled(self, X: Any, y: Any, reset: bool = True) -> tuple[_core.Data, Any]:
        if scipy.sparse.issparse(y):
            y = y.toarray()
        data, y = self._rows(X, y, reset=reset, multi_output=True, ensure_min_samples=2 if reset else 1)
        require_classes(y)
        self._tasks = self._multilabel and is_indicator(y)
        if self._tasks:
            self.classes_ = np.arange(y.shape[1])
            self._place = {str(task): task for task in range(y.shape[1])}
            set_indicators(data, y)
        else:
            y = column_or_1d(y, warn=True)
            self.classes_, self._place = set_classes(data, y)
        return data, y

    def _given(self, defaults: dict[str, Any]) -> dict[str, Any]:
        # Labels of a classifier are classes, even where they look like measurements.
        loss = {"loss": "multitask" if self._tasks else "multiclass"} if self._boosts else {}
        return loss | super()._given(defaults)

    def _settle(self) -> None:
        # classes_ are sorted as scikit-learn sorts them; the model's outputs have an order of their own.
        self._of_output = np.array([self._place[name] for name in self.model_.outputs], dtype=np.intp)
        self._ordered = bool(np.array_equal(self._of_output, np.arange(len(self.classes_))))
        self._label_of_output = self.classes_[self._of_output]

    def _in_order(self, values: Any, missing: float) -> Any:
        """Columns of outputs as columns of classes_; a class that the model does not have gets `missing`."""
        if self._ordered:
            return values
        ordered = np.full((len(values), len(self.classes_)), missing)
        ordered[:, self._of_output] = values
        return ordered

    def _classes_at(self, model: _core.Model, data: _core.Data) -> Any:
        predicted = model.predict(data, self._threads())
        if self._tasks and model.outputs_are == "tasks":
            return self._in_order(predicted > 0, 0).astype(int)
        if self._tasks:  # every row that was learned had one task: the model predicts one
            return np.eye(len(self.classes_), dtype=int)[self._of_output[predicted]]
        if model.outputs_are == "tasks":  # tasks made of classes, each against the rest
            predicted = np.argmax(model.scores(data, self._threads()), axis=1)
        return self._label_of_output[predicted]

    def _scores_at(self, model: _core.Model, data: _core.Data) -> Any:
        scores = self._in_order(model.scores(data, self._threads()), -np.inf) - model.common_score
        if self._tasks or len(self.classes_) != 2:
            return scores
        return scores[:, 1] - scores[:, 0]

    def _proba_at(self, model: _core.Model, data: _core.Data) -> Any:
        proba = self._in_order(model.proba(data, self._threads()), 0.0)
        if model.outputs_are == "tasks" and not self._tasks:
            proba = proba / proba.sum(axis=1, keepdims=True)
        return proba

    def predict(self, X: Any) -> Any:
        """The class of each row, or a 0/1 matrix of tasks."""
        data = self._prediction_rows(X)
        return self._classes_at(self.model_, data)

    def decision_function(self, X: Any) -> Any:
        """Scores, one column per class, their intercepts with mean 0; for two classes how much the second is ahead."""
        data = self._prediction_rows(X)
        return self._scores_at(self.model_, data)

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """Probabilities, one column per class, or per task."""
        data = self._prediction_rows(X)
        return self._proba_at(self.model_, data)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """The predictions of every model of the path, from small to large."""
        models, data = self._models(), self._rows(X, reset=False)[0]
        return (self._classes_at(model, data) for model in models)

    @available_if(_gives_probabilities)
    def staged_predict_proba(self, X: Any) -> Iterator[Any]:
        """The probabilities of every model of the path, from small to large."""
        models, data = self._models(), self._rows(X, reset=False)[0]
        return (self._proba_at(model, data) for model in models)

    def _in_shape(self, model: _core.Model, weights: Any, intercept: Any) -> tuple[Any, Any]:
        weights = self._in_order(weights.T, 0.0).T
        intercept = self._in_order(intercept[None, :], 0.0)[0] - model.common_score
        if self._tasks or len(self.classes_) != 2:
            return weights, intercept
        return weights[1:] - weights[:1], intercept[1:] - intercept[:1]


class BoostingClassifier(Classifier):
    """Classes or tasks, as the loss says."""

    _multilabel = True
    _boosts = True


class PathClassifier(PathMixin, BoostingClassifier):
    """Classes, by a path of models."""
