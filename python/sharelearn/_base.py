"""What the estimators have in common. The estimators themselves are generated (generate.py): parameters are stored
untouched, and the library checks them in fit."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from . import _core
from ._data import data_of, is_indicator, set_classes, set_indicators, texts_of, unfold_images
from ._progress import ProgressBar


class Estimator(BaseEstimator):
    """Data in, options through, attributes out."""

    _method: ClassVar[str]
    _defaults: ClassVar[dict[str, Any]]  # the library's, which need not be passed on
    _online_defaults: ClassVar[dict[str, Any]] = {}

    n_jobs: int | None
    verbose: bool
    model_: _core.Model
    report_: dict[str, Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", "error") != "error"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _threads(self) -> int:
        return 0 if self.n_jobs is None or self.n_jobs < 0 else int(self.n_jobs)

    def _given(self, defaults: dict[str, Any]) -> dict[str, Any]:
        """Options other than the library's defaults."""
        options = {}
        for name, default in defaults.items():
            value = getattr(self, name)
            if name == "random_state" and value is not None and not isinstance(value, (int, np.integer)):
                value = int(check_random_state(value).randint(2**31))
            if name == "class_weight" and not isinstance(value, str):
                continue
            if value is None or (isinstance(value, (str, int, float, tuple)) and value == default):
                continue
            options[name] = value
        return options

    def _rows(self, X: Any, y: Any = "no_validation", reset: bool = True, **checks: Any) -> tuple[_core.Data, Any]:
        """Validated rows, and y where rows have labels."""
        X, width = unfold_images(X)
        checks |= {
            "accept_sparse": ["csc", "csr"],
            "dtype": [np.float32, np.float64],
            "ensure_all_finite": "allow-nan" if getattr(self, "missing", "error") != "error" else True,
        }
        if isinstance(y, str):
            X = validate_data(self, X, reset=reset, **checks)
        else:
            X, y = validate_data(self, X, y, reset=reset, **checks)
        data = data_of(X, self._threads())
        data.image_width = width
        if reset and hasattr(self, "feature_names_in_"):
            data.column_names = list(self.feature_names_in_)
        return data, y

    def _weigh(self, data: _core.Data, X: Any, y: Any, sample_weight: Any) -> None:
        """Row weights; those of classes are part of them, unless the library balances the classes itself."""
        class_weight = getattr(self, "class_weight", None)
        if class_weight is not None and not (class_weight == "balanced" and "class_weight" in self._defaults):
            weights = compute_sample_weight(class_weight, y)
            sample_weight = weights if sample_weight is None else weights * np.asarray(sample_weight, np.float64)
        if sample_weight is not None:
            data.set_weights(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))

    def _learn(self, data: _core.Data) -> None:
        """Fits. What a callback raises, and an interrupt, ends the fit; the path so far is kept."""
        bar = ProgressBar() if self.verbose else None
        callbacks = list(getattr(self, "callbacks", None) or ())

        def after_round(values: dict[str, Any]) -> bool:
            return all([callback(values) is not False for callback in callbacks])

        if self._online_defaults and self.online:
            result = _core.fit_online_cascade(self._given(self._online_defaults), data, self._threads(), bar)
        else:
            result = _core.fit(
                self._method,
                self._given(self._defaults),
                data,
                None,
                self._threads(),
                bar,
                after_round if callbacks else None,
            )
        if bar is not None:
            bar.close()
        self._take(*result)

    def _take(self, model: _core.Model, report: dict[str, Any], raised: BaseException | None) -> None:
        self.model_ = model
        self.report_ = report
        for warning in report.get("warnings", ()):
            warnings.warn(warning, ConvergenceWarning, stacklevel=4)
        self._settle()
        if raised is not None:
            raise raised

    def _settle(self) -> None:
        """Derives what predictions need from a new model."""

    @property
    def features_(self) -> Any:
        """The features in use, in order of choice: a DataFrame where pandas is installed, else a list of dicts."""
        _require_model(self)
        try:
            import pandas
        except ImportError:
            return self.model_.features
        return pandas.DataFrame(self.model_.features)

    @property
    def n_features_used_(self) -> int:
        """The number of features that a prediction computes."""
        return self.model_.features_used

    def report(self, path: str, X: Any = None, y: Any = None) -> None:
        """Writes one HTML page about the model; with rows X and labels y also its errors and mistakes on them."""
        _require_model(self)
        data = None
        if X is not None:
            data, y = self._rows(X, y, reset=False, multi_output=True)
            self._set_truth(data, y)
        page = self.model_.report_page(data, self.report_, type(self).__name__, self._threads())
        Path(path).write_text(page, encoding="utf-8")

    def _set_truth(self, data: _core.Data, y: Any) -> None:
        if getattr(self, "_tasks", False):
            set_indicators(data, y)
        else:
            set_classes(data, y)

    def save(self, path: str) -> None:
        """Writes the model to a file that the command line, C++ and ``sharelearn.load`` read."""
        _require_model(self)
        self.model_.save(str(path))


def _coefficients(model: _core.Model) -> tuple[Any, Any]:
    pair = model.coefficients
    if pair is None:
        raise AttributeError("the model has coef_ only if its features are columns of the data")
    return np.asarray(pair[0]), np.asarray(pair[1])


class PathMixin:
    """Attributes of a path of models."""

    model_: _core.Model
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
        models = (self.model_.at_stage(i) for i in range(len(self.model_.stages)))
        return np.stack([self._coef_of(model)[0] for model in models])  # type: ignore[attr-defined]


def _gives_probabilities(self: Any) -> bool:
    model = getattr(self, "model_", None)
    if model is None:
        return not str(getattr(self, "loss", "")).endswith("hinge") and getattr(self, "_method", "") != "sharing"
    if not model.gives_probabilities:
        raise AttributeError("a hinge loss gives no probabilities")
    return True


class Classifier(ClassifierMixin, Estimator):
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
        self._weigh(data, X, y, sample_weight)
        self._learn(data)
        return self

    def _labelled(self, X: Any, y: Any, reset: bool = True) -> tuple[_core.Data, Any]:
        if scipy.sparse.issparse(y):
            y = y.toarray()
        data, y = self._rows(X, y, reset=reset, multi_output=True, ensure_min_samples=2 if reset else 1)
        check_classification_targets(y)
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

    def _in_order(self, values: Any, missing: float) -> Any:
        """Columns of outputs as columns of classes_; a class that the model does not have gets `missing`."""
        if self._ordered:
            return values
        ordered = np.full((len(values), len(self.classes_)), missing)
        ordered[:, self._of_output] = values
        return ordered

    def _prediction_rows(self, X: Any) -> _core.Data:
        _require_model(self)  # check_is_fitted collects tags, which takes as long as a small prediction
        return self._rows(X, reset=False)[0]

    def _classes_at(self, model: _core.Model, data: _core.Data) -> Any:
        predicted = model.predict(data, self._threads())
        if self._tasks:
            return self._in_order(predicted > 0, 0).astype(int)
        if model.outputs_are == "tasks":  # tasks made of classes, each against the rest
            predicted = np.argmax(model.scores(data, self._threads()), axis=1)
        return self.classes_[self._of_output[predicted]]

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

    def _models(self) -> Iterator[_core.Model]:
        _require_model(self)
        return (self.model_.at_stage(stage) for stage in range(len(self.model_.stages)))

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """The predictions of every model of the path, from small to large."""
        models, data = self._models(), self._prediction_rows(X)
        return (self._classes_at(model, data) for model in models)

    @available_if(_gives_probabilities)
    def staged_predict_proba(self, X: Any) -> Iterator[Any]:
        """The probabilities of every model of the path, from small to large."""
        models, data = self._models(), self._prediction_rows(X)
        return (self._proba_at(model, data) for model in models)

    def _coef_of(self, model: _core.Model) -> tuple[Any, Any]:
        weights, intercept = _coefficients(model)
        weights = self._in_order(weights.T, 0.0).T
        intercept = self._in_order(intercept[None, :], 0.0)[0] - model.common_score
        if self._tasks or len(self.classes_) != 2:
            return weights, intercept
        return weights[1:] - weights[:1], intercept[1:] - intercept[:1]

    @property
    def coef_(self) -> Any:
        """Weights of raw columns (classes x columns; two classes: one row), where features are columns."""
        return self._coef_of(self.model_)[0]

    @property
    def intercept_(self) -> Any:
        """Intercepts that go with ``coef_``."""
        return self._coef_of(self.model_)[1]


def _require_model(estimator: Any) -> None:
    if not hasattr(estimator, "model_"):
        raise NotFittedError(f"This {type(estimator).__name__} is not fitted yet: call fit first.")


class BoostingClassifier(Classifier):
    """Classes or tasks, as the loss says."""

    _multilabel = True
    _boosts = True


class PathClassifier(PathMixin, BoostingClassifier):
    """Classes, by a path of models."""


class Regressor(RegressorMixin, Estimator):
    """Numbers."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns from rows X with numbers y. A weight counts as that many copies of a row."""
        data, y = self._rows(X, y, y_numeric=True, ensure_min_samples=2)
        data.set_values(np.ascontiguousarray(y, np.float64))
        self._weigh(data, X, y, sample_weight)
        self._learn(data)
        return self

    def predict(self, X: Any) -> Any:
        """The number of each row."""
        _require_model(self)
        return self.model_.predict(self._rows(X, reset=False)[0], self._threads())

    def _set_truth(self, data: _core.Data, y: Any) -> None:
        data.set_values(np.ascontiguousarray(y, np.float64))

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """The predictions of every model of the path, from small to large."""
        _require_model(self)
        data = self._rows(X, reset=False)[0]
        models = (self.model_.at_stage(stage) for stage in range(len(self.model_.stages)))
        return (model.predict(data, self._threads()) for model in models)

    def _coef_of(self, model: _core.Model) -> tuple[Any, Any]:
        weights, intercept = _coefficients(model)
        return weights[0], intercept[0]

    @property
    def coef_(self) -> Any:
        """Weights of raw columns, where features are columns."""
        return self._coef_of(self.model_)[0]

    @property
    def intercept_(self) -> Any:
        """The intercept that goes with ``coef_``."""
        return self._coef_of(self.model_)[1]


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
        check_classification_targets(y)
        set_classes(data, y)
        self._weigh(data, X, y, sample_weight)
        self._learn(data)
        return self

    def _given(self, defaults: dict[str, Any]) -> dict[str, Any]:
        return {"loss": "multiclass"} | super()._given(defaults)

    def _get_support_mask(self) -> Any:
        _require_model(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.model_.inputs] = True
        return mask


class Online(Classifier):
    """A classifier that also learns row by row. The learner itself is not pickled: it goes on from the model."""

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        if "_learner" in state:
            state = dict(state, model_=self._learner.model())
            del state["_learner"]
        return state

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        twin = type(self).__new__(type(self))
        twin.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return twin

    def _forget(self) -> None:
        for name in ("_learner", "model_", "classes_", "_place", "report_"):
            self.__dict__.pop(name, None)

    def _merge_classes(self, y: Any, data: _core.Data) -> None:
        """Labels the rows; classes that are new join the known ones."""
        known: Any = getattr(self, "classes_", None)
        place = dict(getattr(self, "_place", {}))
        new, new_place = set_classes(data, y)
        if known is None:
            self.classes_, self._place = new, new_place
            return
        label_of = {text: known[at] for text, at in place.items()} | {text: new[at] for text, at in new_place.items()}
        self.classes_ = np.unique(np.concatenate([known, new]))
        at = {label: i for i, label in enumerate(self.classes_.tolist())}
        self._place = {text: at[label.item() if hasattr(label, "item") else label] for text, label in label_of.items()}

    def _learned(self) -> None:
        self.model_ = self._learner.model()
        self._settle()


def _learns_online(self: Any) -> bool:
    if not self.online:
        raise AttributeError("partial_fit needs online=True")
    return True


class CascadeBase(Online):
    """The cascade, batch or online."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None) -> Any:
        """Learns from rows X with labels y, or with one task per row (``tasks``) that has the yes/no label y."""
        self._forget()
        if tasks is None:
            return super().fit(X, y, sample_weight)
        data, y = self._rows(X, y)
        self.classes_, place = np.unique(column_or_1d(tasks), return_inverse=True)
        set_classes(data, y)
        texts = texts_of(self.classes_)
        data.set_tasks(texts, place.astype(np.int32).ravel())
        self._tasks, self._place = True, {text: i for i, text in enumerate(texts)}
        self._weigh(data, X, y, sample_weight)
        self._learn(data)
        return self

    @available_if(_learns_online)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Goes on learning, one row after the other. The first call names all classes, unless y has them all."""
        first = not hasattr(self, "model_")
        if first:
            data, _ = self._labelled(X, y)
            if classes is not None and not self._tasks:
                self.classes_ = np.unique(classes)
                self._place = {text: i for i, text in enumerate(texts_of(self.classes_))}
            options = self._given(self._online_defaults)
            self._learner = _core.OnlineCascade.begin(options, list(self._place), data.shape[1])
        else:
            kept = self.classes_, self._place
            data, _ = self._labelled(X, y, reset=False)
            self.classes_, self._place = kept
            if not hasattr(self, "_learner"):
                self._learner = _core.OnlineCascade.resume(self.model_, {})
        self._learner.learn(data)
        self.report_ = self._learner.report()
        self._learned()
        return self

    def transfer(self, X: Any, y: Any, **options: Any) -> Any:
        """A new classifier of other classes or tasks, learned with the knowledge of this one."""
        _require_model(self)
        new = type(self)(**self.get_params(deep=False))
        data, _ = new._labelled(X, y)
        new._take(*_core.transfer(self.model_, data, options, self._threads()))
        return new


class SharingBase(Online):
    """Online sharing: no weights, classes in any order, at any time."""

    online = True

    def fit(self, X: Any, y: Any) -> Any:  # type: ignore[override]
        """Learns from the rows once, in their order."""
        self._forget()
        return self._learn_rows(X, y, True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Goes on learning. The rows may have classes never seen before; ``classes`` need not be given."""
        return self._learn_rows(X, y, not hasattr(self, "n_features_in_"))

    def _learn_rows(self, X: Any, y: Any, reset: bool) -> Any:
        data, y = self._rows(X, y, reset=reset)
        check_classification_targets(y)
        y = column_or_1d(y)
        self._tasks = False
        self._merge_classes(y, data)
        self._start()
        predicted = np.array(self._learner.learn(data))
        names = self._learner.classes
        self.predicted_ = np.array([None if p < 0 else self.classes_[self._place[names[p]]] for p in predicted])
        _, self.report_, _ = self._learner.finish()
        self._learned()
        return self

    def _start(self) -> None:
        if hasattr(self, "_learner"):
            return
        options = self._given(self._defaults)
        if hasattr(self, "model_"):
            self._learner = _core.OnlineSharing.resume(self.model_, options)
        else:
            self._learner = _core.OnlineSharing.begin(options)

    def learn_lines(self, lines: Iterable[str]) -> Iterator[str | None]:
        """Learns svmlight lines of an iterator one at a time; yields the class predicted before each is learned.

        Classes are text here. A line without a label is only predicted.
        """
        self._tasks = False
        self._start()
        for line in lines:
            predicted = self._learner.learn_line(line)
            names = sorted(self._learner.classes)
            self.classes_ = np.array(names)
            self._place = {name: i for i, name in enumerate(names)}
            yield predicted
        self._learned()
