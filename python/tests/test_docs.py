"""Every Python snippet of the documentation runs. The notebook is executed where the site is built."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SNIPPET = re.compile(r"^( *)```python\n(.*?)^\1```", re.S | re.M)
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if page.exists() and SNIPPET.search(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets(page, tmp_path, monkeypatch):
    """The snippets of a page are one program."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for _, snippet in SNIPPET.findall(page.read_text(encoding="utf-8")):
        exec(compile(textwrap.dedent(snippet), page.name, "exec"), names)
