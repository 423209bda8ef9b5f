"""Checks of `benchmark.yaml`: all wrong keys at once."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from hdbench.benchmarks.spec import MAX_BYTES, MEDIA_KEYS, BenchmarkSpec, ColumnType
from hdbench.common.checked import read_yaml, why_unfit
from hdbench.common.names import bare, nearest
from hdbench.datasets.building.checks.problems import (
    Example,
    Problems,
    is_usable,
    shown,
    without_place,
)
from hdbench.datasets.building.licences import OPEN_LICENCES, UNSTATED, unusable
from hdbench.errors import HdbenchError, Message
from hdbench.scoring import METRICS
from hdbench.scoring.metric import Metric

DESCRIPTION = "benchmark.yaml"

_VERSION = re.compile(r"\d+\.\d+\.\d+(\+[0-9A-Za-z.-]+)?", re.ASCII)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,95}", re.ASCII)


_AS_IN = {
    "name": "trade-cards",
    "title": "Trade cards",
    "version": "1.0.0",
    "metric": "record_f1",
    "headline": "f1_micro",
    "higher_is_better": "true",
    "media": "image",
    "split": "test",
    "licence": "cc-by-4.0",
    "citation": '""',
}

COLUMN_TYPES = get_args(ColumnType)


class Described(NamedTuple):
    """What the other checks need of `benchmark.yaml`, as far as it can be used.

    Attributes:
        spec: all of it, if nothing in it is wrong.
        media: the column that holds what a model is shown.
        columns: the columns' types.
        metric: the metric under the protocol `documented`, with nothing ignored.
    """

    spec: BenchmarkSpec | None = None
    media: str | None = None
    columns: dict[str, str] | None = None
    metric: Metric | None = None


def check_description(folder: Path, problems: Problems) -> Described:
    """Check each key of a folder's `benchmark.yaml`."""
    given = _read(folder / DESCRIPTION, problems)
    if given is None:
        return Described()
    spec = _check_keys(given, problems)
    metric = _check_metric(given, problems)
    _check_licence(given.get("licence"), problems)
    version, name = given.get("version"), given.get("name")
    if isinstance(version, str) and not _VERSION.fullmatch(version):
        what, remedy = Message("is not three numbers"), Message("write it as 1.0.0")
        _wrong(problems, "version", what, remedy, version)
    if isinstance(name, str) and not _NAME.fullmatch(name):
        what = Message("cannot be the name of a dataset")
        remedy = Message("use small letters, digits, - and _ only, as in trade-cards")
        _wrong(problems, "name", what, remedy, name)
    media, columns = given.get("media"), given.get("columns") or {}
    is_known = isinstance(columns, dict) and all(
        isinstance(kind, str) and kind in COLUMN_TYPES for kind in columns.values()
    )
    return Described(
        None if problems.errors else spec,
        media if isinstance(media, str) and media in MEDIA_KEYS else None,
        columns if is_known else None,
        metric,
    )


def _read(path: Path, problems: Problems) -> dict[Any, Any] | None:
    to_write = Message(
        "write it: name, title, version, metric, headline, higher_is_better, media, split, "
        "licence and citation"
    )
    if not is_usable(path.parent, DESCRIPTION, problems, to_write):
        return None
    try:
        if path.stat().st_size > MAX_BYTES:
            raise HdbenchError("larger than {most} MiB", most=MAX_BYTES >> 20)
        given = read_yaml(path)
        if not isinstance(given, dict):
            raise HdbenchError("does not hold keys with values")
    except HdbenchError as error:
        what, remedy = without_place(error, path), Message("write lines of KEY: VALUE")
        problems.error("not_yaml", DESCRIPTION, what, remedy)
        return None
    return given


def _check_keys(given: dict[Any, Any], problems: Problems) -> BenchmarkSpec | None:
    try:
        return BenchmarkSpec.model_validate(given)
    except ValidationError as error:
        found = error.errors()
    for each in found:
        key = ".".join(str(part) for part in each["loc"])
        if key == "name" and isinstance(each["input"], str):
            continue  # `check_description` is stricter
        if each["type"] == "missing":
            remedy = Message(
                "add it, as in {key}: {value}" if key in _AS_IN else "add it",
                key=key,
                value=_AS_IN.get(key, ""),
            )
            what = Message("is missing")
            problems.error("key_missing", DESCRIPTION, what, remedy, field=key)
        elif each["type"] == "extra_forbidden":
            near = _near(each["loc"][-1], BenchmarkSpec.model_fields)
            what, remedy = Message("there is no such key"), Message("{near}remove it", near=near)
            problems.error("key_unknown", DESCRIPTION, what, remedy, field=key)
        else:
            is_text = each["type"] == "string_type"
            remedy = Message("put it in quotes" if is_text else "correct it")
            _wrong(problems, key, why_unfit(each), remedy, each["input"])
    return None


def _check_metric(given: dict[Any, Any], problems: Problems) -> Metric | None:
    name, headline = given.get("metric"), given.get("headline")
    if not isinstance(name, str):
        return None
    name = bare(name)
    if name not in METRICS:
        what = Message("this hdbench has no such metric")
        _wrong(problems, "metric", what, _choose(name, METRICS), name)
        return None
    rates = {each.name: each for each in METRICS[name].figures if each.is_rate and each.always}
    if isinstance(headline, str):
        direction = given.get("higher_is_better")
        if headline not in rates:
            what = Message("is not a rate of {metric}", metric=name)
            _wrong(problems, "headline", what, _choose(headline, rates), headline)
        elif isinstance(direction, bool) and direction != rates[headline].higher_is_better:
            remedy = Message("write {right}", right=str(not direction).lower())
            what = Message("is not the direction of {headline}", headline=headline)
            _wrong(problems, "higher_is_better", what, remedy, direction)
    return _check_options(name, given.get("protocols"), problems)


def _check_options(name: str, protocols: Any, problems: Problems) -> Metric | None:
    """The metric as documented, unless an option is wrong; it ignores no field."""
    metric: Metric | None = METRICS[name]()
    known = METRICS[name].option_names
    for protocol, options in (protocols if isinstance(protocols, dict) else {}).items():
        if not isinstance(options, dict):
            continue
        field = f"protocols.{protocol}"
        for option in options:
            if option not in known:
                remedy = Message(
                    "{near}it has {names}",
                    near=_near(option, known),
                    names=", ".join(known) or Message("none"),
                )
                what = Message("{metric} has no such option", metric=name)
                problems.error("key_unknown", DESCRIPTION, what, remedy, field=f"{field}.{option}")
        kept = {option: value for option, value in options.items() if option in known}
        try:
            METRICS[name](protocol, **kept)
            if protocol == "documented":
                # Whoever says that a field is ignored need not be told that it is.
                metric = METRICS[name](
                    protocol, **kept | ({"ignore": []} if "ignore" in kept else {})
                )
        except HdbenchError as error:
            _wrong(problems, field, error.message, Message("correct it"), options)
            metric = None
    return metric


def _check_licence(licence: Any, problems: Problems) -> None:
    if not isinstance(licence, str) or licence in OPEN_LICENCES:
        return
    if licence == UNSTATED:
        problems.warning(
            "licence_not_open",
            DESCRIPTION,
            Message("no open licence is stated"),
            Message(
                "build it with --accept-licence, or state a licence such as cc-by-4.0 if the data "
                "are yours to license"
            ),
            Example(value=shown(licence)),
            field="licence",
        )
        return
    if found := unusable(licence):
        _wrong(problems, "licence", *found, licence)
        return
    problems.warning(
        "licence_not_open",
        DESCRIPTION,
        Message("is not one of the open licences that hdbench knows"),
        Message(
            "build it with --accept-licence, or choose one of {names}",
            names=", ".join(OPEN_LICENCES),
        ),
        Example(value=shown(licence)),
        field="licence",
    )


def _wrong(problems: Problems, field: str, message: Message, remedy: Message, value: Any) -> None:
    problems.error(
        "key_wrong", DESCRIPTION, message, remedy, Example(value=shown(value)), field=field
    )


def _near(name: Any, known: Iterable[str]) -> str:
    """A question with the most similar name, if there is one."""
    near = nearest(str(name), known)
    return Message("did you mean {near}? Otherwise ", near=near) if near else ""


def _choose(name: str, known: Iterable[str]) -> Message:
    names = ", ".join(known)
    return Message("{near}choose one of {names}", near=_near(name, known), names=names)
