"""The card of a dataset repository: the recipe's README.md, filled in."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from hdbench.benchmarks.agreement import AGREEMENT, Agreement, IntervalEstimate
from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.building.archive import UNSTATED
from hdbench.benchmarks.building.metadata import Built
from hdbench.benchmarks.building.recipe import Recipe
from hdbench.benchmarks.building.source import MEDIA_FOLDERS
from hdbench.benchmarks.markdown import as_code, as_text, fill, markdown_templates
from hdbench.benchmarks.spec import (
    AUDITED,
    BLIND,
    IMPORTED,
    MEDIA_KEYS,
    TRUTH,
    TRUTHS,
    BenchmarkSpec,
    Provenance,
)
from hdbench.common import pdf
from hdbench.common.bounds import MAX_FRONT
from hdbench.common.files import MissingFileError, check_name, text_in
from hdbench.common.jsonio import read_jsonl
from hdbench.common.validation import parse_yaml
from hdbench.errors import HdbenchError, Message

_TEMPLATES = markdown_templates("hdbench.benchmarks.building")

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))

_CANARY = "hdbench canary GUID {}: benchmark data should never be in training corpora"

_DESCRIPTIONS = {
    BLIND: "without a draft",
    IMPORTED: "imported",
    AUDITED: "corrected after an audit",
}

CARD = "README.md"


_WORDS = ("name", "version", "metric", "headline", "media", "split", "licence")
"""Keys of `benchmark.yaml` whose values are words."""

_IS_UNSTATED = f'spec.licence == "{UNSTATED}"'
"""A condition in the cards that `hdbench new` writes."""

PLACEHOLDERS = (
    *("rows", "example", "picture", "provenance", "corrections", "missing", "sample", "spec.title"),
    *(f"spec.{name}" for name in _WORDS),
    *("spec.citation", "spec.owners", "spec.maintainers", "spec.contact", "spec.corrected_by"),
    *("spec.report_errors_at", "spec.source.revision", _IS_UNSTATED),
)
"""Placeholders of a card: with two braces around it or behind an `if`."""

_UNSAFE_CHARACTER = re.compile(r"[^\w.+ -]")

_PDF_PICTURE = "example.png"

_PICTURE_WIDTH = 800


class Card(NamedTuple):
    """A card that is filled in: the values in its YAML, and the Markdown below them."""

    header: dict[str, Any]
    body: str

    @property
    def text(self) -> str:
        """Return the whole."""
        front = yaml.safe_dump(self.header, sort_keys=False, allow_unicode=True)
        return f"---\n{front}---\n{self.body}\n"


def write_cards(
    recipe: Recipe, built: Built, folder: Path, agreement: Agreement | None = None
) -> None:
    """Write the README.md of a built repository, and its translations.

    The recipe's own README.md is YAML between two `---` lines, and Markdown with placeholders, see
    `fill`. What `load_dataset` needs is added to the YAML, as `configs`; at the end, the provenance
    if the card leaves it out, how well people agree, if that is known, and the benchmark's canary.
    A translation, such as `README.zh.md`, has the same placeholders.

    Raises:
        HdbenchError: a card does not have that form.
    """
    header = {
        "pretty_name": recipe.spec.title,
        "license": recipe.spec.licence,
        "size_categories": [next((name for most, name in _SIZES if built.rows < most), "n>1M")],
        "configs": [_config(recipe.spec, built)],
    }
    values = _values(recipe, built, folder)
    text = fill_card(recipe.folder, header, values).text
    if values["provenance"] not in text:
        text += f"\n## How the ground truth was made\n\n{values['provenance']}\n"
    if agreement is not None:
        text += f"\n{agreement_section(agreement)}"
    if recipe.spec.canary is not None:
        text += f"\n{_CANARY.format(recipe.spec.canary)}\n"
    (folder / CARD).write_text(text, encoding="utf-8")
    for path in translations(recipe.folder):
        body = text_in(recipe.folder, path.name).removesuffix("\n")
        (folder / path.name).write_text(fill(body, values, path) + "\n", encoding="utf-8")


def translations(folder: Path) -> list[Path]:
    """Return the paths of a card's translations, such as `README.zh.md`.

    Raises:
        HdbenchError: the name of one is not UTF-8.
    """
    paths = sorted(folder.glob("README.*.md"))
    for path in paths:
        check_name(path)
    return paths


def _values(recipe: Recipe, built: Built, folder: Path) -> dict[str, str]:
    """Return the values of a card's placeholders: plain text, or Markdown that is made here."""
    spec = recipe.spec
    lines = [line.value for line in read_jsonl(folder / METADATA)]
    key = MEDIA_KEYS[spec.media]
    shown = sorted(
        (line for line in lines if line[key] and line[TRUTH] is not None),
        key=lambda line: len(line[TRUTH]),
    )
    example = shown[len(shown) // 2] if shown else lines[0]
    return {
        "rows": str(built.rows),
        "example": _in_block(json.dumps(_readable(example), ensure_ascii=False, indent=2)),
        "picture": "" if spec.media == "text" else _picture(example[key], folder),
        "provenance": _provenance(built),
        "corrections": "" if recipe.sample else _corrections(recipe),
        "missing": ", ".join(map(as_text, built.missing)),
        "sample": "yes" if recipe.sample else "",
        **_of_spec(spec),
    }


def _of_spec(spec: BenchmarkSpec) -> dict[str, str]:
    """Return the placeholders for what `benchmark.yaml` says."""
    return {
        "spec.title": as_text(spec.title),
        **{f"spec.{name}": _UNSAFE_CHARACTER.sub("?", getattr(spec, name)) for name in _WORDS},
        "spec.citation": _in_block(spec.citation),
        "spec.owners": ", ".join(map(as_text, spec.owners)),
        "spec.maintainers": ", ".join(map(as_text, spec.maintainers)),
        "spec.contact": spec.contact or "",
        "spec.corrected_by": as_text(spec.corrected_by or ""),
        "spec.report_errors_at": spec.report_errors_at or "",
        "spec.source.revision": spec.source.revision if spec.source else "",
        _IS_UNSTATED: "yes" if spec.licence == UNSTATED else "",
    }


def _in_block(text: str) -> str:
    """Return untrusted text as a code block; invisible characters become escapes, in JSON too."""
    lines = text.replace("```", "'''").split("\n")
    return "\n".join("".join(map(_visible, line)) for line in lines)


def _visible(sign: str) -> str:
    return sign if sign.isprintable() or sign == "\t" else json.dumps(sign)[1:-1]


def _corrections(recipe: Recipe) -> str:
    """Return Markdown lists of the errata's exclusions and corrections, and of those that count."""
    name = recipe.spec.item_name
    template = _TEMPLATES.get_template("corrections.md.j2")
    return template.render(
        errata=recipe.errata, item=f"every {name.en[0] if name else 'item'}"
    ).strip()


def _provenance(built: Built) -> str:
    """Return how the ground truths were made, with counts, as Markdown; empty if unknown."""
    if not built.made:
        return ""
    counts = Counter[str]()
    for provenance, number in built.made.items():
        counts[_DESCRIPTIONS.get(provenance.how) or _by_draft(provenance)] += number
    counts["not recorded"] = built.rows - built.without_truth - counts.total()
    lines = (
        f"- {description}: {number:,}" for description, number in counts.most_common() if number
    )
    return "\n".join(["How many ground truths were made how:", "", *lines])


def _by_draft(provenance: Provenance) -> str:
    model = f" of {as_code(provenance.model)}" if provenance.model else ""
    return f"by correcting drafts{model} (run {as_code(provenance.run or '')})"


def _picture(media: str | list[str] | None, folder: Path) -> str:
    """Return the path of a picture of an item."""
    if not media:
        return ""
    path = media if isinstance(media, str) else media[0]
    if not path.endswith(".pdf"):
        return path
    with pdf.opened(folder / path) as document:
        page = document[0]
        pdf.rendered(page, _PICTURE_WIDTH / page.get_width()).save(folder / _PDF_PICTURE)
    return _PDF_PICTURE


def fill_card(folder: Path, header: dict[str, Any], values: Mapping[str, str]) -> Card:
    """Return the card of a folder, filled in, with more keys in its YAML.

    Args:
        folder: where its README.md is: YAML between two `---` lines, and Markdown.
        header: the additional keys.
        values: what stands for its placeholders.

    Raises:
        HdbenchError: it does not have that form.
    """
    path = folder / CARD
    try:
        _, front, body = text_in(folder, CARD).split("---\n", 2)
    except MissingFileError as error:
        raise HdbenchError("{place}: no such file: a dataset needs a card", place=path) from error
    except HdbenchError:
        raise
    except ValueError as error:
        raise HdbenchError(
            "{place}: must begin with YAML between two --- lines", place=path
        ) from error
    filled = fill(body.removesuffix("\n"), values, path, first=front.count("\n") + 3)
    return Card(card_yaml(front, path) | header, filled)


def front_matter(front: str) -> Any:
    """Return the value of a card's YAML.

    Raises:
        ValueError: it is not YAML, or is too large.
    """
    if len(front) > MAX_FRONT:
        raise ValueError(Message("larger than {most} MiB", most=MAX_FRONT >> 20))
    return parse_yaml(front)


def card_yaml(front: str, path: Path) -> dict[str, Any]:
    """Return the values in a card's YAML.

    Raises:
        HdbenchError: it is not YAML, or has no keys.
    """
    try:
        values = front_matter(front)
    except ValueError as error:
        raise HdbenchError("{place}: its YAML: {why}", place=path, why=error) from error
    if not isinstance(values, dict):
        raise HdbenchError("{place}: must begin with YAML between two --- lines", place=path)
    return values


def _config(spec: BenchmarkSpec, built: Built) -> dict[str, Any]:
    shown = {
        "image": {"image": "image", "sha256": "string"},
        "pages": {"pages": "images", "sha256": "strings"},
        "pdf": {"pdf": "pdf", "sha256": "string"},
        "text": {"text": "string"},
    }
    truths = dict.fromkeys(built.truths, "json")
    columns = {"id": "string", **shown[spec.media], **truths, **spec.columns}
    media = [] if spec.media == "text" else [f"{MEDIA_FOLDERS[spec.media]}/*"]
    lists = {"images": "image", "strings": "string"}
    return {
        "config_name": "default",
        # `datasets` finds a folder's cache by its configs alone: without the content hash in
        # them, another folder with that name would be read from this one's cache.
        "description": f"Version {spec.version}, metadata sha256 {built.metadata_sha256}",
        "data_files": [{"split": spec.split, "path": [METADATA, *media]}],
        "features": [
            {"name": name, "list": lists[kind]} if kind in lists else {"name": name, "dtype": kind}
            for name, kind in columns.items()
        ],
    }


def _readable(line: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its ground truths as records."""
    truths = {name: json.loads(line[name] or "null") for name in TRUTHS if name in line}
    return {**line, **truths}


def agreement_section(agreement: Agreement) -> str:
    """Return a section in Markdown: the ceiling, and a table of the fields."""
    return _TEMPLATES.get_template("agreement.md.j2").render(
        agreement=agreement,
        items="1 item" if agreement.items == 1 else f"{agreement.items:,} items",
        estimate=estimate_in_words,
        file=AGREEMENT,
    )


def estimate_in_words(estimate: IntervalEstimate) -> str:
    """Return a figure with its interval.

    Example:
        >>> estimate_in_words(IntervalEstimate(value=0.95, interval=(0.8, 0.99)))
        '0.950 (0.800 to 0.990)'
        >>> estimate_in_words(IntervalEstimate(value=None))
        '–'
    """
    if estimate.value is None:
        return "–"
    value = f"{estimate.value:.3f}"
    if estimate.interval is None:
        return value
    low, high = estimate.interval
    return f"{value} ({low:.3f} to {high:.3f})"
