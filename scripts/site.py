"""Hooks of the documentation site (mkdocs.yml): the notebook is executed and becomes a page, and links to files outside
docs/ become plain text, because the site does not have these files."""

from __future__ import annotations

import base64
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.structure.files import File
from nbclient import NotebookClient

DOCS = Path(__file__).resolve().parents[1] / "docs"
NOTEBOOK = "few-sensors"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # small matrices; spinning threads only disturb each other


def output_of(output: Any, image: str, pictures: dict[str, bytes]) -> str:
    """One output of a cell as Markdown; its picture goes into `pictures`."""
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```"
    data = output.data
    if "image/png" in data:
        pictures[image] = base64.b64decode(data["image/png"])
        return f"![Picture drawn by the code above]({image})"
    if "text/html" in data:
        return re.sub(r"<style.*?</style>", "", data["text/html"], flags=re.S).strip()
    return f"```text\n{data['text/plain']}\n```"


def execute(notebook: Path) -> tuple[str, dict[str, bytes]]:
    """The executed notebook as Markdown, and its pictures by name. An error in a cell ends the build."""
    content = nbformat.read(notebook, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            content,
            timeout=600,
            resources={"metadata": {"path": folder}},
            extra_arguments=["--IPKernelApp.log_level=ERROR"],
        ).execute()
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in content.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            parts.append(output_of(output, f"{notebook.stem}-{len(pictures) + 1}.png", pictures))
    return "\n\n".join(parts) + "\n", pictures


def on_files(files: Any, config: Any) -> Any:
    text, pictures = execute(DOCS / f"{NOTEBOOK}.ipynb")
    files.append(File.generated(config, f"{NOTEBOOK}.md", content=text))
    for name, content in pictures.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    markdown = markdown.replace(f"({NOTEBOOK}.ipynb)", f"({NOTEBOOK}.md)")
    return re.sub(r"\[`?([^]`]+)`?\]\(\.\./[^)]*\)", r"`\1`", markdown)
