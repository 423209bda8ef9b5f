"""Reading answers as models and people really write them."""

from typing import NamedTuple

READING = 4
"""The version of the reading rules; raise it when a change may read another record, or none, from
the same file. Like a metric's `rules`, it is in every signature, and the changelog says what each
version changed for the recorded runs."""


class ReadAs(NamedTuple):
    """Options for reading a file of answers, which can change its score.

    Attributes:
        strict: only valid JSON that is the record itself counts; see `Result.strictly`.
        as_given: a prediction is taken as it is, and a text next to a null prediction is not read;
            this is how published results were scored.
    """

    strict: bool = False
    as_given: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of those that are on."""
        return tuple(name for name, is_on in self._asdict().items() if is_on)
