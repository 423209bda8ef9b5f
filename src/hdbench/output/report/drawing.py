"""The plots of a report, drawn by a process of their own while the rest of the report is made.

Run as `python -m hdbench.output.report.drawing`, it reads a result and its errors from standard
input, and writes the plots to standard output.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, BinaryIO, cast

from hdbench.answers.titles import Titles
from hdbench.common.extras import needed
from hdbench.errors import HdbenchError
from hdbench.results.result import Result


class Drawing:
    """A process that draws the plots of one result; it is opened with `started`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._input = cast(BinaryIO, process.stdin)
        self._output = cast(BinaryIO, process.stdout)

    @classmethod
    @contextmanager
    def started(cls) -> Iterator["Drawing"]:
        """Return the process, until the block ends: it imports matplotlib before there is a result.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        with needed("plots", "plots need"):
            if find_spec("matplotlib") is None:
                raise ModuleNotFoundError(name="matplotlib")
        with subprocess.Popen(
            # Without -P, the folder that the user is in could hold a module that is imported.
            [sys.executable, "-P", "-m", "hdbench.output.report.drawing"],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            try:
                yield cls(process)
            finally:
                process.kill()
                with suppress(OSError):  # it did not read everything
                    cast(BinaryIO, process.stdin).close()

    def begin(
        self,
        result: Result,
        errors: Mapping[str, Any],
        language: str = "en",
        titles: Titles = str,
    ) -> None:
        """Have the plots drawn; the arguments are those of `hdbench.output.report.plots.plots`.

        The process gets the intervals of fields, but not the items.

        Raises:
            HdbenchError: the process has died.
        """
        with _alive():
            drawn = replace(result, per_item=[]), errors, language, titles, result.field_intervals
            pickle.dump(drawn, self._input)
            self._input.close()

    def plots(self) -> dict[str, bytes]:
        """Return the plots, when they are done.

        Raises:
            HdbenchError: the process has died.
        """
        with _alive():
            drawn: dict[str, bytes] = pickle.load(self._output)  # noqa: S301  of our own process
        return drawn


class DrawingHere:
    """Draws plots in this process, which has already imported matplotlib."""

    def begin(
        self,
        result: Result,
        errors: Mapping[str, Any],
        language: str = "en",
        titles: Titles = str,
    ) -> None:
        """Keep what is to be drawn; see `Drawing.begin`."""
        self._drawn = result, errors, language, titles

    def plots(self) -> dict[str, bytes]:
        """Draw the plots."""
        from hdbench.output.report.plots import plots  # noqa: PLC0415  imports matplotlib

        return plots(*self._drawn)


@contextmanager
def _alive() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError, pickle.UnpicklingError) as error:
        raise HdbenchError("plots: the process that draws them died (out of memory?)") from error


def _draw() -> None:
    """Draw the plots of the result that the process which started this one sends."""
    from hdbench.output.report.plots import plots  # noqa: PLC0415  imports matplotlib

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the other process
    with suppress(EOFError, BrokenPipeError):  # it has ended
        drawn = plots(*pickle.load(sys.stdin.buffer))  # noqa: S301  from no other process
        pickle.dump(drawn, sys.stdout.buffer)
        sys.stdout.flush()


if __name__ == "__main__":
    _draw()
