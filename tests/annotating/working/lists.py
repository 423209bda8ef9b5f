"""A work list in memory, of the collection in `annotating.pages`."""

from hdbench.annotating.working.entries import Candidate, EntryField
from hdbench.answers.letters import text_of


class WorkInMemory:
    """A work list.

    Args:
        told: item → field → what each of the runs says, called one, two and so on; the first is the
            most probable.
        accepted: field → value, which all items have.
    """

    RUNS = ("one", "two", "three")

    def __init__(self, told, accepted=None):
        self._told = told
        self._accepted = accepted or {}
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
        return tuple(Candidate(first[text] or None, text, names) for text, names in runs.items())

    def doubtful_values(self):
        for place, fields in enumerate(self._told.values()):
            for path, said in fields.items():
                yield place, path, said[0]

    def close(self):
        self.is_closed = True
