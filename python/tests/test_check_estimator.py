"""scikit-learn's own checks: every estimator with its default parameters, no check declared as expected to fail."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import sharelearn as sl

ESTIMATORS = [
    sl.ShareBoostClassifier(),
    sl.ShareBoostRegressor(),
    sl.ShareBoostSelector(),
    sl.GradBoostClassifier(),
    sl.GradBoostRegressor(),
    sl.StructuralAdaBoostClassifier(),
    sl.CascadeClassifier(),
    sl.MultitaskCascadeClassifier(),
    sl.SharingClassifier(),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)
