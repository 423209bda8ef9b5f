"""Values of the ground truth that most good models contradict, for a second look."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hdbench.benchmarks.spec import DESCRIPTION
from hdbench.benchmarks.titles import FieldTitles
from hdbench.collections.home.collection import Collection
from hdbench.collections.home.page import EditedPage, HomePage, Visit, open_editor
from hdbench.collections.home.stamps import stamp_of, stamp_of_runs
from hdbench.collections.truth.choice_pages import AuditPage
from hdbench.common.display.table import value_text
from hdbench.errors import HdbenchError
from hdbench.evaluation.runs import load_runs, with_same_items
from hdbench.evaluation.score import Settings
from hdbench.report.audit.findings import Audit, read_audited, write_audit
from hdbench.report.audit.findings import audit as audit_runs
from hdbench.report.audit.models import MAKERS, is_witness

MAX_ROWS = 200
"""Maximum number of values that the page shows."""

_AUDITING = "audit"


def audit_page(collection: Collection, name: str, language: str | None) -> AuditPage:
    """Open the values that were found for a person."""
    found = read_audited(_file(collection)) or {}
    return AuditPage(collection.folder, name, language, found)


def _file(collection: Collection) -> Path:
    """Return the file of the last audit, beside the collection."""
    return collection.beside / f"{collection.spec.name}-audit.csv"


def _show(visit: Visit) -> Mapping[str, Any]:
    collection = visit.collection
    runs = collection.answered_runs()
    shown = {"can_audit": len(runs) >= MAKERS, "is_built": collection.is_built(), "work": None}
    if not all((shown["can_audit"], shown["is_built"])):
        return shown
    paths = [run.path for run in runs]
    stamp = stamp_of(collection.built / DESCRIPTION), stamp_of_runs(paths)
    work = collection.background.computed(_AUDITING, stamp, lambda: _audited(collection, paths))
    return shown | {
        "work": work,
        "findings": work.value.findings[:MAX_ROWS] if work.value else [],
        "count": len(work.value.findings) if work.value else 0,
        "titles": FieldTitles(collection.schema, visit.language),
        "text": value_text,
        "name": visit.home.recent.read().person,
        "has_plan": collection.last_plan() is not None,
    }


def _audited(collection: Collection, runs: Sequence[Path]) -> Audit:
    """Find the values, and keep them in a file.

    Raises:
        HdbenchError: see `hdbench.report.audit.findings.audit`.
    """
    settings = Settings("documented", details=True)
    loaded = load_runs(runs, benchmark=str(collection.built), settings=settings)
    scored = {name: each for name, each in loaded.items() if each.ids and is_witness(each)}
    if not scored:
        raise HdbenchError("No item with a ground truth has been answered yet.")
    asked, _ = with_same_items(scored, runs)
    prefix = f"{collection.spec.name}_"
    found = audit_runs({name.removeprefix(prefix): each for name, each in asked.items()})
    write_audit(_file(collection), found)
    return found


AUDITED = EditedPage("audited/{name}", audit_page)
"""The page with what was found."""

PAGE = HomePage("audit", _show, {"correct": lambda visit: open_editor(visit, AUDITED)})
