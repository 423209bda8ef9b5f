"""Notebooks as pages of the documentation site, with what their cells show."""

import base64
import html
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

_MOST_SECONDS = 600
"""Maximum seconds of a cell."""

_PICTURES = {"image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpg"}
"""Kinds of pictures that a cell can show, the best first, with the ending of their files."""

_NO_WIDGETS = "ignore:IProgress not found"  # of tqdm, about bars that no page can show


def read(path: Path) -> Any:
    """Return a notebook."""
    return nbformat.read(path, as_version=4)


def run(notebook: Any) -> Any:
    """Return a notebook whose cells have run in an empty folder, without a network.

    Raises:
        CellExecutionError: a cell failed.
    """
    environment = os.environ | {
        "PYTHONWARNINGS": _NO_WIDGETS,
        "HF_HUB_OFFLINE": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=_MOST_SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        )
        return client.execute(env=environment)


def write_page(notebook: Any, path: Path) -> None:
    """Write a notebook as Markdown, with its pictures beside it.

    Args:
        notebook: the notebook.
        path: of the page; the notebook itself is beside it, under the same name.
    """
    parts = []
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "markdown":
            parts.append(linking_to_pages(cell.source))
        else:
            parts.append(f"```python\n{cell.source}\n```")
            parts += [
                _shown(output, path.parent / f"{path.stem}-{number}-{place}")
                for place, output in enumerate(_joined(cell.outputs), 1)
            ]
        if number == 1:
            parts.append(f"[This page as a notebook]({path.stem}.ipynb)")
    path.write_text("\n\n".join(filter(None, parts)) + "\n", encoding="utf-8")


def linking_to_pages(text: str) -> str:
    """Return Markdown whose links to notebooks lead to their pages."""
    return re.sub(r"\]\(((?:\w[\w/.-]*/)?[\w-]+)\.ipynb\)", r"](\1.md)", text)


def _joined(outputs: list[Any]) -> list[Any]:
    """Return outputs with what was printed piece by piece in one."""
    joined: list[Any] = []
    for output in outputs:
        if joined and output.output_type == joined[-1].output_type == "stream":
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _shown(output: Any, file: Path) -> str:
    """Return what a cell shows, as Markdown.

    Args:
        output: one output of a cell.
        file: where its picture goes, without its ending.
    """
    if output.output_type == "stream":
        return _block(f"<pre>{html.escape(output.text.rstrip(), quote=False)}</pre>")
    data = output.data
    text = data.get("text/plain", "")
    for kind, ending in _PICTURES.items():
        if kind in data:
            content = data[kind]
            path = file.with_suffix(f".{ending}")
            path.write_bytes(content.encode() if ending == "svg" else base64.b64decode(content))
            alt = output.metadata.get(kind, {}).get("alt", text)
            return _block(f'<img src="{path.name}" alt="{html.escape(alt)}">')
    if "text/html" in data:
        return _block(data["text/html"])
    return _block(f"<pre>{html.escape(text, quote=False)}</pre>")


def _block(content: str) -> str:
    """Return HTML that Markdown leaves as it is; it would end at an empty line."""
    lines = re.sub(r"\n\s*\n", "\n", content.strip())
    return f'<div class="output">\n{lines}\n</div>'
