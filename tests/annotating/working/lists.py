"""A work list in memory, of the collection in `annotating.pages`, and its page."""

import json
from pathlib import Path

from annotating.pages import ServedPage, ended, write_collection

from hdbench.annotating.working.entries import Candidate, EntryField
from hdbench.common.letters import text_of
from hdbench.errors import HdbenchError


class WorkInMemory:
    """A work list.

    Args:
        told: item → field → what each of the runs says, called one, two and so on; the first is the
            most probable.
        accepted: field → value, which all items have.
        problem: why it cannot be gone through for values that come back; None if it can.
    """

    RUNS = ("one", "two", "three")

    def __init__(self, told, accepted=None, problem=None):
        self._told = told
        self._accepted = accepted or {}
        self.items = list(told)
        self._problem = problem
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
        return tuple(Candidate(first[text] or None, text, names) for text, names in runs.items())

    def doubtful_values(self):
        if self._problem:
            raise HdbenchError(self._problem)
        for place, fields in enumerate(self._told.values()):
            for path, said in fields.items():
                yield place, path, said[0]

    def close(self):
        self.is_closed = True


SCRIPT = Path(__file__).with_name("serving_work.py")


def prepared(parent, told, problem=None, **accepted):
    """A collection with a work list: item → field → what each run says."""
    (parent / "out").mkdir(parents=True)
    work = {"told": told, "accepted": accepted, "problem": problem}
    (parent / "work.json").write_text(json.dumps(work))
    return write_collection(parent / "cards", [None] * len(told))


class ServedWork(ServedPage):
    """The page of one person."""

    def __init__(self, folder, annotator="anna", language="en", errors=None):
        files = (folder, folder.parent / "out", folder.parent / "work.json")
        super().__init__(SCRIPT, *files, annotator, language, cwd=folder, errors=errors)


def serving(folder, annotator="anna", language="en"):
    return ended(ServedWork(folder, annotator, language))
