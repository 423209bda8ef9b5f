"""Checks of the files that people write beside the rows: prompt, schema, card and changelog."""

import re
from collections.abc import Collection
from pathlib import Path

from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.spec import BenchmarkSpec
from hdbench.common.folder_files import MAX_TEXT
from hdbench.datasets.building.card import CARD, PLACEHOLDERS, front_matter, translations
from hdbench.datasets.building.checks.problems import Example, Problems, is_usable, without_place
from hdbench.datasets.building.errata import ERRATA
from hdbench.datasets.building.placeholders import PlaceholderError, fill
from hdbench.errors import HdbenchError, Message, os_reason

PROMPT, SCHEMA, CHANGELOG = "prompt.txt", "answer.schema.json", "CHANGELOG.md"

_TO_WRITE = {
    PROMPT: Message("write what a model is asked for, with the names of the answer's fields"),
    SCHEMA: Message(
        "write the JSON Schema of an answer, as in {example}",
        example='{"type": "object", "properties": {"title": {"type": "string"}}}',
    ),
    CARD: Message(
        "write the card: a line ---, YAML such as language: de, a line ---, and then Markdown with "
        "{title} and {rows} in it",
        title="{{ spec.title }}",
        rows="{{ rows }}",
    ),
    CHANGELOG: Message(
        "write an entry for each version, as in ## 1.0.0, and below it what is in it"
    ),
}

_CORRECT = Message("correct it")

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def check_texts(
    folder: Path, spec: BenchmarkSpec | None, problems: Problems
) -> AnswerSchema | None:
    """Check prompt, schema, card and changelog.

    Returns:
        The schema, if it can be used.
    """
    prompt, card, changelog, form = (
        _read(folder, name, problems, _TO_WRITE[name]) for name in (PROMPT, CARD, CHANGELOG, SCHEMA)
    )
    schema = None
    if form is not None:
        try:
            schema = AnswerSchema.load(folder / SCHEMA)
        except HdbenchError as error:
            what = without_place(error, folder / SCHEMA)
            problems.error("schema_unusable", SCHEMA, what, Message("correct it"))
    if prompt is not None:
        _check_prompt(prompt, schema, spec, problems)
    if card is not None:
        _check_card(card, problems)
    if changelog is not None and spec is not None and spec.version not in changelog:
        problems.warning(
            "changelog_without_version",
            CHANGELOG,
            Message("has no entry for version {version}", version=spec.version),
            Message("add ## {version}, and what is in it", version=spec.version),
        )
    for path in translations(folder):
        text = _read(folder, path.name, problems)
        if text is not None:
            _check_placeholders(path.name, text, 1, problems)
    if (folder / ERRATA).exists():
        is_usable(folder, ERRATA, problems, _CORRECT)
    to_add = Message("add it, or take it out of files in benchmark.yaml")
    for name in spec.files if spec is not None else ():
        is_usable(folder, name, problems, to_add)
    return schema


def _read(folder: Path, name: str, problems: Problems, to_write: Message = _CORRECT) -> str | None:
    if not is_usable(folder, name, problems, to_write):
        return None
    path = folder / name
    try:
        if path.stat().st_size <= MAX_TEXT:
            return path.read_text(encoding="utf-8")
        what = Message("larger than {most} MiB", most=MAX_TEXT >> 20)
        remedy = Message("shorten it")
    except OSError as error:
        what, remedy = Message("cannot be read"), os_reason(error)
    except UnicodeDecodeError as error:
        what = Message("not UTF-8 (byte {byte})", byte=error.start + 1)
        remedy = Message("save as UTF-8")
    problems.error("file_unusable", name, what, remedy)
    return None


def _check_prompt(
    prompt: str, schema: AnswerSchema | None, spec: BenchmarkSpec | None, problems: Problems
) -> None:
    if not prompt.strip():
        problems.error("prompt_blank", PROMPT, Message("is blank"), _TO_WRITE[PROMPT])
        return
    # A single field is what the whole prompt is about.
    names: Collection[str] = schema.names if schema is not None and len(schema.names) > 1 else ()
    lower = prompt.casefold()
    lacking = sorted(name for name in names if name.casefold() not in lower)
    if lacking:
        which = ", ".join(lacking[:10]) + (", …" if len(lacking) > 10 else "")  # noqa: PLR2004
        problems.warning(
            "prompt_without_fields",
            PROMPT,
            Message(
                "does not name {count} of the schema's {all} fields: {which}",
                count=len(lacking),
                all=len(names),
                which=which,
            ),
            Message("name them, or models without structured output will call them something else"),
        )
    if spec is None:
        return
    inserted = set(_PLACEHOLDER.findall(prompt))
    for name in spec.prompt_columns:
        if name not in inserted:
            problems.warning(
                "prompt_without_column",
                PROMPT,
                Message(
                    "does not have {place}, which prompt_columns in benchmark.yaml lists",
                    place=f"{{{name}}}",
                ),
                Message("write it where an item's value belongs, or take it out there"),
            )
    for name in sorted(inserted & spec.columns.keys() - set(spec.prompt_columns)):
        problems.warning(
            "prompt_column_unlisted",
            PROMPT,
            Message("has {place}, which stays as it is", place=f"{{{name}}}"),
            Message(
                "add {name} to prompt_columns in benchmark.yaml to insert an item's value",
                name=name,
            ),
        )


def _check_card(card: str, problems: Problems) -> None:
    try:
        _, front, body = card.split("---\n", 2)
    except ValueError:
        problems.error(
            "card_without_yaml",
            CARD,
            Message("does not begin with YAML between two --- lines"),
            _TO_WRITE[CARD],
        )
        return
    try:
        if not isinstance(front_matter(front), dict):
            problems.error(
                "card_without_yaml",
                CARD,
                Message("has no keys between its two --- lines"),
                Message("write some there, such as language: de"),
            )
    except ValueError as error:
        what = Message("its YAML cannot be read: {why}", why=" ".join(str(error).split()))
        problems.error("card_without_yaml", CARD, what, _CORRECT)
    _check_placeholders(CARD, body, front.count("\n") + 3, problems)


def _check_placeholders(name: str, text: str, first: int, problems: Problems) -> None:
    try:
        fill(text, dict.fromkeys(PLACEHOLDERS, ""), Path(name), first)
    except PlaceholderError as error:
        problems.error("card_placeholder", name, error.why, error.remedy, Example(line=error.line))
