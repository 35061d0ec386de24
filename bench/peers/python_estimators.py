#!/usr/bin/env python3
"""The package's estimators beside those that a user would pick instead, in one run: features, test errors, CPU seconds and their ratios.

    python_estimators.py --data DIR [--set satimage,optdigits] [--features 10,20] [--peers abess,adelie,saga,skglm,lightgbm,xgboost]

Every row of the output is one fitted model: the distinct columns that its predictions read, its test error, the CPU seconds of fit (one
thread) and of predict, and fit's ratio to ShareBoostClassifier's. Columns are standardised by the training rows. Penalties of peers are
chosen along their paths by the number of columns: the largest model with at most as many as asked for. Nothing is chosen by test rows.

sharelearn  ShareBoostClassifier with its defaults (its ridge is chosen from the training rows); GradBoostClassifier's path (l1l2)
abess       MultinomialRegression: best subset of the given size
adelie      grouped multinomial path (l1l2)
saga        scikit-learn's l1 multinomial, one C after the other on a grid
skglm       SparseLogisticRegression, one class against the rest, one alpha after the other on a grid
lightgbm, xgboost   100 trees with 8 leaves each, all columns; XGBoost with vector leaves
"""

import argparse
import gzip
import json
import os
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")
import numpy as np

import sharelearn as sl
from results import record, version

PAGE = {
    "name": "prediction", "order": 7, "title": "Estimators: columns read, errors, fits and predictions",
    "text": "The package's estimators beside those that a user would pick instead, at a limit on the columns and without one. The ratio is that of the fits; "
            "predictions are microseconds per row of all test rows in one call.",
    "full": ["--data", "{data}"],
    "quick": ["--data", "{data}", "--set", "satimage", "--features", "10", "--peers", "abess,adelie,lightgbm,xgboost"],
    "claims": [["at a limit on the columns ShareBoost has the lowest test error (ratio of errors)", "10 columns|20 columns", "abess|adelie|saga|skglm", 1, "test error %"],
               ["and its predictions of all columns are faster than boosted trees (ratio of times)", "all columns", "", 1, "predict, us per row"]],
}


def load(name, folder):
    def read(part):
        table = np.loadtxt(gzip.open(os.path.join(folder, name, f"{part}.csv.gz")), delimiter=",")
        return table[:, :-1], table[:, -1].astype(int)

    (x, y), (x_test, y_test) = read("train"), read("test")
    used = x.std(axis=0) > 0
    mean, deviation = x[:, used].mean(axis=0), x[:, used].std(axis=0)
    scaled = [np.asfortranarray((part[:, used] - mean) / deviation, np.float32) for part in (x, x_test)]
    classes, y = np.unique(y, return_inverse=True)
    return scaled[0], y, scaled[1], np.searchsorted(classes, y_test)


class Linear:
    """Weights (classes x columns) as a predictor."""

    def __init__(self, weights, intercept):
        self.weights, self.intercept = weights, intercept

    def columns(self):
        return int((np.abs(self.weights).max(axis=0) > 0).sum())

    def predict(self, x):
        return (x @ self.weights.T + self.intercept).argmax(axis=1)


def largest_within(models, limit):
    return max((m for m in models if m.columns() <= limit), key=lambda m: m.columns())


class Ours:
    def __init__(self, estimator):
        self.estimator = estimator

    def columns(self):
        return len(self.estimator.model_.inputs)

    def predict(self, x):
        return self.estimator.predict(x)


def shareboost(x, y, features):
    return Ours(sl.ShareBoostClassifier(n_features=features, n_jobs=1).fit(x, y))


def gradboost(x, y, features):
    path = sl.GradBoostClassifier(path=30, n_jobs=1).fit(x, y)
    weights = path.coef_path_
    intercepts = [path._coef_of(model)[1] for model in path._models()]
    return largest_within([Linear(w, b) for w, b in zip(weights, intercepts, strict=True)], features)


def abess(x, y, features):
    from abess import MultinomialRegression

    model = MultinomialRegression(support_size=features, thread=1).fit(x.astype(float), y)
    return Linear(np.asarray(model.coef_).T.reshape(y.max() + 1, -1), np.asarray(model.intercept_))


def adelie(x, y, features):
    import adelie as ad

    one = np.eye(y.max() + 1)[y]
    design = np.asfortranarray(x.astype(np.float64))
    path = ad.grpnet(X=design, glm=ad.glm.multinomial(one), lmda_path_size=30, progress_bar=False, n_threads=1)
    betas, intercepts = np.asarray(path.betas.todense()), np.asarray(path.intercepts)
    k = one.shape[1]
    return largest_within([Linear(b.reshape(-1, k).T, c) for b, c in zip(betas, intercepts, strict=True)], features)


def saga(x, y, features):
    from sklearn.linear_model import LogisticRegression

    models = []
    model = LogisticRegression(solver="saga", l1_ratio=1.0, max_iter=100, tol=1e-3, warm_start=True)
    for c in np.geomspace(0.0003, 0.1, 12):
        model.set_params(C=c).fit(x, y)
        models.append(Linear(model.coef_.copy(), model.intercept_.copy()))
        if models[-1].columns() > features:
            break
    return largest_within(models, features)


def skglm(x, y, features):
    from skglm import SparseLogisticRegression

    models, one = [], np.eye(y.max() + 1)[y]
    for alpha in np.geomspace(0.4, 0.003, 12):
        fits = [SparseLogisticRegression(alpha=alpha).fit(x, one[:, c]) for c in range(one.shape[1])]
        weights = np.vstack([fit.coef_ for fit in fits])
        models.append(Linear(weights, np.array([np.ravel(fit.intercept_)[0] for fit in fits])))
        if models[-1].columns() > features:
            break
    return largest_within(models, features)


class Trees:
    def __init__(self, model, importance):
        self.model, self.importance = model, importance

    def columns(self):
        return int((np.asarray(self.importance) > 0).sum())

    def predict(self, x):
        return self.model.predict(x)


def lightgbm(x, y, _):
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_estimators=100, num_leaves=8, n_jobs=1, verbose=-1).fit(x, y)
    return Trees(model, model.feature_importances_)


def xgboost(x, y, _):
    from xgboost import XGBClassifier

    model = XGBClassifier(n_estimators=100, max_depth=3, multi_strategy="multi_output_tree", n_jobs=1).fit(x, y)
    saved = json.loads(bytes(model.get_booster().save_raw("json")))  # its tables of features do not know vector leaves
    used = set()
    for tree in saved["learner"]["gradient_booster"]["model"]["trees"]:
        used |= {f for f, left in zip(tree["split_indices"], tree["left_children"], strict=True) if left != -1}
    return Trees(model, np.bincount(list(used), minlength=x.shape[1]))


OURS = {"ShareBoost": shareboost, "GradBoost path": gradboost}
PEERS = {"abess": abess, "adelie": adelie, "saga": saga, "skglm": skglm}
TREES = {"lightgbm": lightgbm, "xgboost": xgboost}


def measured(fit, x, y, x_test, y_test, features):
    start = time.process_time()
    model = fit(x, y, features)
    fitted = time.process_time()
    predicted = model.predict(x_test)
    seconds = time.process_time() - fitted
    return model.columns(), float(np.mean(predicted != y_test)), fitted - start, seconds


def compare(name, data, features, methods):
    print(f"\n| {name}, {features or 'all'} columns | columns used | test error % | fit, CPU s | ratio | predict, us a row |")
    print("|---|---|---|---|---|---|")
    base = None
    for label, fit in methods.items():
        try:
            columns, error, seconds, predict = measured(fit, *data, features)
        except ImportError as missing:
            record(f"{name}, {features or 'all'} columns", label, {}, None, "not installed")
            print(f"| {label} | not installed: {missing} |")
            continue
        except Exception as failed:  # a peer's failure is a result
            record(f"{name}, {features or 'all'} columns", label, {}, None, f"failed: {type(failed).__name__}")
            print(f"| {label} | failed: {type(failed).__name__}: {str(failed)[:80]} |")
            continue
        base = base or seconds
        microseconds = 1e6 * predict / len(data[3])
        own = label.startswith(("ShareBoost", "GradBoost"))
        tool = f"sharelearn, {label}" if own else version(label, {"saga": "scikit-learn"}.get(label))
        measures = {"columns": columns, "test error %": 100 * error, "CPU s": seconds, "predict, us per row": microseconds}
        record(f"{name}, {features or 'all'} columns", tool, measures, None if own else seconds / base)
        print(f"| {label} | {columns} | {100 * error:.1f} | {seconds:.2f} | {seconds / base:.1f} | {microseconds:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--set", default="satimage,optdigits")
    parser.add_argument("--features", default="10,20")
    parser.add_argument("--peers", default=",".join([*PEERS, *TREES]))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = given.peers.split(",")
    for name in given.set.split(","):
        data = load(name, given.data)
        shareboost(data[0][:200], data[1][:200], 2)  # imports
        for features in map(int, given.features.split(",")):
            compare(name, data, features, OURS | {k: f for k, f in PEERS.items() if k in chosen})
        compare(name, data, 0, {"ShareBoost, 30": lambda x, y, _: shareboost(x, y, 30)} | {k: f for k, f in TREES.items() if k in chosen})


if __name__ == "__main__":
    main()
