"""Reviewed corrections of published ground truth: never silent, and nothing published is lost.

Corrections of form always count. Those of values count if the data's owners accepted them.
"""

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from hdbench.benchmarks.building.metadata import RecipeRow
from hdbench.benchmarks.spec import AUDITED, BLIND, IMPORTED, PROVENANCE, Address, Said
from hdbench.common.validation import Strict, unfit
from hdbench.errors import HdbenchError, Message, shortened

ERRATA = "errata.yaml"

_SHOWN = 200
"""Maximum number of characters of a value that messages show."""

_BRACKET = r"\[(?:\d+|\*|\w+=[^\]]*)\]"
_PATH = re.compile(rf"(?:[^.\[\]]+(?:{_BRACKET})*\.)*[^.\[\]]+")
_STEP = re.compile(r"(?P<key>[^.\[\]]+)|\[(?P<index>\d+|\*)\]|\[(?P<name>\w+)=(?P<value>[^\]]*)\]")


class _Erratum(Strict):
    """An error in an item, and those who vouch for it.

    Attributes:
        id: the item; for a correction also `*`, meaning every item that has the wrong value.
        evidence: what shows it, for the card.
        proposed_by: who proposed it.
        approved_by: who approved it: someone else, wherever there is anyone.
        upstream: where it was reported to those who published the ground truth.
    """

    id: str
    evidence: Said
    proposed_by: Said
    approved_by: Said
    upstream: Address | None = None

    @property
    def signed(self) -> str:
        """Return who vouches for it, as a sentence for a card."""
        by = (
            f"Proposed and approved by {self.approved_by}"
            if self.approved_by == self.proposed_by
            else f"Proposed by {self.proposed_by}, approved by {self.approved_by}"
        )
        return f"{by}; [reported]({self.upstream})." if self.upstream else f"{by}."


class Exclusion(_Erratum):
    """An item of the source that is left out.

    Attributes:
        kind: what is wrong: its form, as it has no media or another schema.
    """

    kind: Literal["form"]


class _OfField(_Erratum):
    """An error in a field of the ground truth.

    Attributes:
        field: its path, such as `advertisements[3].date`; `[*]` stands for every item of a list,
            and `[name=Müller]` for those items whose `name` is that.
    """

    field: str

    @field_validator("field")
    @classmethod
    def _is_path(cls, field: str) -> str:
        if not _PATH.fullmatch(field):
            wrong = "{field} is not a path to a key, such as advertisements[3].date"
            raise PydanticCustomError("path", wrong, {"field": repr(field)})
        return field


class Correction(_OfField):
    """A ground-truth value that was published wrongly.

    Attributes:
        kind: `form` is a stray sign, a misplaced key or a wrong type, which all people
            read alike; `value` is anything that a person read.
        old: the published value; null where the field is absent.
        new: the correct value; null removes the field.
        accepted: where the data's owners accepted a correction of a value, which then counts.
        second_looks: how many people read the value again; None if that was not counted.
        blind: whether all of them did so before they were shown any value.
    """

    kind: Literal["form", "value"]
    old: Any
    new: Any
    accepted: Address | None = None
    second_looks: int | None = None
    blind: bool | None = None

    @field_validator("accepted")
    @classmethod
    def _is_of_a_value(cls, accepted: str | None, info: ValidationInfo) -> str | None:
        if accepted is not None and info.data.get("kind") == "form":
            raise unfit("a correction of form needs no acceptance: leave it out")
        return accepted

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.old == self.new and type(self.old) is type(self.new):
            raise unfit("the old value and the new one are the same: correct new:")
        return self

    @property
    def counts(self) -> bool:
        """Return whether it is in the ground truth that answers are scored against by default."""
        return self.kind == "form" or self.accepted is not None

    @property
    def signed(self) -> str:
        """Return who vouches for it and how it was reviewed, as sentences for a card."""
        signed = super().signed
        if self.accepted:
            signed += f" [Accepted]({self.accepted}) by the data's owners."
        if not self.second_looks:
            return signed
        looks = f"{self.second_looks} second look{'s' if self.second_looks > 1 else ''}"
        return f"{looks}, {'blind' if self.blind else 'not blind'}. {signed}"

    def apply(self, truth: Any) -> bool:
        """Correct a ground truth in place; False if the wrong value is not in it."""
        objects, key = holders(truth, self.field)
        wrong = [holder for holder in objects if holder.get(key) == self.old]
        for holder in wrong:
            holder[key] = self.new
            if self.new is None:
                del holder[key]
        return bool(wrong)

    def misfit(self, there: Sequence[Any]) -> Message:
        """Return why it does not fit a source that it leaves as it is, and what to do.

        Args:
            there: what the source has in the field, in which the entries before it are corrected.
        """
        if not there:
            return Message("the source has no such field there: correct field:")
        return Message(
            "the source has {there} there, not {old}: correct old:, unless another entry corrects "
            "the same value",
            there=shortened(list(dict.fromkeys(map(_shown, there)))),
            old=_shown(self.old),
        )


class Renaming(_OfField):
    """A field of the ground truth that was published under a wrong name.

    Attributes:
        kind: always `form`.
        to: the right name of the path's last key; where there is a field of that name already,
            nothing is renamed.
    """

    kind: Literal["form"]
    to: str

    @property
    def counts(self) -> bool:
        """Return whether it is in the ground truth that answers are scored against by default."""
        return True

    def apply(self, truth: Any) -> bool:
        """Rename a field in place; False if it is not there."""
        objects, key = holders(truth, self.field)
        wrong = [holder for holder in objects if key in holder and self.to not in holder]
        for holder in wrong:
            fields = [(self.to if name == key else name, value) for name, value in holder.items()]
            holder.clear()
            holder.update(fields)
        return bool(wrong)

    def misfit(self, _: Sequence[Any]) -> Message:
        """Return why it does not fit a source that it leaves as it is."""
        return Message("nothing in the source can be renamed to {to!r} there", to=self.to)


class Errata(Strict):
    """The content of `errata.yaml`."""

    exclude: tuple[Exclusion, ...] = ()
    corrections: tuple[Correction, ...] = ()
    renamings: tuple[Renaming, ...] = ()

    @property
    def of_fields(self) -> tuple[Correction | Renaming, ...]:
        """Return everything that changes a ground truth, in the order in which it is applied."""
        return (*self.corrections, *self.renamings)

    @property
    def counted(self) -> tuple[Correction | Renaming, ...]:
        """Return those that answers are scored with by default."""
        return tuple(erratum for erratum in self.of_fields if erratum.counts)

    @property
    def proposed(self) -> tuple[Correction, ...]:
        """Return the corrections of values that the data's owners have not accepted."""
        return tuple(correction for correction in self.corrections if not correction.counts)

    def apply(self, rows: Iterable[RecipeRow], *, changed: bool = False) -> Iterator[RecipeRow]:
        """Yield the rows without the excluded ones, and the others corrected.

        Each keeps its ground truth as published, and where corrections are proposed, also has one
        with those.

        Args:
            rows: as the source has them.
            changed: whether the source is a later one, in which errors may have been corrected.

        Raises:
            HdbenchError: something excluded or corrected is not in an unchanged source.
        """
        excluded = {item.id for item in self.exclude}
        counted = _Applied(self.counted)
        every = _Applied(self.of_fields) if self.proposed else None
        for row in rows:
            if row.id in excluded:
                excluded.remove(row.id)
                continue
            if row.ground_truth is None:
                yield row
                continue
            truth = counted.correct(row.id, row.ground_truth)
            yield row._replace(
                ground_truth=truth,
                published=row.ground_truth if row.published is None else row.published,
                proposed=None if every is None else every.correct(row.id, row.ground_truth),
                columns=row.columns if truth == row.ground_truth else _corrected(row.columns),
            )
        if changed:
            return
        if excluded:
            raise HdbenchError(
                "errata.yaml: excludes {id!r}, which is not in the source", id=min(excluded)
            )
        misfits = [*counted.misfits(), *(every.misfits() if every else ())]
        if misfits:
            raise HdbenchError(
                "errata.yaml: {misfits}",
                misfits=shortened(list(dict.fromkeys(misfits)), separator="; "),
            )


class _Applied:
    """Errata, with a record of those that fitted something so far."""

    def __init__(self, errata: Sequence[Correction | Renaming]) -> None:
        self._errata = errata
        self._used: set[int] = set()
        self._there: dict[int, list[Any]] = {}

    def misfits(self) -> Iterator[Message]:
        """Yield why those do not fit that have not fitted anything."""
        for number, erratum in enumerate(self._errata):
            if number in self._used:
                continue
            there = self._there.get(number)
            yield Message(
                "{id} {field}: {why}",
                id=erratum.id,
                field=erratum.field,
                why=Message("the source has no such item: correct id:")
                if there is None
                else erratum.misfit(there),
            )

    def correct(self, item: str, truth: dict[str, Any]) -> dict[str, Any]:
        """Return an item's ground truth, corrected."""
        truth = copy.deepcopy(truth)
        for number, erratum in enumerate(self._errata):
            if erratum.id not in {item, "*"}:
                continue
            if erratum.apply(truth):
                self._used.add(number)
            elif number not in self._used:
                objects, key = holders(truth, erratum.field)
                there = self._there.setdefault(number, [])
                there += [holder[key] for holder in objects if key in holder]
        return truth


def _shown(value: Any) -> str:
    """Return the beginning of a value, as JSON has it."""
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]


def _corrected(columns: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the columns of a corrected row, which may say how its ground truth was made.

    A ground truth made from a draft stays so when one of its values is corrected.
    """
    if columns.get(PROVENANCE) in {BLIND, IMPORTED}:
        return {**columns, PROVENANCE: AUDITED}
    return columns


def holders(truth: Any, field: str) -> tuple[list[dict[str, Any]], str]:
    """Return the objects that a path leads to, and the key in them, which they may lack.

    Example:
        >>> holders({"ads": [{"date": "1731"}, {}]}, "ads[*].date")
        ([{'date': '1731'}, {}], 'date')
    """
    path, _, last = field.rpartition(".")
    values = [truth]
    for step in _STEP.finditer(path):
        values = [child for holder in values for child in _children(holder, step)]
    return [holder for holder in values if isinstance(holder, dict)], last


def _children(holder: Any, step: re.Match[str]) -> list[Any]:
    """Return the values that a step of a path leads to."""
    if isinstance(holder, dict) and (key := step["key"]):
        return [holder[key]] if key in holder else []
    if not isinstance(holder, list) or step["key"]:
        return []
    if step["name"]:
        return [
            child
            for child in holder
            if isinstance(child, dict) and child.get(step["name"]) == step["value"]
        ]
    return holder if step["index"] == "*" else holder[int(step["index"]) :][:1]
