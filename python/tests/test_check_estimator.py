"""scikit-learn's own checks, every estimator, none declared as expected to fail.

The parameters make solutions comparable to 7 digits: a row of weight 2 must give what two rows give, so solvers run to
the end (tolerance), separable classes have finite weights (ridge), and no random folds are drawn (phi).
"""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import sharelearn as sl

PHI = [0.1, 0.05, 0.02]
ESTIMATORS = [
    sl.ShareBoostClassifier(ridge=0.01, n_jobs=1),
    sl.ShareBoostRegressor(ridge=0.01, n_jobs=1),
    sl.ShareBoostSelector(ridge=0.01, n_jobs=1),
    sl.GradBoostClassifier(tolerance=1e-12, n_jobs=1),
    sl.GradBoostRegressor(tolerance=1e-12, n_jobs=1),
    sl.StructuralAdaBoostClassifier(tolerance=1e-12, n_jobs=1),
    sl.CascadeClassifier(phi=PHI, n_jobs=1),
    sl.CascadeClassifier(phi=PHI, loss="multiclass-logistic", n_jobs=1),
    sl.MultitaskCascadeClassifier(phi=PHI, n_jobs=1),
    sl.SharingClassifier(n_jobs=1),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)
