"""Checks of the files that people write: `benchmark.yaml`, prompt, schema, card, changelog."""

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.building.archive import OPEN_LICENCES, UNSTATED, unusable
from hdbench.benchmarks.building.card import CARD, PLACEHOLDERS, front_matter, translations
from hdbench.benchmarks.building.checks.problems import (
    Example,
    Problems,
    is_usable,
    shown,
    without_place,
)
from hdbench.benchmarks.building.errata import ERRATA
from hdbench.benchmarks.markdown import PlaceholderError, fill
from hdbench.benchmarks.spec import MEDIA_KEYS, BenchmarkSpec, ColumnType, bare
from hdbench.common.bounds import MAX_TEXT_FILE
from hdbench.common.validation import read_yaml, why_unfit
from hdbench.errors import HdbenchError, Message, nearest, os_reason
from hdbench.scoring import METRICS
from hdbench.scoring.metric import Metric

DESCRIPTION = "benchmark.yaml"

_VERSION = re.compile(r"\d+\.\d+\.\d+(\+[0-9A-Za-z.-]+)?", re.ASCII)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,95}", re.ASCII)


_EXAMPLES = {
    "name": "trade-cards",
    "title": "Trade cards",
    "metric": "record_f1",
    "media": "image",
    "licence": "cc-by-4.0",
}

COLUMN_TYPES = get_args(ColumnType)


class Described(NamedTuple):
    """The part of `benchmark.yaml` that the other checks need, as far as it can be used.

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
    description = _read(folder / DESCRIPTION, problems)
    if description is None:
        return Described()
    spec = _check_keys(description, problems)
    metric = _check_metric(description, problems)
    _check_licence(description.get("licence"), problems)
    version, name = description.get("version"), description.get("name")
    if isinstance(version, str) and not _VERSION.fullmatch(version):
        _add(problems, "key_wrong.version", "version", version)
    if isinstance(name, str) and not _NAME.fullmatch(name):
        _add(problems, "key_wrong.name", "name", name)
    media, columns = description.get("media"), description.get("columns") or {}
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
    if not is_usable(path.parent, DESCRIPTION, problems, DESCRIPTION):
        return None
    try:
        if path.stat().st_size > MAX_TEXT_FILE:
            raise HdbenchError("larger than {most} MiB", most=MAX_TEXT_FILE >> 20)
        description = read_yaml(path)
        if not isinstance(description, dict):
            raise HdbenchError("does not hold keys with values")
    except HdbenchError as error:
        problems.add("not_yaml", file=DESCRIPTION, what=without_place(error, path))
        return None
    return description


def _check_keys(description: dict[Any, Any], problems: Problems) -> BenchmarkSpec | None:
    try:
        return BenchmarkSpec.model_validate(description)
    except ValidationError as error:
        violations = error.errors()
    for violation in violations:
        key = ".".join(str(part) for part in violation["loc"])
        if key == "name" and isinstance(violation["input"], str):
            continue  # `check_description` is stricter
        if violation["type"] == "missing":
            name = "key_missing.example" if key in _EXAMPLES else "key_missing"
            value = _EXAMPLES.get(key)
            problems.add(name, file=DESCRIPTION, field=key, key=key, value=value)
        elif violation["type"] == "extra_forbidden":
            near = _near(violation["loc"][-1], BenchmarkSpec.model_fields)
            problems.add("key_unknown", file=DESCRIPTION, field=key, near=near)
        else:
            name = "key_wrong.quotes" if violation["type"] == "string_type" else "key_wrong"
            _add(problems, name, key, violation["input"], what=why_unfit(violation))
    return None


def _check_metric(description: dict[Any, Any], problems: Problems) -> Metric | None:
    name, headline = description.get("metric"), description.get("headline")
    if not isinstance(name, str):
        return None
    name = bare(name)
    if name not in METRICS:
        _add(problems, "key_wrong.metric", "metric", name, **_choice(name, METRICS))
        return None
    rates = {
        figure.name: figure for figure in METRICS[name].figures if figure.is_rate and figure.always
    }
    if isinstance(headline, str):
        direction = description.get("higher_is_better")
        if headline not in rates:
            choice = _choice(headline, rates)
            _add(problems, "key_wrong.headline", "headline", headline, metric=name, **choice)
        elif isinstance(direction, bool) and direction != rates[headline].higher_is_better:
            right = {"headline": headline, "right": str(not direction).lower()}
            _add(problems, "key_wrong.direction", "higher_is_better", direction, **right)
    return _check_options(name, description.get("protocols"), problems)


def _check_options(name: str, protocols: Any, problems: Problems) -> Metric | None:
    """Return the metric as documented, unless an option is wrong; it ignores no field."""
    metric: Metric | None = METRICS[name]()
    option_names = METRICS[name].option_names
    for protocol, options in (protocols if isinstance(protocols, dict) else {}).items():
        if not isinstance(options, dict):
            continue
        field = f"protocols.{protocol}"
        for option in options:
            if option not in option_names:
                problems.add(
                    "key_unknown.option",
                    file=DESCRIPTION,
                    field=f"{field}.{option}",
                    metric=name,
                    near=_near(option, option_names),
                    names=", ".join(option_names) or Message("none"),
                )
        valid_options = {
            option: value for option, value in options.items() if option in option_names
        }
        try:
            METRICS[name](protocol, **valid_options)
            if protocol == "documented":
                # No warning about fields that the description itself ignores.
                metric = METRICS[name](
                    protocol,
                    **valid_options | ({"ignore": []} if "ignore" in valid_options else {}),
                )
        except HdbenchError as error:
            _add(problems, "key_wrong", field, options, what=error.message)
            metric = None
    return metric


def _check_licence(licence: Any, problems: Problems) -> None:
    if not isinstance(licence, str) or licence in OPEN_LICENCES:
        return
    if licence == UNSTATED:
        _add(problems, "licence_not_open.unstated", "licence", licence)
    elif reason_and_remedy := unusable(licence):
        reason, remedy = reason_and_remedy
        _add(problems, "key_wrong.licence", "licence", licence, what=reason, remedy=remedy)
    else:
        names = ", ".join(OPEN_LICENCES)
        _add(problems, "licence_not_open", "licence", licence, names=names)


def _add(problems: Problems, name: str, field: str, value: Any, **values: Any) -> None:
    at = Example(value=shown(value))
    problems.add(name, at, file=DESCRIPTION, field=field, **values)


def _near(name: Any, names: Iterable[str]) -> str:
    """Return a question with the most similar name, if there is one."""
    near = nearest(str(name), names)
    return Message("did you mean {near}? Otherwise ", near=near) if near else ""


def _choice(name: str, names: Iterable[str]) -> dict[str, str]:
    """Return the alternatives, for a problem's remedy."""
    return {"near": _near(name, names), "names": ", ".join(names)}


# Checks of the files that people write beside the rows: prompt, schema, card and changelog

PROMPT, SCHEMA, CHANGELOG = "prompt.txt", "answer.schema.json", "CHANGELOG.md"

_CARD_EXAMPLE: dict[str, Any] = {"title": "{{ spec.title }}", "rows": "{{ rows }}"}
"""Placeholders in the remedy for a card without YAML."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def check_texts(
    folder: Path, spec: BenchmarkSpec | None, problems: Problems
) -> AnswerSchema | None:
    """Check prompt, schema, card and changelog.

    Returns:
        The schema, if it can be used.
    """
    prompt, card, changelog, form = (
        _text(folder, name, problems, name) for name in (PROMPT, CARD, CHANGELOG, SCHEMA)
    )
    schema = None
    if form is not None:
        try:
            schema = AnswerSchema.load(folder / SCHEMA)
        except HdbenchError as error:
            reason = without_place(error, folder / SCHEMA)
            problems.add("schema_unusable", file=SCHEMA, what=reason)
    if prompt is not None:
        _check_prompt(prompt, schema, spec, problems)
    if card is not None:
        _check_card(card, problems)
    if changelog is not None and spec is not None and spec.version not in changelog:
        problems.add("changelog_without_version", file=CHANGELOG, version=spec.version)
    for path in translations(folder):
        text = _text(folder, path.name, problems)
        if text is not None:
            _check_placeholders(path.name, text, 1, problems)
    if (folder / ERRATA).exists():
        is_usable(folder, ERRATA, problems)
    for name in spec.files if spec is not None else ():
        is_usable(folder, name, problems, "listed")
    return schema


def _text(folder: Path, name: str, problems: Problems, case: str = "") -> str | None:
    if not is_usable(folder, name, problems, case):
        return None
    path = folder / name
    try:
        if path.stat().st_size <= MAX_TEXT_FILE:
            return path.read_text(encoding="utf-8")
        problems.add("file_unusable.size", file=name, most=MAX_TEXT_FILE >> 20)
    except OSError as error:
        problems.add("file_unusable.reading", file=name, why=os_reason(error))
    except UnicodeDecodeError as error:
        problems.add("file_unusable.encoding", file=name, byte=error.start + 1)
    return None


def _check_prompt(
    prompt: str, schema: AnswerSchema | None, spec: BenchmarkSpec | None, problems: Problems
) -> None:
    if not prompt.strip():
        problems.add("prompt_blank", file=PROMPT)
        return
    # A single field is what the whole prompt is about.
    names: Collection[str] = schema.names if schema is not None and len(schema.names) > 1 else ()
    lower = prompt.casefold()
    lacking = sorted(name for name in names if name.casefold() not in lower)
    if lacking:
        names_shown = ", ".join(lacking[:10]) + (", …" if len(lacking) > 10 else "")  # noqa: PLR2004
        problems.add(
            "prompt_without_fields",
            file=PROMPT,
            count=len(lacking),
            all=len(names),
            which=names_shown,
        )
    if spec is None:
        return
    inserted = set(_PLACEHOLDER.findall(prompt))
    for name in spec.prompt_columns:
        if name not in inserted:
            problems.add("prompt_without_column", file=PROMPT, place=f"{{{name}}}")
    for name in sorted(inserted & spec.columns.keys() - set(spec.prompt_columns)):
        problems.add("prompt_column_unlisted", file=PROMPT, place=f"{{{name}}}", name=name)


def _check_card(card: str, problems: Problems) -> None:
    try:
        _, front, body = card.split("---\n", 2)
    except ValueError:
        problems.add("card_without_yaml", file=CARD, **_CARD_EXAMPLE)
        return
    try:
        if not isinstance(front_matter(front), dict):
            problems.add("card_without_yaml.keys", file=CARD)
    except ValueError as error:
        why = " ".join(str(error).split())
        problems.add("card_without_yaml.unusable", file=CARD, why=why)
    _check_placeholders(CARD, body, front.count("\n") + 3, problems)


def _check_placeholders(name: str, text: str, first: int, problems: Problems) -> None:
    try:
        fill(text, dict.fromkeys(PLACEHOLDERS, ""), Path(name), first)
    except PlaceholderError as error:
        at = Example(line=error.line)
        problems.add("card_placeholder", at, file=name, why=error.why, remedy=error.remedy)
