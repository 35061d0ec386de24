"""Small, fast multiclass and multitask predictors whose classes share what they use.

The estimators follow scikit-learn; models are the same files, byte for byte, as those of the command line.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import plot as plot
    from ._cache import Cache as Cache
    from ._core import Model as Model
    from ._core import __version__ as __version__
    from ._estimators import CascadeClassifier as CascadeClassifier
    from ._estimators import GradBoostClassifier as GradBoostClassifier
    from ._estimators import GradBoostRegressor as GradBoostRegressor
    from ._estimators import MultitaskCascadeClassifier as MultitaskCascadeClassifier
    from ._estimators import ShareBoostClassifier as ShareBoostClassifier
    from ._estimators import ShareBoostRegressor as ShareBoostRegressor
    from ._estimators import ShareBoostSelector as ShareBoostSelector
    from ._estimators import SharingClassifier as SharingClassifier
    from ._estimators import StructuralAdaBoostClassifier as StructuralAdaBoostClassifier
    from ._files import early as early
    from ._files import export as export
    from ._files import load as load
    from ._files import save as save

_HOME = {
    "Cache": "_cache",
    "Model": "_core",
    "__version__": "_core",
    "CascadeClassifier": "_estimators",
    "GradBoostClassifier": "_estimators",
    "GradBoostRegressor": "_estimators",
    "MultitaskCascadeClassifier": "_estimators",
    "ShareBoostClassifier": "_estimators",
    "ShareBoostRegressor": "_estimators",
    "ShareBoostSelector": "_estimators",
    "SharingClassifier": "_estimators",
    "StructuralAdaBoostClassifier": "_estimators",
    "early": "_files",
    "export": "_files",
    "load": "_files",
    "save": "_files",
}
__all__ = sorted([*_HOME, "plot"])


def __getattr__(name: str) -> Any:
    # Imported when first used: the command line must not wait for scikit-learn.
    if name == "plot":
        return importlib.import_module(".plot", __name__)
    if name not in _HOME:
        raise AttributeError(f"module 'sharelearn' has no attribute '{name}'")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
