"""Checks of the files that people write beside the rows: prompt, schema, card and changelog."""

import re
from collections.abc import Collection
from pathlib import Path

import jinja2

from hdbench.benchmarks.spec import BenchmarkSpec
from hdbench.building.checks.problems import Problems
from hdbench.common.checked import parse_yaml, read_text_file
from hdbench.common.templates import STRICT
from hdbench.errors import HdbenchError
from hdbench.reading.schema import AnswerSchema

PROMPT, SCHEMA, CARD, CHANGELOG = (
    "prompt.txt",
    "answer.schema.json",
    "README.md",
    "CHANGELOG.md",
)

_TO_WRITE = {
    PROMPT: "write what a model is asked for, with the names of the answer's fields",
    SCHEMA: 'write the JSON Schema of an answer, as in {"type": "object", "properties": '
    '{"title": {"type": "string"}}}',
    CARD: "write the card: a line ---, YAML such as language: de, a line ---, and then Markdown "
    "with {{ spec.title }} and {{ rows }} in it",
    CHANGELOG: "write an entry for each version, as in ## 1.0.0, and below it what is in it",
}

MAX_BYTES = 4 * 2**20
"""Maximum size of such a file."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def check_texts(
    folder: Path, spec: BenchmarkSpec | None, problems: Problems
) -> AnswerSchema | None:
    """Check prompt, schema, card and changelog.

    Returns:
        The schema, if it can be used.
    """
    prompt, card, changelog = (_read(folder / name, problems) for name in (PROMPT, CARD, CHANGELOG))
    schema = None
    if _read(folder / SCHEMA, problems) is not None:
        try:
            schema = AnswerSchema.load(folder / SCHEMA)
        except HdbenchError as error:
            what = str(error).removeprefix(f"{folder / SCHEMA}: ")
            problems.error("schema_unusable", SCHEMA, what, "correct it")
    if prompt is not None:
        _check_prompt(prompt, schema, spec, problems)
    if card is not None:
        _check_card(card, problems)
    if changelog is not None and spec is not None and spec.version not in changelog:
        problems.warning(
            "changelog_without_version",
            CHANGELOG,
            f"has no entry for version {spec.version}",
            f"add ## {spec.version}, and what is in it",
        )
    for name in spec.files if spec is not None else ():
        if not (folder / name).is_file():
            problems.error(
                "file_missing",
                name,
                "there is no such file",
                "add it, or take it out of files in benchmark.yaml",
            )
    return schema


def _read(path: Path, problems: Problems) -> str | None:
    if not path.is_file():
        remedy = _TO_WRITE[path.name]
        problems.error("file_missing", path.name, "there is no such file", remedy)
        return None
    try:
        if path.stat().st_size > MAX_BYTES:
            raise HdbenchError(f"larger than {MAX_BYTES >> 20} MiB: shorten it")
        return read_text_file(path)
    except HdbenchError as error:
        what, _, remedy = str(error).removeprefix(f"{path}: ").partition(": ")
        problems.error("file_unusable", path.name, what, remedy)
        return None


def _check_prompt(
    prompt: str, schema: AnswerSchema | None, spec: BenchmarkSpec | None, problems: Problems
) -> None:
    if not prompt.strip():
        problems.error("prompt_blank", PROMPT, "is blank", _TO_WRITE[PROMPT])
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
            f"does not name {len(lacking)} of the schema's {len(names)} fields: {which}",
            "name them, or models without structured output will call them something else",
        )
    if spec is None:
        return
    inserted = set(_PLACEHOLDER.findall(prompt))
    for name in spec.prompt_columns:
        if name not in inserted:
            problems.warning(
                "prompt_without_column",
                PROMPT,
                f"does not have {{{name}}}, which prompt_columns in benchmark.yaml lists",
                "write it where an item's value belongs, or take it out there",
            )
    for name in sorted(inserted & spec.columns.keys() - set(spec.prompt_columns)):
        problems.warning(
            "prompt_column_unlisted",
            PROMPT,
            f"has {{{name}}}, which stays as it is",
            f"add {name} to prompt_columns in benchmark.yaml to insert an item's value",
        )


def _check_card(card: str, problems: Problems) -> None:
    try:
        _, front, body = card.split("---\n", 2)
    except ValueError:
        problems.error(
            "card_without_yaml",
            CARD,
            "does not begin with YAML between two --- lines",
            _TO_WRITE[CARD],
        )
        return
    try:
        if not isinstance(parse_yaml(front), dict):
            problems.error(
                "card_without_yaml",
                CARD,
                "has no keys between its two --- lines",
                "write some there, such as language: de",
            )
    except ValueError as error:
        what = f"its YAML cannot be read: {' '.join(str(error).split())}"
        problems.error("card_without_yaml", CARD, what, "correct it")
    try:
        jinja2.Environment(**STRICT).parse(body)  # noqa: S701  it is Markdown, and not rendered here
    except (jinja2.TemplateError, RecursionError) as error:
        problems.error("card_no_template", CARD, str(error), "correct the {{ … }} or {% … %}")
