"""A work list in memory, of the collection in `annotating.pages`, and its page.

Run by its path, it serves the page: FOLDER LIST NAME LANGUAGE.
"""

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from annotating.pages import ServedPage, ended, write_collection

from hdbench.collections.truth.choice_pages import WorkPage
from hdbench.collections.truth.server import serve
from hdbench.collections.truth.work_list import Candidate, EntryField
from hdbench.common.value_text import text_of


class WorkInMemory:
    """A work list.

    Args:
        told: item → field → what each of the runs says, called one, two and so on; the first is the
            most probable.
        accepted: field → value, which all items have.
    """

    RUNS = ("one", "two", "three")
    seal = "0" * 64

    def __init__(self, told, accepted=None):
        self._told, self._accepted = told, accepted or {}
        self.items = list(told)
        self.is_closed = False

    def doubtful(self, item):
        return tuple(self._told.get(item, ()))

    def fields(self, item):
        doubtful = [
            EntryField(path, "check", "below", said[0], self._candidates(said))
            for path, said in self._told[item].items()
        ]
        accepted = [
            EntryField(path, "taken", None, value) for path, value in self._accepted.items()
        ]
        return [*accepted, *doubtful]

    def _candidates(self, said):
        runs = dict.fromkeys(map(text_of, said), ())
        for name, value in zip(self.RUNS, said, strict=False):
            runs[text_of(value)] += (name,)
        first = {text_of(value): value for value in reversed(said)}
        return tuple(
            Candidate(first[text] if text else None, text, names) for text, names in runs.items()
        )

    def close(self):
        self.is_closed = True


def prepared(parent, told, **accepted):
    """A collection with a work list: item → field → what each run says."""
    parent.mkdir(exist_ok=True)
    (parent / "work.json").write_text(json.dumps({"told": told, "accepted": accepted}))
    return write_collection(parent / "cards", [None] * len(told))


class ServedWork(ServedPage):
    """The page of one person."""

    def __init__(self, folder, person="anna", language="en", errors=None):
        work = folder.parent / "work.json"
        super().__init__(__file__, folder, work, person, language, cwd=folder, errors=errors)


def serving(folder, person="anna", language="en"):
    return ended(ServedWork(folder, person, language))


def main(folder, work_list, person, language):
    work = WorkInMemory(**json.loads(Path(work_list).read_text()))
    page = WorkPage(Path(folder), work, person, language)
    serve(page, port=0, started=lambda url: print(url, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
