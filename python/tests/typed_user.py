"""A user's program, which type checkers must accept as strict as they can be (scripts/test-python)."""

from __future__ import annotations

import numpy as np

import sharelearn as sl
from sharelearn import plot


def goes_on(figures: dict[str, object]) -> bool:
    return figures["features_used"] != 3


def program() -> None:
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    classifier = sl.ShareBoostClassifier(n_features=3, folds=2, costs=[1.0, 2.0, 1.0, 1.0], callbacks=[goes_on])
    classifier.fit(X, y)
    used: int = classifier.n_features_used_
    names: list[str] = classifier.model_.column_names
    sl.save(classifier, "model.shl")
    model: sl.Model = sl.load("model.shl")
    plot.error_path(classifier)
    print(used, names, model.predict(X), sl.GradBoostRegressor(penalty="l1").set_params(path=5))
