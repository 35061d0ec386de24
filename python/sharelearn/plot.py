"""Pictures of fitted estimators (needs matplotlib). Every function draws into ``ax`` and returns it."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["cascade_levels", "coefficient_path", "error_path", "mistakes", "sharing", "templates"]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _series(estimator: Any, name: str) -> Any:
    return np.array([np.nan if r.get(name) is None else r[name] for r in estimator.report_["rounds"]], float)


def _whole_numbers(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def _is_search(found: Any) -> bool:
    """Whether cross-validation compared single points, as for the penalties of a cascade, in place of a path."""
    return isinstance(found, list) and len(found) > 0 and isinstance(found[0], dict)


def _cross_validation(estimator: Any, sizes: Any) -> tuple[Any, Any, Any] | None:
    """Numbers of features, cross-validated errors and their standard errors."""
    found = estimator.report_.get("cross_validation")
    if found is None:
        return None
    if isinstance(found, dict):  # of a path of lambdas
        mean, spread = np.array(found["mean"]), np.array(found["standard_error"])
        return (sizes, mean, spread) if len(mean) == len(sizes) else None
    if _is_search(found):  # what it tried on all folds
        folds = max(trial["folds"] for trial in found)
        tried = np.array([[t["features"], t["error"], t["standard_error"]] for t in found if t["folds"] == folds])
        return tried[:, 0], tried[:, 1], tried[:, 2]
    return np.arange(1, len(found) + 1), np.array(found), np.array(estimator.report_["cross_validation_standard_error"])


def error_path(estimator: Any, ax: Any = None) -> Any:
    """Errors against the number of features, those of the cross-validation with their standard error, and the model in
    use marked."""
    ax = _axes(ax)
    sizes = _series(estimator, "features_used")
    for name in ("train_error", "validation_error", "test_error"):
        errors = _series(estimator, name)
        if not np.isnan(errors).all():
            ax.plot(sizes, errors, label=name.replace("_", " "))
    folds = _cross_validation(estimator, sizes)
    if folds is not None:
        at, mean, spread = folds
        if _is_search(estimator.report_["cross_validation"]):
            ax.errorbar(at, mean, spread, fmt="o", label="cross-validated error")
        else:
            (line,) = ax.plot(at, mean, label="cross-validated error")
            ax.fill_between(at, mean - spread, mean + spread, color=line.get_color(), alpha=0.2, linewidth=0)
    ax.axvline(estimator.model_.features_used, color="grey", linestyle=":", label="model in use")
    ax.set(xlabel="features", ylabel="error")
    _whole_numbers(ax.xaxis)
    ax.legend()
    return ax


def coefficient_path(estimator: Any, output: int = 0, ax: Any = None) -> Any:
    """Coefficients of one output along the path of lambdas, the model in use marked."""
    ax = _axes(ax)
    path = estimator.coef_path_
    path = path[:, output] if path.ndim == 3 else path
    ax.semilogx(estimator.lambdas_, path[:, np.abs(path).max(axis=0) > 0])
    ax.axvline(estimator.lambdas_[estimator.model_.stage], color="grey", linestyle=":")
    ax.invert_xaxis()
    ax.set(xlabel="lambda", ylabel="coefficient")
    return ax


def _similar_order(weights: Any) -> Any:
    """Rows in an order in which neighbours are similar: leaves of a clustering."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    return leaves_list(linkage(weights, "average")) if len(weights) > 2 else np.arange(len(weights))


def sharing(estimator: Any, ax: Any = None) -> Any:
    """Weights of chosen columns (across) and classes (down), similar classes beside each other."""
    ax = _axes(ax)
    used = np.flatnonzero(np.abs(estimator.coef_).sum(axis=0))
    weights = estimator.coef_[:, used]
    weights = weights / np.maximum(np.abs(weights).max(axis=0), 1e-300)
    order = _similar_order(weights)
    labels = estimator.classes_ if len(weights) == len(estimator.classes_) else estimator.classes_[1:]
    ax.imshow(weights[order], cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    names = np.array(estimator.model_.column_names or range(estimator.model_.columns))
    ax.set_xticks(range(len(used)), names[used], rotation=90)
    ax.set_yticks(range(len(order)), labels[order])
    ax.set(xlabel="feature", ylabel="class")
    return ax


def templates(estimator: Any, shape: tuple[int, int], ax: Any = None) -> Any:
    """Where the chosen pixels of an image of this shape are: the sum of their absolute weights."""
    ax = _axes(ax)
    ax.imshow(np.abs(estimator.coef_).sum(axis=0).reshape(shape), cmap="viridis")
    ax.set(xticks=[], yticks=[])
    return ax


def cascade_levels(estimator: Any, ax: Any = None) -> Any:
    """Features that each level of a cascade uses, from shared by all to not shared."""
    ax = _axes(ax)
    level = np.arange(1, len(estimator.report_["rounds"]) + 1)
    ax.bar(level, _series(estimator, "nonzero_rows"), color="tab:blue")
    ax.set(xlabel="level", ylabel="features with a weight", xticks=level)
    return ax


def mistakes(predicted: Any, y: Any, ax: Any = None) -> Any:
    """Cumulative mistakes of an online run: ``predicted_`` of SharingClassifier against the labels."""
    ax = _axes(ax)
    y = np.asarray(y)
    seen: set[Any] = set()
    wrong = np.zeros(len(y))
    for i, (guess, label) in enumerate(zip(predicted, y.tolist(), strict=True)):
        wrong[i] = guess != label and label in seen
        seen.add(label)
    ax.plot(np.arange(1, len(y) + 1), np.cumsum(wrong))
    ax.set(xlabel="examples", ylabel="mistakes")
    return ax
