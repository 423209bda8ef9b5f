"""The ledger of a collection: which plans were made, verified and decided, line by line.

A limit is verified once. Whoever looks at the errors, learns again and tries once more breaks the
promise, so everything that concerns a plan is written down where its values are read, each line
with the hash of the one before, and all that comes later reads it first.
"""

import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hdbench.benchmarks.benchmark import LEDGER
from hdbench.collections.trust.seals import Sha256
from hdbench.collections.truth.events import now
from hdbench.common.bounds import MAX_WHOLE
from hdbench.common.files import read_at_most, read_errors, write_errors
from hdbench.common.jsonio import parse_line
from hdbench.common.validation import Strict, validate
from hdbench.common.writing import append, lock, refuse_links
from hdbench.errors import HdbenchError

Step = Literal["plan", "learned", "verification", "readings", "decision", "applied", "control"]
"""What was done: a plan was made, or has learned; its verification was opened, the readings of this
were closed, it was decided and applied, and its control sample was read."""


class LedgerEntry(Strict):
    """A line of the ledger.

    Attributes:
        number: its number, from 1.
        previous: sha256 of the line before; empty in the first one.
        at: when, in UTC.
        step: what was done.
        plan: the plan's hash.
        seal: the hash of what was made: of the plan, what was learned, the decision…
        readings: the ids of the readings that were closed.
    """

    number: Annotated[int, Field(ge=1)]
    previous: Annotated[str, Field(pattern="^([0-9a-f]{64})?$")]
    at: str
    step: Step
    plan: Sha256
    seal: Sha256
    readings: tuple[str, ...] = ()


class Ledger:
    """The ledger of a collection, as it is on disk.

    Args:
        folder: the collection, or the dataset.

    Attributes:
        path: its file.
        entries: its lines.

    Raises:
        HdbenchError: it is a link, cannot be read, or was changed.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LEDGER
        self._read()

    def _read(self) -> None:
        self.entries: list[LedgerEntry] = []
        self._head = ""
        refuse_links(self.path)
        if not self.path.exists():
            return
        with read_errors(self.path):
            *lines, _ = read_at_most(self.path, MAX_WHOLE).split(b"\n")
        for number, raw in enumerate(lines, 1):
            where = f"{self.path}:{number}"
            entry = validate(LedgerEntry, parse_line(raw, where), Path(where))
            if (entry.number, entry.previous) != (number, self._head):
                raise HdbenchError(
                    "{place}: does not follow the lines before it: the file was edited: put back "
                    "the file as it was",
                    place=where,
                )
            self._head = hashlib.sha256(raw).hexdigest()
            self.entries.append(entry)

    def add(self, step: Step, plan: str, seal: str, readings: Iterable[str] = ()) -> None:
        """Add a line, unless it is there; when this returns it is on disk.

        Raises:
            HdbenchError: it cannot be written.
        """
        with write_errors(self.path), lock(self.path.with_name(f".{LEDGER}.lock")):
            self._read()  # others may have added some
            if self._has(step, plan, seal):
                return
            entry = LedgerEntry(
                number=len(self.entries) + 1,
                previous=self._head,
                at=now(),
                step=step,
                plan=plan,
                seal=seal,
                readings=tuple(readings),
            )
            append(self.path, f"{entry.model_dump_json(exclude_defaults=True)}\n".encode())
            self._read()

    def of(self, step: Step, plan: str) -> LedgerEntry | None:
        """Return the first entry of a step of a plan."""
        return next((one for one in self.entries if (one.step, one.plan) == (step, plan)), None)

    def _has(self, step: Step, plan: str, seal: str) -> bool:
        return any((one.step, one.plan, one.seal) == (step, plan, seal) for one in self.entries)

    def require(self, step: Step, plan: str, seal: str, file: Path) -> None:
        """Refuse a ledger that lacks what was written into it when a file was made.

        Raises:
            HdbenchError: it does.
        """
        if not self._has(step, plan, seal):
            raise HdbenchError(
                "{place}: has {count:,} lines, and none is about {file}: it is shorter than it "
                "was, or that is about another collection: put back the file as it was",
                place=self.path,
                count=len(self.entries),
                file=file,
            )

    def check_only(self, tries: Collection[str]) -> None:
        """Refuse to go on where another plan is verified.

        Args:
            tries: the hash of the plan, and of those of the tries before.

        Raises:
            HdbenchError: another plan is, and did not provide for one more try.
        """
        others = [one for one in self.entries if one.step == "verification"]
        other = next((one for one in others if one.plan not in tries), None)
        if other:
            raise HdbenchError(
                "{place}:{number}: values were drawn to verify another plan ({hash}…), and to "
                "look, learn again and try once more breaks the promise: use what was decided "
                "then; next time, plan for several tries",
                place=self.path,
                number=other.number,
                hash=other.plan[:12],
            )

    def plans_before(self, plan: str) -> int:
        """Return how many plans had been made when a plan was decided, or until now."""
        closed = self.of("readings", plan)
        before = self.entries[: closed.number] if closed else self.entries
        return sum(one.step == "plan" for one in before)
