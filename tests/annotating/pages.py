"""A collection with every kind of field, and its editor in a process of its own."""

import json
import os
from contextlib import contextmanager
from functools import cache

from helpers.forks import Forks
from helpers.people_files import add_events
from helpers.slow_pdf import slow_pdf
from PIL import Image

from hdbench.collections.truth.events import Double


def field(*types, **more):
    return {"type": [*types, "null"], **more}


SCHEMA = {
    "type": "object",
    "required": ["title", "kind", "year", "persons"],
    "properties": {
        "title": field("string", titles={"en": "Title", "de": "Titel"}),
        "kind": {"enum": ["book", "letter", None], "title": "Kind"},
        "year": field("integer", title="Year"),
        "signed": field("boolean", title="Signed"),
        "imprint": field(
            "object", title="Imprint", properties={"place": field("string", title="Place")}
        ),
        "keywords": field("array", title="Keywords", items=field("string")),
        "persons": field(
            "array",
            title="Persons",
            items={
                "type": "object",
                "required": ["name", "roles"],
                "properties": {
                    "name": field("string", title="Name"),
                    "roles": {"type": "array", "title": "Roles", "items": {"type": "string"}},
                },
            },
        ),
        "text": field("string", title="Transcription"),
    },
}


def write_collection(folder, records=(None, None, None), ids=None):
    """A collection with an item for each record."""
    (folder / "images").mkdir(parents=True)
    Image.new("RGB", (300, 200), "wheat").save(folder / "images/card.png")
    (folder / "answer.schema.json").write_text(json.dumps(SCHEMA))
    rows = [
        {
            "file_name": "images/card.png",
            "id": ids[number] if ids else f"b{number + 1}",
            "ground_truth": record,
        }
        for number, record in enumerate(records)
    ]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def blocked(folder):
    """A collection whose picture takes much longer than anybody waits."""
    (folder / "images/card.pdf").write_bytes(slow_pdf())
    rows = (folder / "metadata.jsonl").read_text()
    (folder / "metadata.jsonl").write_text(rows.replace("card.png", "card.pdf"))
    return folder


def truths(folder):
    """What `metadata.jsonl` has, by item."""
    return {item: row["ground_truth"] for item, row in rows(folder).items()}


def rows(folder):
    """The rows of `metadata.jsonl`, by item."""
    lines = (folder / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def put(store, item, field, to, *, what="ground_truth", how="blind", model=None):
    """Change an item as it is now."""
    head = store.state(item).head[what]
    return store.change(item, what, field, to, after=head, how=how, model=model)


def finish(store, record, status="done", *, item="b2"):
    """Enter a record, and be done with it."""
    if record is not None:
        put(store, item, "", record)
    return put(store, item, "", status, what="status")


def read_alone(folder, *names, items=("b2",)):
    """Have people read items, each alone."""
    at = "2026-11-22T10:00:00.000Z"
    add_events(folder, [Double(by=name, at=at, items=items, seed=1) for name in names])
    return folder


def with_home(page):
    """A new window of a page that believes it was opened from a home."""

    def answer(route):
        response = route.fetch()
        route.fulfill(response=response, json=response.json() | {"home": "/home/"})

    window = page.context.new_page()
    window.route("**/start", answer)
    window.goto(page.url)
    window.locator("#home").wait_for()
    return window


@cache
def forks():
    """Forks of a process that imported what the editor needs."""
    return Forks(
        "hdbench.cli", "hdbench.collections.truth.editor", "hdbench.collections.truth.server"
    )


class ServedPage:
    """A page that a program serves: its arguments are those of `python`."""

    def __init__(self, *command, cwd, errors=None):
        ours, theirs = os.pipe()
        with open(theirs, "w") as out:
            self.process = forks().start(
                *map(str, command), cwd=cwd, env=dict(os.environ), stdout=out, stderr=errors
            )
        with open(ours) as said:
            self.url = said.readline().strip()

    def kill(self):
        """`kill -9`."""
        self.process.kill()
        return self.process.wait(timeout=120)

    def end(self):
        """Ctrl+C."""
        self.process.terminate()
        return self.process.wait(timeout=120)


class Served(ServedPage):
    """The editor of a collection, as the command serves it.

    Its errors can go to a file.
    """

    def __init__(self, folder, *options, errors=None):
        command = ["-m", "hdbench", "annotate", folder, "--port", "0", *options]
        super().__init__(*command, cwd=folder, errors=errors)


def serving(folder, *options):
    return ended(Served(folder, *options))


@contextmanager
def ended(served):
    """A page that is served until the block ends."""
    try:
        yield served
    finally:
        assert served.end() == 0
