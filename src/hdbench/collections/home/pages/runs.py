"""The runs of a collection: answers that were dropped, and models that are asked here."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

from hdbench.collections.home.page import Done, HomePage, Visit
from hdbench.collections.home.pages.item import entered, rows_of
from hdbench.collections.home.pages.scans import views_of
from hdbench.collections.home.run_list import RunView
from hdbench.collections.home.uploads import UploadedFile
from hdbench.collections.truth.editor import read_drafts
from hdbench.common.extras import install_command, missing_packages
from hdbench.errors import HdbenchError, Message

EXAMPLES = 3
"""Number of a run's answers that are shown beside their items."""


def _show(visit: Visit) -> Mapping[str, Any]:
    runs = visit.collection.runs.views()
    return {
        "runs": runs,
        "checked": _three(visit, runs),
        "local_command": install_command("vlm") if missing_packages("vlm") else "",
    }


def _three(visit: Visit, runs: Sequence[RunView]) -> Mapping[str, Any]:
    """Return three answers of the run that the address names; nothing without one."""
    collection = visit.collection
    for run in runs:
        if run.answered and run.name == visit.query.get("checked"):
            ids = [each.state.item for each in collection.progress().items]
            draft = read_drafts([run.path], ids, collection.folder.name, collection.schema)[0]
            answered = [item for item in ids if draft.answers.key(item) is not None][:EXAMPLES]
            return {
                "model": run.model,
                "notes": run.notes,
                "items": [
                    (
                        views_of(collection, [ids.index(item)])[0],
                        rows_of(
                            visit,
                            entered(visit, item)[0].record,
                            {run.model: draft.record(item) or {}},
                        ),
                    )
                    for item in answered
                ],
            }
    return {}


def _start(visit: Visit) -> Done:
    kind, model = visit.form.get("kind", ""), visit.form.get("model", "").strip()
    endpoint = visit.form.get("endpoint", "").strip() or None
    if not model:
        raise HdbenchError("name the model")
    if kind == "server" and urlsplit(endpoint or "").scheme not in ("http", "https"):
        raise HdbenchError("the server's address must be a URL, such as http://localhost:8000/v1")
    key = visit.form.get("key", "").strip()
    folder = visit.collection.runs.start(model, endpoint, visit.language, key)
    return Done(Message("{name}: started; it keeps running without this page", name=folder.name))


def _stop(visit: Visit) -> Done | None:
    if not visit.collection.runs.stop(visit.form.get("run", "")):
        return None
    return Done(Message("It stops after the answers that are under way."))


def _resume(visit: Visit) -> None:
    visit.collection.runs.resume(visit.form.get("run", ""), visit.language)


def _remove(visit: Visit) -> Done | None:
    if not visit.collection.runs.remove(visit.form.get("run", "")):
        return None
    return Done(Message("The run is in the folder removed now, beside the collection."))


def _take_in(visit: Visit, given: UploadedFile) -> Mapping[str, str]:
    """Take in a file of answers, which is shown then."""
    path = visit.collection.runs.add(given.path, given.name.name)
    return {"to": f"runs?{urlencode({'checked': path.name})}"}


PAGE = HomePage(
    "runs",
    _show,
    {"start": _start, "stop": _stop, "resume": _resume, "remove": _remove},
    uploads={"upload": _take_in},
)
