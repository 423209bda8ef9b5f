"""Every check of a folder, in one pass over its rows and one over its media."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from hdbench.benchmarks.benchmark import METADATA, load_benchmark
from hdbench.benchmarks.building.checks.description import (
    DESCRIPTION,
    check_description,
    check_texts,
)
from hdbench.benchmarks.building.checks.media import MediaFile, check_media
from hdbench.benchmarks.building.checks.problems import (
    CheckReport,
    Example,
    FaultyFolderError,
    Problems,
    shown,
)
from hdbench.benchmarks.building.checks.rows import RowChecker
from hdbench.benchmarks.building.errata import ERRATA
from hdbench.benchmarks.building.metadata import metadata_line, next_version
from hdbench.benchmarks.building.namespace import is_ours
from hdbench.benchmarks.building.recipe import SCRIPT, find_recipe
from hdbench.benchmarks.building.source import MEDIA_FOLDERS
from hdbench.benchmarks.spec import BenchmarkSpec
from hdbench.errors import HdbenchError


def check_folder(folder: Path, out: Path) -> CheckReport:
    """Check a benchmark in the plain form for all problems.

    Args:
        folder: the folder.
        out: the namespace folder in which the benchmark may have been built before.

    Raises:
        HdbenchError: there is no such folder, or it is not in the plain form.
    """
    if not folder.is_dir():
        raise HdbenchError(
            "{place}: no such folder: name the one that benchmark.yaml is in", place=folder
        )
    if is_ours(folder):
        raise HdbenchError(
            "{place}: was built by hdbench: check the folder that it came from", place=folder
        )
    if (folder / SCRIPT).exists():
        raise HdbenchError(
            "{place}: its build.py makes the rows: hdbench build checks them", place=folder
        )
    problems = Problems()
    described = check_description(folder, problems)
    schema = check_texts(folder, described.spec, problems)
    rows = RowChecker(described, schema, problems)
    rows.read(folder / METADATA)
    media = {}
    if rows.shown not in (None, "text"):
        media = check_media(folder, rows.shown, rows.media, problems)
    if described.spec is not None and not problems.errors:
        check_version(folder, described.spec, media, out, problems)
    return CheckReport(
        str(folder), problems.by_file(), problems.left_out, rows.number, rows.without_truth
    )


def refuse_errors(folder: Path, out: Path) -> CheckReport:
    """Return the report of `check_folder`, if it has only warnings.

    Raises:
        FaultyFolderError: there are errors.
        HdbenchError: there is no such folder.
    """
    report = check_folder(folder, out)
    if report.errors:
        raise FaultyFolderError(report)
    return report


# Check that data were not changed under the version of those that were built before


def check_version(
    folder: Path, spec: BenchmarkSpec, media: Mapping[str, MediaFile], out: Path, problems: Problems
) -> None:
    """Compare the dataset that would be built with the one that was built.

    Args:
        folder: the benchmark's folder, without errors so far.
        spec: its description.
        media: the files that are there.
        out: the namespace folder.
        problems: where to add what is wrong.
    """
    built = out / spec.name
    same_version = _sha256_of(built, spec.version)
    if same_version is None and not (folder / ERRATA).is_file():
        return
    digest = hashlib.sha256()
    try:
        recipe = find_recipe(str(folder))
        source = recipe.source(None)
        recipe = recipe.of_source(source)
        for row in recipe.rows(source):
            files = (media[path] for path in row.media if path in media)
            copies = [
                (f"{MEDIA_FOLDERS[spec.media]}/{file.sha256}.{file.suffix}", file.sha256)
                for file in files
            ]
            digest.update(metadata_line(row, copies, recipe.spec, has_proposed=recipe.has_proposed))
    except HdbenchError as error:
        problems.add("errata_unusable", file=ERRATA, what=error.message)
        return
    if same_version not in (None, digest.hexdigest()):
        problems.add(
            "changed_data",
            Example(value=shown(spec.version)),
            file=DESCRIPTION,
            field="version",
            folder=built,
            version=next_version(spec.version),
        )


def _sha256_of(built: Path, version: str) -> str | None:
    """Return the content hash of a built benchmark, if it has that version."""
    if not (built / METADATA).is_file():
        return None
    try:
        benchmark = load_benchmark(str(built))
    except HdbenchError:
        return None
    return benchmark.content_hash() if benchmark.spec.version == version else None
