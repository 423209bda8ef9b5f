"""Versions of a benchmark's data: the next one, written into its folder with the reason."""

import re
from collections.abc import Mapping
from pathlib import Path

from hdbench.benchmarks.building.metadata import next_version
from hdbench.benchmarks.building.recipe import Recipe
from hdbench.common.folder_files import text_in
from hdbench.common.jsonio import write_whole
from hdbench.errors import HdbenchError


def raise_version(recipe: Recipe, why: str, besides: Mapping[Path, str] = {}) -> str:
    """Write the next version into `benchmark.yaml` and the changelog: all files or none.

    Args:
        recipe: the benchmark.
        why: the lines of the changelog's entry.
        besides: further files and their texts, which are written last.

    Returns:
        The version.

    Raises:
        HdbenchError: the version is not X.Y.Z, or a file cannot be read or written.
    """
    path, changelog = recipe.folder / "benchmark.yaml", recipe.folder / "CHANGELOG.md"
    before = recipe.spec.version
    if not re.fullmatch(r"\d+\.\d+\.\d+", before):
        raise HdbenchError(
            "{place}: version: {version!r} is not X.Y.Z and cannot be raised",
            place=path,
            version=before,
        )
    version = next_version(before)
    text, count = re.subn(
        rf"^(version:.*?){re.escape(before)}",
        rf"\g<1>{version}",
        text_in(path.parent, path.name),
        flags=re.MULTILINE,
    )
    if count != 1:
        raise HdbenchError(
            "{place}: must have one line with version: {version}", place=path, version=before
        )
    head, newest, older = text_in(changelog.parent, changelog.name).partition("\n## ")
    entry = f"{head}\n## {version}\n\n{why}{newest}{older}"
    _write({path: text, changelog: entry, **besides})
    return version


def _write(texts: Mapping[Path, str]) -> None:
    """Write files: all or none."""
    before = {path: path.read_bytes() if path.is_file() else None for path in texts}
    try:
        for path, text in texts.items():
            write_whole(path, text.encode())
    except BaseException:
        for path, data in before.items():
            if data is None:
                path.unlink(missing_ok=True)
            elif path.read_bytes() != data:
                write_whole(path, data)
        raise
