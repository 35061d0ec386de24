"""The program to compare with, and small data."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits


@pytest.fixture(scope="session")
def program() -> str:
    """The command line: SHARELEARN_PROGRAM, or the one that the wheel installs."""
    found = os.environ.get("SHARELEARN_PROGRAM") or shutil.which("sharelearn")
    if not found or not Path(found).exists():
        pytest.skip("no command line to compare with: set SHARELEARN_PROGRAM")
    return found


@pytest.fixture(scope="session")
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400]
