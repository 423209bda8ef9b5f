"""The folder that a decision is applied in: its files, and the lock that lets one process write."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from filelock import Timeout
from pydantic import Field as Checked

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.collections.trust.decision_file import Decision, read_decision
from hdbench.collections.trust.plan import Plan, list_sha256, read_plan
from hdbench.collections.trust.seals import Sealed, Sha256
from hdbench.common.files import file_sha256, read_text
from hdbench.common.jsonio import parse_file, write_json
from hdbench.common.validation import check_file, validate
from hdbench.common.writing import lock, refuse_links, remove_unfinished, write_whole
from hdbench.errors import HdbenchError, Message, os_reason

PLAN = "plan.yaml"
"""The plan, as it was."""

DECISION = "decision.json"
"""The decision made by it."""

VALUES = "values.jsonl"
"""The decision about each value of each item, in the benchmark's order."""

WORK_LIST = "worklist.csv"
"""The values that a person has to look at, those of the worst items first."""

CONTROL = "control.yaml"
"""Accepted values, drawn at random, to be read blind."""

APPLIED = "applied.json"
"""The record of what was done, with its hash; written last."""

LOCK = ".lock"

TAKEN, CHECK, CHECKED = "taken", "check", "checked"
"""Decisions about a value: it is accepted, a person has to look at it, or already did."""

NO_ANSWER = Message("no answer")
LEFT_OUT = Message("field without accepted values")
BELOW = Message("not sure enough")
NOT_READ = Message("people could not read it, or do not agree")
"""Reasons to have a person look at a value."""

MAX_FILE = 2**20
"""Maximum size in bytes of `APPLIED`."""

Number = Annotated[int, Checked(ge=0)]


class Applied(Sealed):
    """Record of what was done with a decision.

    Attributes:
        hdbench: the version that finished it.
        finished: when, in UTC.
        plan: the plan's hash.
        benchmark: the benchmark it was done for.
        benchmark_version: its version.
        items: how many items it has.
        taken: how many values are accepted.
        check: reason → how many values a person has to look at because of it.
        checked: how many values people have read, which count.
        to_look_at: how many items are on the work list.
        by_field: path → `taken`, `checked` or a reason → how many values.
        decision_sha256: sha256 of the file of the decision.
        values_sha256: sha256 of the file of values.
        control_sha256: the control sample's hash.
    """

    hdbench: str
    finished: str
    plan: Sha256
    benchmark: str
    benchmark_version: str
    items: Number
    taken: Number
    check: dict[str, Number]
    checked: Number
    to_look_at: Number
    by_field: dict[str, dict[str, Number]]
    decision_sha256: Sha256
    values_sha256: Sha256
    control_sha256: Sha256


@contextmanager
def only_process(out: Path) -> Iterator[None]:
    """Keep other processes from writing into the folder, which is made if it is not there.

    Raises:
        HdbenchError: another process is writing into it, or the folder cannot be written.
    """
    refuse_links(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HdbenchError(
            "{place}: cannot be made: {why}: choose another -o", place=out, why=os_reason(error)
        ) from error
    try:
        with lock(out / LOCK).acquire(blocking=False):
            yield
    except Timeout as error:
        raise HdbenchError(
            "{place}: another hdbench is writing into it: wait for it", place=out
        ) from error


def begin(out: Path, plan_file: Path, decision: Decision) -> None:
    """Record in the folder what is applied, or check that the same was begun there before.

    Raises:
        HdbenchError: the folder holds something else.
    """
    decision_file = out / DECISION
    for name in (PLAN, DECISION, VALUES, WORK_LIST, CONTROL, APPLIED):
        refuse_links(out / name)
        remove_unfinished(out / name)
    if not decision_file.exists():
        if others := {path.name for path in out.iterdir()} - {LOCK, PLAN}:
            raise HdbenchError(
                "{place}: is not empty (it has {name}), and not from hdbench trust apply: choose "
                "another -o",
                place=out,
                name=min(others),
            )
        write_whole(out / PLAN, plan_file.read_bytes())
        write_json(decision_file, decision.model_dump(mode="json"))
        return
    recorded = read_decision(decision_file)
    movable = {"plan_file": recorded.plan_file, "decided": recorded.decided}
    if decision.model_copy(update=movable) != recorded:
        raise HdbenchError(
            "{place}: was begun with another plan: choose another -o, or delete the folder"
            if recorded.plan != decision.plan
            else "{place}: was begun with other readings or another version of hdbench: choose "
            "another -o, or delete the folder",
            place=out,
        )


def read_begun(out: Path) -> tuple[Plan, Decision]:
    """Return the plan and the decision that a folder was made from.

    Raises:
        HdbenchError: the folder is not one of `hdbench trust apply`, or has another plan.
    """
    if not (out / DECISION).is_file():
        raise HdbenchError(
            "{place}: not a folder of hdbench trust apply (no {file})", place=out, file=DECISION
        )
    plan, decision = read_plan(out / PLAN), read_decision(out / DECISION)
    if plan.hash() != decision.plan:
        raise HdbenchError(
            "{place}: not the plan of {decision}: put that one there",
            place=out / PLAN,
            decision=out / DECISION,
        )
    return plan, decision


def check_same_list(plan: Plan, benchmark: Benchmark, out: Path) -> None:
    """Refuse a benchmark with other items than those of the plan that was applied.

    Raises:
        HdbenchError: its items are others.
    """
    if list_sha256(benchmark.ids()) != plan.list_sha256:
        raise HdbenchError(
            "{benchmark}: its items are not those that {place} was made for: restore the list",
            benchmark=benchmark.id,
            place=out,
        )


def write_applied(out: Path, applied: Applied) -> None:
    """Write the record of what was done, with its hash.

    Raises:
        HdbenchError: it cannot be written.
    """
    write_json(out / APPLIED, {**applied.as_dict(), "hash": applied.hash()})


def read_applied(out: Path) -> Applied:
    """Return the record of what was done, once all of it is.

    Raises:
        HdbenchError: it is not finished; the file is unusable; it or the decision was changed.
    """
    path = out / APPLIED
    if not path.exists():
        raise HdbenchError("{place}: is not finished: run hdbench trust apply again", place=out)
    check_file(path, MAX_FILE, Message("what was written"))
    data = parse_file(read_text(path, MAX_FILE), path)
    recorded_hash = data.pop("hash", None) if isinstance(data, dict) else None
    applied = validate(Applied, data, path)
    if applied.hash() != recorded_hash:
        raise changed(path)
    if file_sha256(out / DECISION) != applied.decision_sha256:
        raise changed(out / DECISION)
    return applied


def check_values(out: Path, applied: Applied) -> None:
    """Refuse values that were changed after they were written.

    Raises:
        HdbenchError: they were.
    """
    if file_sha256(out / VALUES) != applied.values_sha256:
        raise changed(out / VALUES)


def changed(path: Path) -> HdbenchError:
    """Return the error for a file of the folder that was changed after it was written."""
    return HdbenchError(
        "{place}: was changed after it was written: restore it, or delete the folder and apply "
        "the plan again",
        place=path,
    )
