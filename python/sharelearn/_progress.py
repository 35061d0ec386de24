"""A progress bar for terminals and notebooks."""

from __future__ import annotations

import sys


class ProgressBar:
    """Rewrites one line of standard error: what is done, a bar, and the last error."""

    def __init__(self) -> None:
        self._length = 0

    def __call__(self, what: str, done: int, total: int, note: str) -> None:
        filled = 30 * done // max(total, 1)
        text = f"{what} {done}/{total} [{'#' * filled}{'.' * (30 - filled)}] {note}"
        sys.stderr.write("\r" + text.ljust(self._length))
        sys.stderr.flush()
        self._length = len(text)

    def close(self) -> None:
        if self._length:
            sys.stderr.write("\n")
