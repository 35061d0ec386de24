"""Model files, the same as the command line's."""

from __future__ import annotations

import os
from typing import Any

from ._core import Model


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Writes a fitted estimator or a Model to a .shl file."""
    native = model if isinstance(model, Model) else model.model_
    native.save(os.fspath(path))


def export(model: Any, path: str | os.PathLike[str], to: str, features: int | None = None) -> None:
    """Writes a fitted estimator or a Model for programs without sharelearn: to="c", "js", "python" or "onnx".

    ``features``: use the model with at most so many features, of those that the training kept; without stopping early.
    """
    native = model if isinstance(model, Model) else model.model_
    native.export(os.fspath(path), to, features)


def early(model: Any, X: Any, disagreement: float = 0.001, confidence: float = 0.95, seed: int = 1) -> Model:
    """A copy of the model of a fitted estimator, or of a Model, that may stop early.

    ``X``: rows that it was not trained on. With probability ``confidence`` at most a share ``disagreement`` of all
    answers differs from those of all features. ``early_scores`` of the copy gives scores and features computed.
    """
    from ._data import data_of, unfold_images  # needs scikit-learn, which reading a model does not

    native = model if isinstance(model, Model) else model.model_
    return native.with_early_stop(data_of(unfold_images(X)[0]), disagreement, confidence, seed)


def load(path: str | os.PathLike[str]) -> Model:
    """The model of a .shl file, wherever it was learned."""
    return Model.load(os.fspath(path))


def from_bytes(content: bytes) -> Model:
    """The model of the content of a .shl file. Pickles name this function."""
    return Model.from_bytes(content)
