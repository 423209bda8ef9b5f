"""Every check of a folder, in one pass over its rows and one over its media."""

from pathlib import Path

from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.building.checks.description import check_description
from hdbench.benchmarks.building.checks.media import check_media
from hdbench.benchmarks.building.checks.problems import (
    CheckReport,
    FaultyFolderError,
    Problems,
)
from hdbench.benchmarks.building.checks.rows import RowChecker
from hdbench.benchmarks.building.checks.texts import check_texts
from hdbench.benchmarks.building.checks.version import check_version
from hdbench.benchmarks.building.namespace import is_ours
from hdbench.benchmarks.building.recipe import SCRIPT
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
        raise HdbenchError("{place}: no such folder", place=folder)
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
