"""What the estimators have in common. The estimators themselves are generated (generate.py): parameters are stored
untouched, and the library checks them in fit."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight, _check_y, validate_data

from . import _core
from ._cache import Cache
from ._data import data_of, data_of_table, holds_text, is_arrow, set_classes, set_indicators, unfold_images
from ._progress import ProgressBar


def require_model(estimator: Any) -> None:
    if not hasattr(estimator, "model_"):
        raise NotFittedError(f"This {type(estimator).__name__} is not fitted yet: call fit first.")


class Estimator(BaseEstimator):
    """Data in, options through, attributes out."""

    _method: ClassVar[str]
    _defaults: ClassVar[dict[str, Any]]  # the library's, which need not be passed on
    _online_defaults: ClassVar[dict[str, Any]] = {}

    n_jobs: int | None
    verbose: bool
    model_: _core.Model
    report_: dict[str, Any]
    _categories: list[tuple[str, int, list[str]]] = []  # columns of text: name, first column of the model, levels

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

    def _allows_nan(self) -> bool:
        return bool(getattr(self, "missing", "error") != "error")

    def _rows(self, X: Any, y: Any = "no_validation", reset: bool = True, **checks: Any) -> tuple[_core.Data, Any]:
        """Validated rows, and y where rows have labels."""
        data, y = self._checked_rows(X, y, reset, checks)
        return data if reset else self._filled(data), y

    def _filled(self, data: _core.Data) -> _core.Data:
        """A model keeps means for missing values, but not that they are to be zero."""
        if getattr(self, "missing", "error") == "zero":
            data.fill_zero(self._threads())
        return data

    def _checked_rows(self, X: Any, y: Any, reset: bool, checks: dict[str, Any]) -> tuple[_core.Data, Any]:
        if isinstance(X, Cache):
            return self._cached_rows(X, y, reset, checks)
        if is_arrow(X) or holds_text(X) or (not reset and self._categories):
            return self._table_rows(X, y, reset, checks)
        X, width = unfold_images(X)
        sparse = scipy.sparse.issparse(X)
        checks |= {
            "accept_sparse": ["csc", "csr"],
            "dtype": [np.float32, np.float64],
            # Dense values are checked by the library, in parallel and without a copy.
            "ensure_all_finite": sparse and ("allow-nan" if self._allows_nan() else True),
        }
        if isinstance(y, str):
            X = validate_data(self, X, reset=reset, **checks)
        else:
            X, y = validate_data(self, X, y, reset=reset, **checks)
        data = data_of(X, self._threads())
        if not sparse:
            self._require_finite(data, X)
        data.image_width = width
        if reset:
            self._categories = []
            if hasattr(self, "feature_names_in_"):
                data.column_names = list(self.feature_names_in_)
        return data, y

    def _table_rows(self, X: Any, y: Any, reset: bool, checks: dict[str, Any]) -> tuple[_core.Data, Any]:
        """Rows of a frame with text, or of an Arrow stream, which can be read only once, and y."""
        if not is_arrow(X) and not hasattr(X, "iloc"):
            texts = ", ".join(name for name, *_ in self._categories)
            raise ValueError(
                f"The model was learned from columns of text ({texts}): expected a frame or an Arrow table."
            )
        data = data_of_table(X, self._threads())
        self._take_columns(data.table_names, len(data.table_names), reset)
        if data.shape[0] < checks.get("ensure_min_samples", 1):
            raise ValueError(f"Found array with {data.shape[0]} sample(s) while a minimum of 1 is required.")
        if reset or data.has_text or self._categories:
            data.expand_categories(None if reset else self._categories)
        if reset:
            self._categories = data.categories
        self._require_values(data)
        return data, self._checked_labels(y, checks)

    def _cached_rows(self, X: Cache, y: Any, reset: bool, checks: dict[str, Any]) -> tuple[_core.Data, Any]:
        data = data_of(X)
        self._take_columns(data.column_names, data.shape[1], reset)
        if reset:
            self._categories = []
        self._require_values(data)
        return data, self._checked_labels(y, checks)

    def _take_columns(self, names: list[str], count: int, reset: bool) -> None:
        """Keeps the names and the number of columns, or compares them with those of the training rows."""
        if reset:
            self.n_features_in_ = count
            self.__dict__.pop("feature_names_in_", None)
            if names:
                self.feature_names_in_ = np.array(names, dtype=object)
        elif count != self.n_features_in_:
            raise ValueError(
                f"X has {count} features, but {type(self).__name__} is expecting {self.n_features_in_} features."
            )
        elif names and hasattr(self, "feature_names_in_") and names != self.feature_names_in_.tolist():
            raise ValueError("The feature names should match those that were passed during fit, in the same order.")

    def _require_values(self, data: _core.Data) -> None:
        if not data.is_finite(self._allows_nan(), None, self._threads()):
            hint = "" if self._allows_nan() else " (missing='mean' or 'zero' fills in missing values)"
            raise ValueError(f"Input X contains NaN or infinity{hint}.")

    def _checked_labels(self, y: Any, checks: dict[str, Any]) -> Any:
        if isinstance(y, str):
            return y
        return _check_y(y, **{name: checks[name] for name in ("multi_output", "y_numeric") if name in checks})

    @property
    def _table_columns(self) -> Any:
        """The column of the table of each column of the model: the levels of a category are one column of a table."""
        widths = np.ones(self.n_features_in_, dtype=int)
        names = getattr(self, "feature_names_in_", np.array([])).tolist()
        for name, _, levels in self._categories:
            widths[names.index(name)] = len(levels)
        return np.repeat(np.arange(self.n_features_in_), widths)

    def _require_finite(self, data: _core.Data, X: Any, columns: list[int] | None = None) -> None:
        """Raises what scikit-learn raises if values, or those of some columns, are not finite."""
        if not get_config()["assume_finite"] and not data.is_finite(self._allows_nan(), columns, self._threads()):
            assert_all_finite(X, allow_nan=self._allows_nan(), estimator_name=type(self).__name__, input_name="X")

    def _prediction_rows(self, X: Any) -> _core.Data:
        """Rows for the model in use. An array needs no more than a look at its shape and values: scikit-learn's
        validation takes longer than a small prediction."""
        require_model(self)
        plain = (
            type(X) is np.ndarray
            and X.dtype in (np.float32, np.float64)
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
        )
        if not plain:
            return self._rows(X, reset=False)[0]
        data = data_of(X, self._threads())
        # The model itself refuses NaN. In large data infinity is looked for only where the prediction reads.
        self._require_finite(data, X, self._inputs if X.size > 2**20 else None)
        return self._filled(data)

    @property
    def _inputs(self) -> list[int] | None:
        return self.model_.inputs if self.model_.stages else None

    def _weigh(self, data: _core.Data, y: Any, sample_weight: Any) -> None:
        """Row weights; those of classes are part of them, unless the library balances the classes itself."""
        class_weight = getattr(self, "class_weight", None)
        if class_weight is not None and not (class_weight == "balanced" and "class_weight" in self._defaults):
            weights = compute_sample_weight(class_weight, y)
            sample_weight = weights if sample_weight is None else weights * np.asarray(sample_weight, np.float64)
        if sample_weight is not None:
            data.set_weights(_check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True))

    def _learn(self, data: _core.Data) -> None:
        """Fits. What a callback raises, and an interrupt, ends the fit; the path so far is kept."""
        bar = ProgressBar() if self.verbose else None
        callbacks = list(getattr(self, "callbacks", None) or ())

        def after_round(values: dict[str, Any]) -> bool:
            return all([callback(values) is not False for callback in callbacks])

        observer = after_round if callbacks else None
        options, threads = self._given(self._defaults), self._threads()
        if self._online_defaults and self.online:
            result = _core.fit_online_cascade(self._given(self._online_defaults), data, threads, bar)
        elif self._method == "shareboost" and getattr(self, "warm_start", False) and hasattr(self, "model_"):
            options = {"ridge": self.report_["options"]["ridge"]} | options
            result = _core.continue_shareboost(self.model_, options, data, threads, bar, observer)
            result[1]["rounds"] = self.report_["rounds"] + result[1]["rounds"]
        else:
            result = _core.fit(self._method, options, data, None, threads, bar, observer)
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
        require_model(self)
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
        require_model(self)
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
        require_model(self)
        self.model_.save(str(path))
