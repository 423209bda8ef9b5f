"""Predictions files: one answer for each id, found again by id in little memory."""

from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from hdbench.answers import read_text
from hdbench.errors import HdbenchError
from hdbench.jsonio import MAX_LINE, parse_line, read_jsonl


class Predictions:
    """The answers of a JSON Lines file: `{"id", "prediction"}` or `{"id", "text"}`, one a line.

    Only the ids and where their lines start are kept, so that the answers to a whole catalogue fit.
    A given `prediction`, even null, is taken as it stands; `text`, a model's raw answer, is read
    only where there is no `prediction`.

    Raises:
        HdbenchError: the file cannot be read or has no answers, a line is unusable or has no id,
            or an id occurs twice; the message names the line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offsets: dict[str, int] = {}
        for line in read_jsonl(path):
            item_id = _check(line.value, f"{path}:{line.number}")
            if item_id in self._offsets:
                first = self._line_number(self._offsets[item_id])
                raise HdbenchError(
                    f"{path}:{line.number}: a second answer for id {item_id!r}, "
                    f"the first is in line {first}: keep one"
                )
            self._offsets[item_id] = line.offset
        if not self._offsets:
            raise HdbenchError(f"{path}: no predictions in this file")
        self._file: BinaryIO = path.open("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def take(self, item_id: str) -> Any:
        """The prediction for an id, None where there is none; each is given once."""
        offset = self._offsets.pop(item_id, None)
        if offset is None:
            return None
        self._file.seek(offset)
        line = parse_line(self._file.readline(MAX_LINE), str(self.path))
        return line["prediction"] if "prediction" in line else read_text(line["text"])

    def refuse_rest(self, benchmark: str) -> None:
        """Refuse ids that the benchmark does not have.

        Raises:
            HdbenchError: an answer was never taken.
        """
        if self._offsets:
            item_id, offset = next(iter(self._offsets.items()))
            others = f" (and {len(self._offsets) - 1} more ids)" if len(self._offsets) > 1 else ""
            raise HdbenchError(
                f"{self.path}:{self._line_number(offset)}: {benchmark} has no id "
                f"{item_id!r}{others}: is this file for another benchmark or version?"
            )

    def _line_number(self, offset: int) -> int:
        with self.path.open("rb") as file:
            number = 1
            while file.tell() < offset:
                file.readline()
                number += 1
            return number


def _check(line: dict[str, Any], where: str) -> str:
    """The id of a line, once it is known to be usable."""
    item_id = line.get("id")
    if not isinstance(item_id, str):
        raise HdbenchError(f'{where}: needs an "id" that is a text in quotes, as in the dataset')
    if "prediction" not in line and not isinstance(line.get("text"), str):
        keys = ", ".join(sorted(line))
        raise HdbenchError(f'{where}: needs "prediction" or a "text" in quotes; it has: {keys}')
    return item_id
