"""Checks of the files that people write beside the rows: prompt, schema, card and changelog."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.building.card import CARD, PLACEHOLDERS, front_matter, translations
from hdbench.benchmarks.building.checks.problems import Example, Problems, is_usable, without_place
from hdbench.benchmarks.building.errata import ERRATA
from hdbench.benchmarks.markdown import PlaceholderError, fill
from hdbench.benchmarks.spec import BenchmarkSpec
from hdbench.common.bounds import MAX_TEXT_FILE
from hdbench.errors import HdbenchError, os_reason

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
        _read(folder, name, problems, name) for name in (PROMPT, CARD, CHANGELOG, SCHEMA)
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
        text = _read(folder, path.name, problems)
        if text is not None:
            _check_placeholders(path.name, text, 1, problems)
    if (folder / ERRATA).exists():
        is_usable(folder, ERRATA, problems)
    for name in spec.files if spec is not None else ():
        is_usable(folder, name, problems, "listed")
    return schema


def _read(folder: Path, name: str, problems: Problems, case: str = "") -> str | None:
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
