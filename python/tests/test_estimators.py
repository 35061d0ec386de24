"""The estimators in the company that they are used in."""

from __future__ import annotations

import _thread
import copy
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest
import scipy.sparse
from sklearn import set_config
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_multilabel_classification
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sharelearn as sl
from sharelearn import _core

ROOT = Path(__file__).resolve().parents[2]


def test_generated_estimators_are_current():
    if not (ROOT / "python" / "generate.py").exists():
        pytest.skip("not in a source tree")
    subprocess.run([sys.executable, ROOT / "python" / "generate.py", "--check"], check=True)


def test_float32_columns_are_used_in_place_and_other_layouts_are_equal(digits):
    X, y = digits
    borrowed = _core.Data()
    borrowed.take_dense(np.asfortranarray(X, np.float32))
    assert borrowed.is_borrowed
    expected = sl.ShareBoostClassifier(n_features=4, ridge=0.01).fit(np.asfortranarray(X, np.float32), y)
    for other in (X, X.astype(np.float32), np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X.astype(np.uint8)):
        model = sl.ShareBoostClassifier(n_features=4, ridge=0.01).fit(other, y).model_
        assert model.to_bytes() == expected.model_.to_bytes()


def test_values_that_float32_cannot_hold_are_refused(digits):
    X, y = digits
    large = X.copy()
    large[3, 5] = 1e300
    with pytest.raises(ValueError, match="row 3, column 5"):
        sl.ShareBoostClassifier().fit(large, y)


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_sparse_scores_are_those_of_dense_rows(digits, make):
    X, y = digits
    dense = sl.GradBoostClassifier(path=5, scale="none").fit(X, y)
    sparse = sl.GradBoostClassifier(path=5, scale="none").fit(make(X), y)
    np.testing.assert_allclose(sparse.decision_function(make(X)), dense.decision_function(X), rtol=0, atol=1e-2)


@pytest.mark.parametrize(
    "estimator", [sl.ShareBoostClassifier(n_features=8, ridge=0.01), sl.GradBoostClassifier(path=8)]
)
def test_coefficients_give_the_scores(digits, estimator):
    X, y = digits
    estimator.fit(X, y)
    np.testing.assert_allclose(X @ estimator.coef_.T + estimator.intercept_, estimator.decision_function(X), atol=1e-5)
    assert np.flatnonzero(np.abs(estimator.coef_).sum(axis=0)).tolist() == estimator.model_.inputs


def test_binary_coefficients_have_one_row(digits):
    X, y = digits
    estimator = sl.ShareBoostClassifier(n_features=5, ridge=0.01).fit(X, y % 2)
    assert estimator.coef_.shape == (1, X.shape[1])
    np.testing.assert_allclose(
        (X @ estimator.coef_.T + estimator.intercept_)[:, 0], estimator.decision_function(X), atol=1e-5
    )


def test_classes_are_sorted_and_labels_of_any_type_return(digits):
    X, y = digits
    names = np.array([f"d{11 - k}" for k in y])  # d2 ... d11: text order is not number order
    estimator = sl.ShareBoostClassifier(n_features=10, ridge=0.01).fit(X, names)
    assert estimator.classes_.tolist() == sorted(set(names))
    assert (estimator.predict(X) == estimator.classes_[estimator.predict_proba(X).argmax(axis=1)]).all()
    floats = sl.ShareBoostClassifier(n_features=10, ridge=0.01).fit(X, y.astype(float))
    assert floats.predict(X).dtype == float
    negative = sl.SharingClassifier().fit(X, -y)
    assert set(negative.predict(X)) <= set(negative.classes_)


def test_stages_end_in_the_model(digits):
    X, y = digits
    estimator = sl.ShareBoostClassifier(n_features=5, ridge=0.01).fit(X, y)
    staged = list(estimator.staged_predict(X))
    assert (staged[-1] == estimator.predict(X)).all()
    *_, last = estimator.staged_predict_proba(X)
    np.testing.assert_array_equal(last, estimator.predict_proba(X))
    assert len(estimator.features_) == 5


def test_a_path_shrinks_and_is_certified(digits):
    X, y = digits
    estimator = sl.GradBoostClassifier(path=6).fit(X, y)
    assert (np.diff(estimator.lambdas_) < 0).all()
    assert estimator.gap_.max() <= 1e-4
    assert estimator.coef_path_.shape == (6, 10, 64)
    np.testing.assert_array_equal(estimator.coef_path_[-1], estimator.coef_)


def test_regression_reaches_the_lasso_optimum():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10)).astype(np.float32)
    y = X[:, :3] @ [1.0, -2.0, 3.0] + 5
    estimator = sl.GradBoostRegressor(path=20).fit(X, y)
    assert estimator.score(X, y) > 0.99
    np.testing.assert_allclose(X @ estimator.coef_ + estimator.intercept_, estimator.predict(X), atol=1e-4)


def test_few_features_of_a_regression_are_fitted_by_least_squares():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12)).astype(np.float32)
    y = X[:, [2, 5, 7]] @ [3.0, -2.0, 1.0] + 5 + 0.1 * rng.normal(size=300)
    estimator = sl.ShareBoostRegressor(n_features=3, ridge=0, scale="none").fit(X, y)
    assert estimator.model_.inputs == [2, 5, 7]
    design = np.column_stack([X[:, [2, 5, 7]], np.ones(300)]).astype(np.float64)
    exact, *_ = np.linalg.lstsq(design, y, rcond=None)
    np.testing.assert_allclose(estimator.coef_[[2, 5, 7]], exact[:3], rtol=1e-5)
    np.testing.assert_allclose(estimator.intercept_, exact[3], rtol=1e-5)


def test_report_is_a_page_with_the_mistakes(digits, tmp_path):
    X, y = digits
    page = tmp_path / "digits.html"
    estimator = sl.ShareBoostClassifier(n_features=5, ridge=1e-3).fit(X, y)
    estimator.report(page, X, y)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!") and "ShareBoostClassifier" in text
    with pytest.raises(ValueError, match="features"):
        estimator.report(page, X[:, :5], y)
    assert page.read_text(encoding="utf-8") == text


def test_multilabel_targets():
    X, y = make_multilabel_classification(n_samples=120, n_classes=4, random_state=1)
    for estimator in (
        sl.ShareBoostClassifier(n_features=10),
        sl.GradBoostClassifier(path=10),
        sl.MultitaskCascadeClassifier(loss="multitask-logistic", phi=[0.01]),
    ):
        estimator.fit(X, y)
        assert estimator.predict(X).shape == y.shape
        assert (estimator.predict(X) == y).mean() > 0.75
        assert (estimator.predict_proba(X) > 0.5).astype(int).tolist() == estimator.predict(X).tolist()
    y[:, 2] = 0
    assert not sl.GradBoostClassifier(path=5).fit(X, y).predict(X)[:, 2].any()


def test_cascades_refuse_losses_of_numbers(digits):
    for estimator in sl.CascadeClassifier, sl.MultitaskCascadeClassifier:
        with pytest.raises(ValueError, match="learns numbers"):
            estimator(loss="multitask-squared").fit(*digits)


def test_tasks_with_rows_of_their_own(digits):
    X, y = digits
    tasks = np.array(["odd", "large"])[np.arange(len(y)) % 2]
    answer = np.where(tasks == "odd", y % 2, (y > 4).astype(int))
    estimator = sl.MultitaskCascadeClassifier(phi=[0.01]).fit(X, answer, tasks=tasks)
    assert estimator.classes_.tolist() == ["large", "odd"]
    predicted = estimator.predict(X)
    assert (predicted[:, 1] == y % 2).mean() > 0.8
    assert (predicted[:, 0] == (y > 4)).mean() > 0.8


def test_transfer_to_new_classes(digits):
    X, y = digits
    known = y < 5
    cascade = sl.CascadeClassifier(phi=[0.05, 0.02]).fit(X[known], y[known])
    new = cascade.transfer(X[~known], y[~known])
    assert new.classes_.tolist() == [5, 6, 7, 8, 9]
    assert new.score(X[~known], y[~known]) > 0.7


def test_partial_fit_of_the_cascade_is_one_pass(digits):
    X, y = digits
    whole = sl.CascadeClassifier(online=True, phi=[0.001]).partial_fit(X, y, classes=range(10))
    parts = sl.CascadeClassifier(online=True, phi=[0.001])
    for part in np.array_split(np.arange(len(y)), 5):
        parts = pickle.loads(pickle.dumps(parts.partial_fit(X[part], y[part], classes=range(10))))
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X))
    assert not hasattr(sl.CascadeClassifier(), "partial_fit")


def test_sharing_takes_classes_never_seen(digits):
    X, y = digits
    order = np.argsort(y, kind="stable")
    whole = sl.SharingClassifier().fit(X[order], y[order])
    parts = sl.SharingClassifier()
    for part in np.array_split(order, 7):
        parts = copy.deepcopy(parts.partial_fit(X[part], y[part]))
    assert parts.classes_.tolist() == list(range(10))
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X))


def test_sharing_learns_from_an_iterator():
    learner = sl.SharingClassifier(hypotheses="multi")
    lines = (f"{'ab'[i % 2]} {1 + i % 2}:1" for i in range(20))
    predicted = list(learner.learn_lines(lines))
    assert predicted[0] is None
    assert predicted[-2:] == ["a", "b"]
    assert learner.classes_.tolist() == ["a", "b"]


def test_pipeline_of_imputer_encoder_selector_and_classifier(digits):
    pandas = pytest.importorskip("pandas")
    X, y = digits
    frame = pandas.DataFrame(X[:, 10:40].copy(), columns=[f"p{j}" for j in range(30)])
    frame.iloc[::17, 3] = np.nan
    frame["kind"] = np.where(y < 5, "low", "high")
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer(
        (numbers, frame.columns[:-1].tolist()), (OneHotEncoder(sparse_output=False), ["kind"])
    )
    columns.set_output(transform="pandas")
    selector = sl.ShareBoostSelector(n_features=12, ridge=0.01).set_output(transform="pandas")
    pipeline = make_pipeline(columns, selector, LogisticRegression(max_iter=500)).fit(frame, y)
    assert pipeline.score(frame, y) > 0.85
    names = pipeline[:-1].get_feature_names_out()
    assert 1 < len(names) <= 12 and set(names) <= set(columns.get_feature_names_out())
    assert selector.get_support().sum() == len(names)


def test_grid_search_cross_validation_with_groups_and_routing(digits):
    X, y = digits
    grid = {"n_features": [3, 6], "ridge": [0.001, 0.1]}
    search = GridSearchCV(sl.ShareBoostClassifier(n_jobs=1), grid, cv=3, n_jobs=2).fit(X, y)
    assert search.best_params_["n_features"] == 6
    set_config(enable_metadata_routing=True)
    try:
        estimator = sl.ShareBoostClassifier(n_features=5, ridge=0.01).set_fit_request(sample_weight=True)
        estimator.set_score_request(sample_weight=False)
        params = {"groups": np.arange(len(y)) % 7, "sample_weight": np.ones(len(y))}
        scores = cross_validate(estimator, X, y, cv=GroupKFold(3), params=params)
    finally:
        set_config(enable_metadata_routing=False)
    assert scores["test_score"].min() > 0.5


def _score(job):
    estimator, X, y = job
    return estimator.score(X, y)


def test_pickles_travel_to_processes_and_fits_run_in_threads(digits):
    X, y = digits
    estimator = sl.ShareBoostClassifier(n_features=5, ridge=0.01)
    with ThreadPoolExecutor(4) as threads:
        models = list(threads.map(lambda _: copy.deepcopy(estimator).fit(X, y).model_.to_bytes(), range(8)))
    assert len(set(models)) == 1
    estimator.fit(X, y)
    with ProcessPoolExecutor(2) as processes:
        assert set(processes.map(_score, [(estimator, X, y)] * 3)) == {estimator.score(X, y)}


def test_files(digits, tmp_path):
    X, y = digits
    estimator = sl.ShareBoostClassifier(n_features=5, ridge=0.01).fit(X, y)
    sl.save(estimator, tmp_path / "digits.shl")
    model = sl.load(tmp_path / "digits.shl")
    assert (np.array(model.outputs)[model.predict(X)].astype(int) == estimator.predict(X)).all()
    joblib.dump(estimator, tmp_path / "digits.joblib")
    assert (joblib.load(tmp_path / "digits.joblib").predict(X) == estimator.predict(X)).all()
    assert model.to_json()["names"] == [str(k) for k in range(10)]
    (tmp_path / "damaged.shl").write_bytes(model.to_bytes()[:-20])
    with pytest.raises(ValueError, match="damaged"):
        sl.load(tmp_path / "damaged.shl")


def test_frames_give_their_names(digits):
    X, y = digits
    for module in ("pandas", "polars"):
        frames = pytest.importorskip(module)
        frame = frames.DataFrame({f"pixel{j}": X[:, j] for j in range(64)})
        estimator = sl.ShareBoostClassifier(n_features=3, ridge=0.01).fit(frame, y)
        assert estimator.model_.column_names == list(frame.columns)
        assert estimator.model_.features[0]["name"].startswith("pixel")
        assert (estimator.predict(frame) == estimator.predict(frame)).all()


def test_missing_values(digits):
    X, y = digits
    X = X.copy()
    X[::7, 5] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        sl.ShareBoostClassifier().fit(X, y)
    estimator = sl.ShareBoostClassifier(n_features=5, ridge=0.01, missing="mean").fit(X, y)
    assert estimator.score(X, y) > 0.5
    columns = np.asfortranarray(X, np.float32)  # used in place, so it must stay as it is
    same = sl.ShareBoostClassifier(n_features=5, ridge=0.01, missing="mean").fit(columns, y)
    assert same.model_.to_bytes() == estimator.model_.to_bytes()
    assert np.isnan(columns[::7, 5]).all()


def test_callbacks_see_rounds_and_can_end_the_fit(digits, capsys):
    X, y = digits
    rounds = []

    def stop_at_three(figures):
        rounds.append(figures["features_used"])
        return len(rounds) < 3

    estimator = sl.ShareBoostClassifier(n_features=10, ridge=0.01, callbacks=[stop_at_three], verbose=True).fit(X, y)
    assert rounds == [1, 2, 3] and estimator.n_features_used_ == 3
    assert "features 3/10" in capsys.readouterr().err


def test_an_exception_and_an_interrupt_keep_the_path_so_far(digits):
    X, y = digits

    def fail(figures):
        if figures["features_used"] == 4:
            raise LookupError("enough")

    estimator = sl.ShareBoostClassifier(n_features=10, ridge=0.01, callbacks=[fail])
    with pytest.raises(LookupError, match="enough"):
        estimator.fit(X, y)
    assert estimator.n_features_used_ == 4 and estimator.score(X, y) > 0.3
    big = np.tile(X, (30, 8)).astype(np.float32)
    slow = sl.ShareBoostClassifier(n_features=300, ridge=0.01, n_jobs=1)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
    timer = threading.Timer(1.5, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        slow.fit(big, np.tile(y, 30))
    assert 0 < slow.n_features_used_ < 300
    assert len(slow.predict(big[:10])) == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ridge": -1}, "ridge: expected a number of at least 0, found -1"),
        ({"bins": 8}, "bins needs pool stumps"),
        ({"folds": GroupKFold(3)}, r"folds: expected a number, a text or a list of them, found GroupKFold"),
        ({"pool": "plums"}, "pool: expected one of columns"),
        ({"validation_fraction": 0.5, "folds": 3}, "folds cannot be combined with validation_fraction"),
    ],
)
def test_errors_speak_python(digits, options, message):
    with pytest.raises(ValueError, match=message):
        sl.ShareBoostClassifier(**options).fit(*digits)


def test_class_weights(digits):
    X, y = digits
    y = (y == 0).astype(int)
    plain = sl.ShareBoostClassifier(n_features=3, ridge=0.1).fit(X, y).predict_proba(X)[:, 1]
    for weight in ("balanced", {0: 1, 1: 9}):
        weighted = (
            sl.ShareBoostClassifier(n_features=3, ridge=0.1, class_weight=weight).fit(X, y).predict_proba(X)[:, 1]
        )
        assert weighted.mean() > plain.mean()


def test_pictures(digits):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from sharelearn import plot

    X, y = digits
    share = sl.ShareBoostClassifier(n_features=6, ridge=0.01).fit(X, y)
    path = sl.GradBoostClassifier(path=5).fit(X, y)
    online = sl.SharingClassifier().fit(X, y)
    assert len(plot.error_path(share).lines) == 2
    chosen = sl.ShareBoostClassifier(n_features=4, ridge=0.01, folds=2, calibration="none").fit(X, y)
    folds = plot.error_path(chosen).lines[1]
    np.testing.assert_array_equal(folds.get_ydata(), chosen.report_["cross_validation"])
    assert len(plot.error_path(sl.GradBoostClassifier(path=4, folds=2, calibration="none").fit(X, y)).lines) == 3
    assert plot.coefficient_path(path).lines[-1].get_xdata()[0] == path.lambdas_[-1]
    assert plot.sharing(share).images[0].get_array().shape == (10, 6)
    assert plot.templates(share, (8, 8)).images[0].get_array().shape == (8, 8)
    cascade = sl.CascadeClassifier(phi=[0.1, 0.05]).fit(X, y)
    assert len(plot.cascade_levels(cascade).patches) == 2
    searched = sl.CascadeClassifier(levels=1, phi_scales=[0.2, 0.1], folds=2, calibration="none")
    tried = searched.fit(X[:200], y[:200]).report_["cross_validation"]
    points = plot.error_path(searched).containers[0].lines[0].get_ydata()
    assert set(points) <= {trial["error"] for trial in tried} and len(points) > 1
    assert plot.mistakes(online.predicted_, y).lines[0].get_ydata()[-1] == online.report_["mistakes"]


@pytest.mark.parametrize("ridge", [0.01, None])
def test_warm_start_goes_on_to_more_features(digits, ridge):
    X, y = digits
    parts = sl.ShareBoostClassifier(n_features=4, ridge=ridge, round_tolerance=0, warm_start=True).fit(X, y)
    first = [f["column"] for f in parts.model_.features]
    ridge = parts.report_["options"]["ridge"]
    parts = pickle.loads(pickle.dumps(parts)).set_params(n_features=9).fit(X, y)
    whole = sl.ShareBoostClassifier(n_features=9, ridge=ridge, round_tolerance=0).fit(X, y)
    assert [f["column"] for f in parts.model_.features][:4] == first
    assert parts.model_.features == whole.model_.features
    assert [r["features_used"] for r in parts.report_["rounds"]] == list(range(1, 10))
    for ours, theirs in zip(parts.staged_predict_proba(X), whole.staged_predict_proba(X), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
    with pytest.raises(ValueError, match="n_features: expected at least the 9"):
        parts.set_params(n_features=3).fit(X, y)
    with pytest.raises(ValueError, match="other columns, classes"):
        parts.set_params(n_features=12).fit(X, y % 3)


def test_warm_start_of_a_regression_and_of_two_classes(digits):
    X, y = digits
    for make, target in ((sl.ShareBoostRegressor, y.astype(float)), (sl.ShareBoostClassifier, y % 2)):
        loss = {"loss": "binary"} if make is sl.ShareBoostClassifier else {}
        parts = make(n_features=3, ridge=0.01, warm_start=True, **loss).fit(X, target)
        parts.set_params(n_features=6).fit(X, target)
        whole = make(n_features=6, ridge=0.01, **loss).fit(X, target)
        np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-6)


def test_warm_start_of_online_estimators_goes_on_learning(digits):
    X, y = digits
    for estimator in (
        sl.SharingClassifier(warm_start=True),
        sl.CascadeClassifier(online=True, phi=[0.001], warm_start=True),
    ):
        whole = copy.deepcopy(estimator).fit(X, y)
        parts = estimator.fit(X[:200], y[:200]).fit(X[200:], y[200:])
        np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X))


def test_threads_and_the_form_of_the_seed_do_not_change_the_model(digits):
    X, y = digits
    options = {"n_features": 4, "pool": "kernel", "support": 20, "support_by": "sample"}
    models = {
        sl.ShareBoostClassifier(**options, n_jobs=jobs, random_state=7).fit(X, y).model_.to_bytes()
        for jobs in (1, 2, 5)
    }
    assert len(models) == 1
    drawn = [sl.ShareBoostClassifier(**options, random_state=np.random.RandomState(3)).fit(X, y) for _ in range(2)]
    assert drawn[0].model_.to_bytes() == drawn[1].model_.to_bytes()
    assert drawn[0].model_.to_bytes() not in models
