"""Every Python snippet of the documentation runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_snippets(page, tmp_path, monkeypatch):
    file = ROOT / page
    if not file.exists():
        pytest.skip("not in a source tree")
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", file.read_text(), re.S)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, page, "exec"), {})
