"""Every check of a folder, each file read once."""

from pathlib import Path

from hdbench.building.checks.description import check_description
from hdbench.building.checks.problems import EXAMPLES, FaultyFolderError, Problems, Report
from hdbench.errors import HdbenchError


def check_folder(
    folder: Path, out: Path, *, allow_missing: bool = False, examples: int = EXAMPLES
) -> Report:
    """Look for everything that is wrong with a benchmark in the plain form.

    Args:
        folder: the folder.
        out: the namespace folder in which the benchmark may have been built before.
        allow_missing: a missing image is not an error.
        examples: how many places are named for each problem.

    Raises:
        HdbenchError: there is no such folder.
    """
    if not folder.is_dir():
        raise HdbenchError(f"{folder}: no such folder")
    problems = Problems(examples)
    check_description(folder, problems)
    return Report(str(folder), problems.by_file(), problems.left_out, 0, 0)


def refuse_errors(folder: Path, out: Path, *, allow_missing: bool = False) -> Report:
    """What `check_folder` finds, if it is only warnings.

    Raises:
        FaultyFolderError: there are errors.
        HdbenchError: there is no such folder.
    """
    report = check_folder(folder, out, allow_missing=allow_missing)
    if report.errors:
        raise FaultyFolderError(report)
    return report
