"""The answers of a run, one for each item of a benchmark."""

import json
from collections.abc import Iterable
from typing import Any

from hdbench.errors import HdbenchError
from hdbench.reading.answer import Answer, Reading
from hdbench.reading.bounds import most_fields, number_of_values
from hdbench.reading.container import Container
from hdbench.reading.ids import match_ids
from hdbench.reading.schema import AnswerSchema
from hdbench.reading.text import is_record, read_text, read_value


class Answers:
    """One run's answers, looked up by the benchmark's ids.

    A given prediction takes precedence over the text it was read from, unless it is not a record,
    such as null or `{"error": …}`: then the text is read, because it is often the harness that lost
    an answer.

    Args:
        container: the file or folder.
        run: which of its runs.
        ids: the ids of the benchmark.
        benchmark: its name, for messages.
        schema: what an answer looks like.
        strict: only valid JSON that is the record itself is an answer.
        reread: a text takes precedence over a given prediction.
        as_given: a prediction is taken as it is, which is how published results were scored.

    Attributes:
        differences: how the file's ids differ from the benchmark's.

    Raises:
        HdbenchError: an id is not one of the benchmark's, or two ids fit the same item.
    """

    def __init__(
        self,
        container: Container,
        run: str | None,
        ids: Iterable[str],
        benchmark: str,
        schema: AnswerSchema | None,
        *,
        strict: bool = False,
        reread: bool = False,
        as_given: bool = False,
    ) -> None:
        self._container = container
        self._keys = container.runs[run]
        self._schema = schema
        self._strict, self._reread, self._as_given = strict, reread, as_given
        self._most = most_fields()
        self._fields = 0
        self._renamed, self.differences, unknown = match_ids(self._keys, ids)
        if unknown:
            others = f" (and {len(unknown) - 1} more ids)" if len(unknown) > 1 else ""
            raise HdbenchError(
                f"{container.where(self._keys[unknown[0]])}: {benchmark} has no id "
                f"{unknown[0]!r}{others}: is this file for another benchmark or version?"
            )

    def take(self, item_id: str) -> Answer:
        """The answer to an item; `unanswered` if there is none.

        Raises:
            HdbenchError: it cannot be loaded, or the answers so far have more values than `bounds`
                allows.
        """
        written = self._renamed.get(item_id, item_id)
        if written not in self._keys:
            return Answer(item_id, None, None, "unanswered")
        fields = self._container.load(self._keys[written])
        value, status, kind, set_aside = self._read(fields)
        if self._most is not None:
            self._fields += number_of_values(value)
            if self._fields > self._most:
                raise HdbenchError(
                    f"{self._container.where(self._keys[written])}: up to here the answers have "
                    f"more than {self._most:,} fields, which are more than can be shown: "
                    "hdbench score takes them"
                )
        if self._strict and isinstance(value, dict) and status != "clean":
            value, status = json.dumps(value), "unparsable"  # as text: otherwise it would be scored
        return Answer(
            item_id,
            fields.get("text"),
            value,
            status,
            fields.get("tokens"),
            fields.get("seconds"),
            fields.get("error"),
            kind,
            set_aside,
        )

    def _read(self, fields: dict[str, Any]) -> Reading:
        text, prediction = fields.get("text") or "", fields.get("prediction")
        has_text = bool(text) and not text.isspace()
        if "prediction" not in fields or (has_text and self._reread):
            return read_text(text, self._schema)
        if self._as_given:
            return _as_given(prediction)
        given = read_value(prediction, self._schema)
        return given if is_record(given) or not has_text else read_text(text, self._schema)


def _as_given(prediction: Any) -> Reading:
    if prediction is None:
        return Reading(None, "unanswered")
    if isinstance(prediction, dict):
        return Reading(prediction, "clean")
    return Reading(prediction, "unparsable", "other")
