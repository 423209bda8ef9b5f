"""A collection that is open in the home: its folder and runs, and what was decided."""

from collections.abc import Sequence
from pathlib import Path

from hdbench.benchmarks.benchmark import METADATA
from hdbench.collections.home.decisions import Decisions
from hdbench.collections.home.folder import CollectionFolder
from hdbench.collections.home.run_list import RunList, RunView
from hdbench.collections.home.state import CollectionState, standing_of
from hdbench.errors import HdbenchError


class Collection(CollectionFolder):
    """A collection, and what lies beside it.

    Args:
        folder: its folder.

    Attributes:
        runs: its runs, in the folder `runs` beside it.
        decisions: what was decided about its values, in files beside it.

    Raises:
        HdbenchError: it is not a collection in the plain form.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.runs, self.decisions = RunList(self), Decisions(self)

    def answered_runs(self) -> Sequence[RunView]:
        """Return the runs that have answers."""
        return [run for run in self.runs.views() if run.answered]

    def standing(self) -> CollectionState:
        """Return where it stands, as its files say it now.

        Raises:
            HdbenchError: one of them cannot be read.
        """
        return standing_of(
            self.progress(), len(self.fields), self.runs.views(), self.decisions.view()
        )


def opened(folder: Path) -> Collection:
    """Return the collection in a folder.

    Raises:
        HdbenchError: it is not one; the message says what makes one.
    """
    if not (folder / METADATA).is_file():
        raise HdbenchError(
            "{place}: not a collection: hdbench new makes one, or hdbench open without a folder",
            place=folder,
        )
    return Collection(folder)
