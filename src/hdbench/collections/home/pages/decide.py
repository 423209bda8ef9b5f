"""Which values can be accepted without anybody looking at them: from the plan to the work list."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from starlette.responses import HTMLResponse, Response

from hdbench.benchmarks.titles import FieldTitles, Titles
from hdbench.collections.home.collection import Collection
from hdbench.collections.home.page import Done, EditedPage, HomePage, Visit, open_editor
from hdbench.collections.home.pages.compare import COMPARING, POLICY
from hdbench.collections.home.run_list import RunView
from hdbench.collections.trust.blind_reading import values_to_read
from hdbench.collections.trust.decision_file import Decision
from hdbench.collections.trust.decision_page import decision_page
from hdbench.collections.trust.fields import fields_of
from hdbench.collections.trust.folder import CONTROL, WORK_LIST
from hdbench.collections.trust.learning import learn_once
from hdbench.collections.trust.outlook import SECONDS_PER_VALUE, work_left
from hdbench.collections.trust.plan import (
    DEFAULT_LEARN,
    DEFAULT_VERIFY,
    MAX_LIMIT,
    MAX_VALUES,
    PlanOptions,
)
from hdbench.collections.trust.sentences import (
    TEXTS,
    control_sentences,
    counted,
    sentences,
    warning_in_words,
    worry,
)
from hdbench.collections.trust.work_list import AppliedWorkList
from hdbench.collections.truth.choice_pages import WorkPage
from hdbench.collections.truth.reading_page import ValueCheck
from hdbench.common.texts import language_of, time_in_words
from hdbench.errors import HdbenchError, Message

DEFAULT_CONTROL = 100
"""Number of values of a control sample, as `hdbench trust apply` has it by default."""

_LEARNING, _APPLYING = "learn", "apply"

_ENOUGH = 5
"""Of a small collection, this part is read to learn from, and twice as much to verify it."""


def _value_page(collection: Collection, name: str, language: str | None) -> ValueCheck:
    """Open the values to read next for a person: of the plan, or of the control sample."""
    found, is_applied = collection.planned(), collection.decisions.view().is_applied
    path = found.out / CONTROL if is_applied else found.file
    values = values_to_read(path, collection.built)
    if values is None:
        raise HdbenchError("{place}: has no values to read", place=path)
    return ValueCheck(collection.built, values, name, language)


def _work_page(collection: Collection, name: str, language: str | None) -> WorkPage:
    """Open the work list for a person."""
    work = AppliedWorkList(collection.planned().out / WORK_LIST, collection.built)
    return WorkPage(collection.built, work, name, language)


def _show(visit: Visit) -> Mapping[str, Any]:
    collection, language = visit.collection, visit.language
    view, background = collection.decisions.view(), collection.background
    shown: dict[str, Any] = {
        "view": view,
        "name": visit.home.recent.read().person,
        "titles": FieldTitles(collection.schema, language),
        "time": lambda n, seconds=SECONDS_PER_VALUE: time_in_words(n * seconds / 3600, language),
        "default_control": DEFAULT_CONTROL,
        "learning": background.last(_LEARNING),
        "applying": background.last(_APPLYING),
        "deciding": None,
        "controlling": None,
        "control_sentences": [],
        "decision": None,
    }
    if view.problem:
        return shown
    if not view.is_learned:
        shown |= {"planning": _planning(collection)}
    if view.found is None:
        return shown
    plan, decision = view.found.plan, view.decision
    shown["counted"] = TEXTS.text(counted(plan.right, plan.case), language)
    if view.is_learned and not view.to_read:
        if not view.is_applied:
            shown["deciding"] = collection.decisions.deciding(view.found)
            decision = shown["deciding"].value
        elif view.sample:
            work = shown["controlling"] = collection.decisions.controlling(view.found)
            if work.value:
                shown["control_sentences"] = control_sentences(work.value, language)
    return shown | (_of_decision(decision, shown["titles"], language) if decision else {})


def _planning(collection: Collection) -> dict[str, Any]:
    """Return what the form of a plan shows: how many values there are, and how many are read."""
    fields = [field.path for field in fields_of(collection.schema)[0]]
    values = len(collection.progress().items) * len(fields)
    learn, verify = suggested(values)
    return {
        "runs": _best_first(collection),
        "fields": fields,
        "values": values,
        "learn": learn,
        "verify": verify,
    }


def suggested(values: int) -> tuple[int, int]:
    """Return how many values are read by default: of a small collection, fewer than of others.

    Example:
        >>> suggested(10_000), suggested(420)
        ((300, 600), (84, 168))
    """
    return min(DEFAULT_LEARN, values // _ENOUGH), min(DEFAULT_VERIFY, 2 * values // _ENOUGH)


def _best_first(collection: Collection) -> Sequence[RunView]:
    """Return the runs, in the order in which they were ranked if they were."""
    runs = collection.answered_runs()
    work = collection.background.last(COMPARING)
    if work is None or work.value is None or not work.value.boards:
        return runs
    paths = work.value.paths
    order = [path for row in work.value.boards[0].rows for path in paths.get(row.model, ())]
    return sorted(runs, key=lambda run: order.index(run.path) if run.path in order else len(order))


def _of_decision(decision: Decision, titles: Titles, language: str) -> dict[str, Any]:
    return {
        "decision": decision,
        "sentences": sentences(decision, work_left(decision), language, titles),
        "worry": worry(decision, language),
        "warnings": [warning_in_words(each, language, titles) for each in decision.warnings],
    }


def _plan(visit: Visit) -> Done:
    """Draw the values to read first."""
    form, collection = visit.form, visit.collection
    view = collection.decisions.view()
    known = view.found.hash if view.found else ""
    if form.get("plan", known) != known:
        raise HdbenchError(
            "another window or program has drawn values meanwhile: draw again only to replace them"
        )
    runs = [run.path for run in _best_first(collection) if f"run:{run.name}" in form]
    if not runs:
        raise HdbenchError("choose at least one run")
    fields = [field.path for field in fields_of(collection.schema)[0]]
    wanted = [field for field in fields if f"field:{field}" in form]
    if not wanted:
        raise HdbenchError("choose at least one field")
    options = PlanOptions(
        learn=_number(form, "learn"),
        verify=_number(form, "verify"),
        limit=_percent(form) / 100,
        fields=wanted if wanted != fields else (),
        right="threshold" if form.get("right") == "threshold" else "letter",
        case="ignored" if form.get("right") == "any_case" else "counts",
    )
    likely = collection.decisions.make(runs, options)
    return Done(
        Message(
            "The values are drawn: from now on, only what people read decides; {likely}.",
            likely=likely,
        )
    )


def _number(form: Mapping[str, str], name: str, most: int = MAX_VALUES) -> int:
    given = form.get(name, "").strip()
    if not given.isdecimal() or len(given) > len(str(most)) or not 1 <= int(given) <= most:
        raise HdbenchError(
            "{given}: must be a number of values, from 1 to {most:,}", given=given[:20], most=most
        )
    return int(given)


def _percent(form: Mapping[str, str]) -> float:
    given, most = form.get("limit", "").strip(), 100 * MAX_LIMIT
    with suppress(ValueError):
        if 0 < (percent := float(given.replace(",", "."))) <= most:
            return percent
    raise HdbenchError(
        "{given}: must be a percentage above 0 and at most {most:g}", given=given[:20], most=most
    )


def _learn(visit: Visit) -> None:
    """Learn from the first values, and draw those to verify it."""
    collection, found = visit.collection, visit.collection.planned()
    collection.background.start(
        _LEARNING, lambda: learn_once(found.plan, collection.decisions.dataset(), found.file)
    )


def _apply(visit: Visit) -> None:
    """Accept the values, and list the others."""
    collection = visit.collection
    found, control = collection.planned(), _number(visit.form, "control")
    collection.background.start(_APPLYING, lambda: collection.decisions.apply(found, control))


def _signed_page(visit: Visit) -> Response:
    """Answer with the page of the decision, for the person who signs it."""
    found, decisions = visit.collection.planned(), visit.collection.decisions
    decision = decisions.view().decision or decisions.deciding(found).value
    if decision is None:
        raise HdbenchError("nothing is decided yet")
    language = language_of(visit.query.get("language"))
    page = decision_page(decision, work_left(decision), decisions.dataset(), language)
    return HTMLResponse(
        page.encode(errors="backslashreplace"), headers={"Content-Security-Policy": POLICY}
    )


CHECKING = EditedPage("check/{name}", _value_page)
WORKING = EditedPage("work/{name}", _work_page)

PAGE = HomePage(
    "decide",
    _show,
    {
        "plan": _plan,
        "read": lambda visit: open_editor(visit, CHECKING),
        "learn": _learn,
        "apply": _apply,
        "work": lambda visit: open_editor(visit, WORKING),
    },
    files={"decide/page": _signed_page},
)
