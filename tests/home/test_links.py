"""Whatever writes in a collection, or beside it, refuses a link, and changes nothing elsewhere."""

import re
import shutil
from functools import partial
from pathlib import Path

import pytest
from helpers.waiting import until
from home.asking import picture, upload
from home.collections import NAME, Cards
from home.test_adding import begun
from home.test_decisions import HERE, Opened

from hdbench.collections.home.collection import opened
from hdbench.collections.trust.control import check_control
from hdbench.collections.trust.decision import (
    decide,
)
from hdbench.collections.trust.learning import learn_once
from hdbench.collections.trust.work_list import take_in
from hdbench.collections.truth.double import read_double
from hdbench.collections.truth.store import Store
from hdbench.errors import HdbenchError
from hdbench.models.run_folder import is_locked

pytestmark = pytest.mark.nightly

REFUSED = (
    "is a symbolic link, and nothing is written through one",
    "put the file itself there",  # of a file that is read first
    "exists already",
    "nothing is planned",  # as no plan is looked for behind a link
    "nothing is accepted yet",
)
AVOIDED = {("plan", "decisions/cards"), ("plan", "decisions/cards/plan.yaml")}
"""Where a folder of another name is made."""


def planned(page):
    found = page.collection.planned()
    return found.plan, page.collection.decisions.dataset(), found.file


def enter(page):
    with Store(page.folder, "Zoe") as store:
        after = (store.state("0001").head or {}).get("ground_truth")
        store.change("0001", "ground_truth", "title", "Neu", after=after, how="blind")


def add_scan(page):
    new = begun(page.client, f"/{page.key}/scans/add")
    upload(page.client, f"{new}/scans", "new.png", picture("red"))
    return page.client.post(f"{new}/write", headers=HERE)


def drop(path, name, content, page):
    return page.client.post(f"/{page.key}/{path}?name={name}", content=content, headers=HERE)


def start(page):
    run = page.collection.runs.start("m", "http://127.0.0.1:9", "en")
    until(lambda: not is_locked(run.with_name(f".{run.name}.pid")), "the end of the run")


def in_background(name, action, page, **fields):
    return page.send(action, **fields).text + page.page(name)  # the one or the other says why


def applied(page):
    planned(page)
    return page.collection.decisions.apply(page.collection.planned(), 10)


def finished(page):
    form = {"group": "table", "form": "csv"}
    return in_background("finish", "finish/write", page, **form)


def controlled(page):
    _, dataset, file = planned(page)
    check_control(file.with_name("out"), dataset)


def filled_in(page):
    _, dataset, file = planned(page)
    table = page.folder.parent.with_name("filled.csv")
    table.write_text("id,field,value\n0079,year,1900\n")
    take_in(table, file.with_name("out"), dataset, "Zoe")


ANSWERS = '{"id": "0000", "prediction": {"title": "Faust"}}\n'
MAPPING = 'csv: {Titel: "{title}"}\n'

ACTIONS = {
    "truths": {
        "enter": (enter, "people/.Zoe.lock", "people/.metadata.jsonl.lock"),
        "read double": (lambda page: read_double(page.folder, "Zoe", 1), "people/.Zoe.lock"),
        "rename a field": (
            lambda page: page.send("fields/change", field="year", name="jahr", kind=""),
        ),
        "change the prompt": (lambda page: page.send("fields/prompt", prompt="Read."),),
        "add a scan": (add_scan,),
        "build": (lambda page: page.collection.ensure_built(), "/hdb"),
        "drop answers": (partial(drop, "runs/upload", "a.jsonl", ANSWERS),),
        "start a run": (start,),
        "remove a run": (
            lambda page: page.collection.runs.remove(f"{NAME}_otter.jsonl"),
            "/removed",
        ),
        "report": (partial(in_background, "compare", "compare/report", run=f"{NAME}_heron.jsonl"),),
        "audit": (lambda page: page.page("audit"),),
        "plan": (lambda page: page.plan(), "/hdb/cards/.ledger.jsonl.lock"),
    },
    "learned from": {
        "learn": (lambda page: learn_once(*planned(page)), "/decisions/cards/.learned.yaml.lock"),
    },
    "verified": {
        "decide": (lambda page: decide(*planned(page)), "/hdb/cards/.ledger.jsonl.lock"),
        "apply": (
            applied,
            *(f"/decisions/cards/out/{name}" for name in (".lock", "values.jsonl")),
        ),
    },
    "applied": {
        "control": (controlled,),
        "finish": (
            finished,
            *(
                f"/decisions/cards/out/finished/{name}"
                for name in (".lock", ".delivery", ".delivery-whole", "changes.jsonl")
            ),
        ),
        "drop a mapping": (partial(drop, "finish/upload/mapping", "a.yaml", MAPPING),),
        "choose columns": (lambda page: page.send("finish/keep", group="csv"),),
        "drop own records": (partial(drop, "finish/upload/records", "a.xml", "<collection/>"),),
        "take in a work list": (filled_in, "/hdb/cards/people/.Zoe.lock"),
    },
}
"""What has been done → what writes then: a function, and files that it has for a moment."""


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    """What has been done → a folder with the collection as it is then."""
    folder = tmp_path_factory.mktemp("stages")
    cards = Cards(folder / "truths", cards=80)
    page = Opened(cards, folder / "state")

    def keep(name):
        shutil.copytree(folder / "truths", folder / name, symlinks=True)

    opened(cards.folder).ensure_built()
    keep("built")
    page.plan()
    page.read()
    keep("learned from")
    learn_once(*planned(page))
    page.read()
    keep("verified")
    decide(*planned(page))
    applied(page)
    page.read()
    keep("applied")
    page.home.close()
    return lambda name: cards.at(folder / ("built" if name == "truths" else name))


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def done(cards, place, action, link=None, elsewhere=None):
    """Let an action write in a copy with a link in it, and return what it said."""
    shutil.copytree(cards.folder.parent, place / "place", symlinks=True)
    path = place / "place" / (link or "")
    if link:
        elsewhere.mkdir(parents=True)
        if path.exists():
            path.rename(elsewhere / "target")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(elsewhere / "target")
    before = files(elsewhere) if link else {}
    page = Opened(cards.at(place / "place"), place / "state")
    try:
        told = action(page)
    except HdbenchError as error:
        told = str(error)
    finally:
        page.home.close()
    if link:
        assert files(elsewhere) == before, link
        assert path.is_symlink(), link
    return told if isinstance(told, str) else getattr(told, "text", "")


def written(cards, place, action):
    """The files that an action writes, by their paths below the place of the collection."""
    before = files(cards.folder.parent)
    assert not re.search(r'role="alert">[^<]|{"error"', done(cards, place, action))
    after = files(place / "place")
    return {name for name in after if after[name] != before.get(name)}


@pytest.mark.parametrize(
    ("stage", "name"), [(stage, name) for stage, each in ACTIONS.items() for name in each]
)
def test_nothing_is_written_through_a_link(stages, tmp_path, stage, name):
    cards, (action, *others) = stages(stage), ACTIONS[stage][name]
    links = written(cards, tmp_path / "1", action) & written(cards, tmp_path / "2", action)
    links |= {each[1:] if each[0] == "/" else f"{NAME}/{each}" for each in others}
    assert links
    folders = {str(folder) for link in links for folder in Path(link).parents} - {".", NAME}
    for number, link in enumerate(sorted(links | folders), 10):
        told = done(cards, tmp_path / str(number), action, link, tmp_path / f"elsewhere{number}")
        assert any(why in told for why in REFUSED) or (name, link) in AVOIDED, link
