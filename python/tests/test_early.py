"""Predictions that stop early: the same thresholds as the command line's, and answers that hardly differ."""

import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_digits

import sharelearn as sl


@pytest.fixture(scope="module")
def all_digits():
    return load_digits(return_X_y=True)


def test_thresholds_are_those_of_the_command_line(all_digits, tmp_path, program):
    X, y = all_digits
    fitted = sl.ShareBoostClassifier(n_features=30, ridge=1e-3).fit(X[:900], y[:900])
    early = sl.early(fitted, X[900:], disagreement=0.05, confidence=0.9, seed=3)

    sl.save(fitted, tmp_path / "full.shl")
    np.savetxt(tmp_path / "rows.csv", X[900:], delimiter=",", fmt="%g")
    options = ["--disagreement", "0.05", "--confidence", "0.9", "--seed", "3"]
    subprocess.run(
        [program, "early", "full.shl", "rows.csv", "-o", "early.shl", *options],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    assert early.to_bytes() == (tmp_path / "early.shl").read_bytes()

    scores, features = early.early_scores(X[900:])
    assert np.mean(scores.argmax(axis=1) != early.predict(X[900:])) <= 0.05
    assert features.min() >= 1 and features.max() <= 30 and features.mean() < 25
    full = features == 30
    assert np.allclose(scores[full], early.scores(X[900:])[full], rtol=1e-12)


def test_what_cannot_stop_early_is_refused(all_digits):
    X, y = all_digits
    fitted = sl.ShareBoostClassifier(n_features=5, ridge=1e-3).fit(X[:900], y[:900])
    with pytest.raises(ValueError, match="no thresholds"):
        fitted.model_.early_scores(X[900:])
    with pytest.raises(ValueError, match="disagreement"):
        sl.early(fitted, X[900:], disagreement=1.5)
    with pytest.raises(ValueError, match="rows"):
        sl.early(fitted, X[900:910])
