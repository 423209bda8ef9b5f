"""The work list of a decision, as people look at its values in the browser."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple

from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.collections.trust.acceptance import BELOW, LEFT_OUT, NO_ANSWER, NOT_READ
from hdbench.collections.trust.fields import value_of
from hdbench.collections.trust.folder import (
    APPLIED,
    CHECK,
    PLAN,
    VALUES,
    changed,
    check_same_list,
    read_applied,
    read_begun,
)
from hdbench.collections.trust.origins import ValueStates
from hdbench.collections.trust.runs import Runs, opened_runs
from hdbench.collections.trust.work_list import read_listed
from hdbench.collections.truth.work_list import Candidate, EntryField, Reason
from hdbench.common.jsonio import parse_line
from hdbench.common.letters import text_of
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError

REASONS: Mapping[str, Reason] = {
    NO_ANSWER: "no_answer",
    LEFT_OUT: "left_out",
    BELOW: "below",
    NOT_READ: "not_read",
}
"""Reasons to look at a value, as the folder has them."""

_ID = re.compile(rb'\{"id": ("(?:[^"\\]|\\.)*"), "fields": ')


def is_work_list(path: Path) -> bool:
    """Return whether a list of items lies in a folder of `hdbench trust apply`."""
    return path.suffix.lower() == ".csv" and (path.parent / APPLIED).is_file()


class _Place(NamedTuple):
    """An item of the list.

    Attributes:
        offset: where its line in the file of values begins.
        fields: its doubtful fields.
    """

    offset: int
    fields: tuple[str, ...]


class AppliedWorkList:
    """The work list of a folder of `hdbench trust apply`; close it in the end.

    The values of an item are read when it is shown: of the others, only the places are kept.

    Args:
        path: the list; it may have been cut or sorted.
        folder: the collection, or the dataset.

    Attributes:
        items: the ids of the items, in order.
        out: the folder of `hdbench trust apply`.
        benchmark: the collection, or the dataset.
        names: the names of the runs, in the plan's order.
        seal: sha256 of the values in the folder.

    Raises:
        HdbenchError: the folder is not finished or was changed; the items are not those of the
            plan; a run is missing or was changed.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self.out = out = path.parent
        self._plan, decision = read_begun(out)
        applied = read_applied(out)
        self.seal = applied.values_sha256
        self.benchmark = benchmark = load_benchmark(str(folder))
        check_same_list(self._plan, benchmark, out)
        states = ValueStates(self._plan, benchmark, out, applied, is_worked=False)
        self._places = _places(out / VALUES, read_listed(path), self.seal, path, states)
        self.items: Sequence[str] = list(self._places)
        self._path = out / VALUES
        self._open = ExitStack()
        try:
            with read_errors(self._path):
                self._file = self._open.enter_context(self._path.open("rb"))
            self._runs = self._opened_runs(benchmark, out, Path(decision.plan_file))
        except BaseException:
            self._open.close()
            raise
        self.names = [run.name for run in self._plan.runs]

    def close(self) -> None:
        """Close the files."""
        self._open.close()

    def doubtful(self, item: str) -> Sequence[str]:
        """Return the paths of an item's doubtful fields; none if it is not on the list."""
        place = self._places.get(item)
        return place.fields if place else ()

    def fields(self, item: str) -> list[EntryField]:
        """Return the values of an item.

        Raises:
            HdbenchError: they cannot be read.
        """
        values = self._line(self._file, item)
        doubtful = self.doubtful(item)
        records = self._runs.records(item)
        fields = []
        for field in self._runs.fields:
            value = values[field.path]
            reason = REASONS.get(value.get("reason", ""))
            entry = EntryField(field.path, value["decision"], reason, value["value"])
            if field.path in doubtful:
                said = [None if record is None else value_of(record, field) for record in records]
                entry = entry._replace(
                    score=value.get("score"),
                    candidates=self._candidates(records, said, text_of(value["value"])),
                    silent=tuple(
                        name
                        for name, record in zip(self.names, records, strict=True)
                        if record is None
                    ),
                )
            fields.append(entry)
        return fields

    def _line(self, file: IO[bytes], item: str) -> dict[str, Any]:
        with read_errors(self._path):
            file.seek(self._places[item].offset)
            raw = file.readline()
        line = parse_line(raw, self._path)
        if line.get("id") != item:
            raise changed(self._path)
        fields: dict[str, Any] = line["fields"]
        return fields

    def _candidates(
        self, records: Sequence[Any], said: Sequence[Any], preferred: str
    ) -> tuple[Candidate, ...]:
        """Return what the runs say, the preferred text first, then what most of them say."""
        by_text: dict[str, Candidate] = {}
        for name, record, value in zip(self.names, records, said, strict=True):
            if record is None:
                continue
            text = text_of(value)
            before = by_text.get(text, Candidate(value if text else None, text, ()))
            by_text[text] = before._replace(runs=(*before.runs, name))
        return tuple(
            sorted(by_text.values(), key=lambda one: (one.text != preferred, -len(one.runs)))
        )

    def _opened_runs(self, benchmark: Benchmark, out: Path, plan_file: Path) -> Runs:
        # Runs lie beside the plan that was applied; the folder has a copy of it.
        beside = plan_file if plan_file.exists() else out / PLAN
        opening = opened_runs(
            self._plan.runs, self._plan.fields, benchmark, beside, all_are_loaded=True
        )
        return self._open.enter_context(opening)


def _places(
    path: Path,
    listed: Mapping[str, Sequence[str]],
    sha256: str,
    work_list: Path,
    states: ValueStates,
) -> dict[str, _Place]:
    """Return where the values of each item on the list are, in the list's order.

    Args:
        path: the file of values.
        listed: id → the doubtful fields; none for all.
        sha256: the hash that the file of values must have.
        work_list: the list's file.
        states: says what people have read, which is left out.

    Raises:
        HdbenchError: the file was changed, or lacks an item.
    """
    digest, offset = hashlib.sha256(), 0
    found: dict[str, _Place] = {}
    with read_errors(path), path.open("rb") as file:
        for raw in file:
            digest.update(raw)
            match = _ID.match(raw)
            item = json.loads(match[1]) if match else ""
            doubtful = _doubtful(raw, listed[item], path) if item in listed else {}
            left = states.doubtful(item, doubtful)
            if item in listed:
                found[item] = _Place(offset, left)
            offset += len(raw)
    if digest.hexdigest() != sha256:
        raise changed(path)
    states.check_order()
    for item in listed:
        if item not in found:
            raise HdbenchError(
                "{item}: {folder} has no such item", item=f"{work_list}: {item}", folder=path
            )
    places = {item: found[item] for item in listed if found[item].fields}
    if not places:
        raise HdbenchError("{place}: lists no items: there is nothing to look at", place=work_list)
    return places


def _doubtful(raw: bytes, listed: Sequence[str], path: Path) -> dict[str, dict[str, Any]]:
    fields = parse_line(raw, path)["fields"]
    return {
        name: value
        for name, value in fields.items()
        if value["decision"] == CHECK and (not listed or name in listed)
    }
