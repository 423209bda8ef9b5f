"""Information on a run: the `run.json` next to its answers."""

from math import fsum
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hdbench.answers.folders import OUR_ANSWERS, RUN_FILE
from hdbench.answers.run_parts import run_parts
from hdbench.common.bounds import MAX_RUN_INFO
from hdbench.common.checked import validate
from hdbench.common.jsonio import parse_file
from hdbench.common.os_errors import read_errors
from hdbench.common.regular_files import utf8_text
from hdbench.common.written_by import check_written_by
from hdbench.errors import HdbenchError, Message


class _Checked(BaseModel):
    """Untrusted data: types are not converted; unknown keys are left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, defer_build=True)


TEXT_PROMPT = "as-text.txt"
"""The name of the prompt that asks for a page's text alone, as programs read it unasked."""


class Prompt(_Checked):
    """The prompt that a run used: runs with different prompts are not ranked together.

    Attributes:
        name: the name of its file.
        sha256: the hash of its bytes; None if it is not known.
        text: the prompt itself; empty if it is not known.
    """

    name: str
    sha256: str | None = None
    text: str = Field(default="", exclude=True)


class PartInfo(_Checked):
    """Which part of a run it is.

    Attributes:
        number: from 1.
        of: how many parts the run has.
        subset: how the items of the run were chosen, if they are not all items.
    """

    number: int
    of: int
    subset: str | None = None


class RunInfo(_Checked):
    """Information on a run, as its `run.json` has it.

    Attributes:
        run: its name.
        benchmark: what it answers, such as `hdb/zettelkatalog`.
        model: the model that answered.
        provider: who ran the model.
        date: the date of the run, such as `2026-01-24`.
        prompt: what the model was asked.
        items: the ids that were asked; None if all were. No other item counts.
        subset: how the items were chosen, if they are not all items.
        part: which part of a run it is, if it is one.
        own_images: whether it is a run on a user's own images, which count as the items of a
            benchmark that have the same ids.
        without_media: whether the model got the prompt alone, without the items' media; such a run
            is the floor beneath the model's score, and is not ranked.
        published: its figures as they were published.
        reproducible: whether its answers give these figures: where they are false, the figures were
            computed by other code or from other answers. None if that is not said.
        cost_usd: what it cost.
        sittings: when and how hdbench asked, one after the other.
    """

    run: str
    benchmark: str
    model: str
    provider: str | None = None
    date: str | None = None
    prompt: Prompt | None = None
    items: list[str] | None = Field(default=None, min_length=1)
    subset: str | None = None
    part: PartInfo | None = Field(default=None, exclude=True)
    own_images: bool = False
    without_media: bool | None = None
    published: dict[str, Any] | None = None
    reproducible: bool | None = None
    cost_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    sittings: list[dict[str, Any]] = Field(default=[], exclude=True)

    @property
    def prompts(self) -> tuple[str, ...]:
        """The prompt texts that the model was given, as far as they are known."""
        return (self.prompt.text,) if self.prompt and self.prompt.text else ()

    @property
    def prompt_sha256(self) -> str | None:
        """The hash of the prompt, if that is known."""
        return None if self.prompt is None else self.prompt.sha256

    @model_validator(mode="after")
    def _items_differ(self) -> Self:
        if self.items is not None and len(set(self.items)) < len(self.items):
            raise ValueError("an id in items occurs twice")
        return self

    def for_result(self) -> Self:
        """Return what a result keeps of it: not the items, which the result has itself."""
        return self.model_copy(
            update={
                "prompt": self.prompt and self.prompt.model_copy(update={"text": ""}),
                "items": None,
                "own_images": False,
                "without_media": self.without_media or None,
                "sittings": [],
            }
        )


NO_RUN = RunInfo.model_construct(run="", benchmark="", model="")
"""Information on answers without a run folder."""


def is_run(folder: Path) -> bool:
    """Return whether a folder is a run folder, or has the parts of a run."""
    return (folder / RUN_FILE).is_file() or bool(run_parts(folder))


def has_answers(folder: Path) -> bool:
    """Return whether a run has any answer yet, in any form."""
    if parts := run_parts(folder):
        return any(part.count_answers() for part in parts)
    path = folder / OUR_ANSWERS
    if path.is_file():
        return path.stat().st_size > 0
    return any(file.name != RUN_FILE for file in folder.iterdir())


def read_run_info(folder: Path) -> RunInfo:
    """Return the information on the run in a folder, or on all parts of one together.

    Raises:
        HdbenchError: its run.json cannot be read, is too large, or lacks something; or the parts
            are not of one run.
    """
    parts = run_parts(folder)
    if not parts:
        return _read(folder / RUN_FILE)
    first, *others = [_read(part.folder / RUN_FILE) for part in parts if part.exists]
    for other in others:
        for name in ("benchmark", "model", "prompt", "own_images", "without_media"):
            if getattr(other, name) != getattr(first, name):
                raise HdbenchError(
                    "{place}: its parts differ in {name}: keep each run in a folder of its own",
                    place=folder,
                    name=name,
                )
    subset = first.part.subset if first.part else None
    items = [item for info in (first, *others) for item in info.items or ()]
    known = [info.cost_usd for info in (first, *others) if info.cost_usd is not None]
    return first.model_copy(
        update={
            "run": folder.resolve().name,
            "part": None,
            "subset": subset,
            "items": items if subset or first.own_images else None,
            "sittings": [sitting for info in (first, *others) for sitting in info.sittings],
            "cost_usd": fsum(known) if len(known) == 1 + len(others) else None,
        }
    )


def part_notes(folder: Path) -> list[Message]:
    """Return a line for each part of a run that is missing or has not answered all of its items."""
    notes = []
    for part in run_parts(folder):
        if not part.exists:
            notes.append(
                Message(
                    "{place}: part {number} of {of} is missing",
                    place=folder,
                    number=part.number,
                    of=part.of,
                )
            )
            continue
        items, answered = len(_read(part.folder / RUN_FILE).items or ()), part.count_answers()
        if answered < items:
            notes.append(
                Message(
                    "{place}: part {number} of {of} is not finished: {answered:,} of {items:,} "
                    "items are answered",
                    place=folder,
                    number=part.number,
                    of=part.of,
                    answered=answered,
                    items=items,
                )
            )
    return notes


def _read(path: Path) -> RunInfo:
    with read_errors(path), path.open("rb") as file:
        raw = file.read(MAX_RUN_INFO + 1)
    text = utf8_text(raw, path)
    if len(raw) > MAX_RUN_INFO:
        raise HdbenchError("{place}: larger than {most} MiB", place=path, most=MAX_RUN_INFO >> 20)
    data = parse_file(text, str(path))
    if isinstance(data, dict) and data.get("sittings"):  # hdbench asked, and wrote all of it
        remedy = Message("run the model again, in another folder")
        check_written_by(data.get("hdbench"), path, remedy)
    return validate(RunInfo, data, path)
