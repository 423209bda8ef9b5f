"""The card of a dataset repository: the recipe's README.md, filled in."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import jinja2
import yaml
from jinja2.sandbox import ImmutableSandboxedEnvironment

from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.provenance import AUDITED, BLIND, IMPORTED
from hdbench.benchmarks.spec import MEDIA_KEYS, BenchmarkSpec
from hdbench.building.agreement_card import agreement_section
from hdbench.building.croissant import CROISSANT, croissant
from hdbench.building.media import MEDIA_FOLDERS
from hdbench.common import pdf
from hdbench.common.jsonio import read_jsonl, write_json
from hdbench.common.templates import STRICT
from hdbench.errors import HdbenchError, escaped

if TYPE_CHECKING:
    from pathlib import Path

    from hdbench.benchmarks.agreement import Agreement
    from hdbench.benchmarks.provenance import Provenance
    from hdbench.building.builder import Built
    from hdbench.building.recipe import Recipe

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))

_CANARY = "hdbench canary GUID {}: benchmark data should never be in training corpora"

_TOLD = {
    BLIND: "without a draft",
    IMPORTED: "imported",
    AUDITED: "corrected after an audit",
}

_PDF_PICTURE = "example.png"

_PICTURE_WIDTH = 800


def write_cards(
    recipe: Recipe, built: Built, folder: Path, agreement: Agreement | None = None
) -> None:
    """Write the README.md of a built repository, its translations, and its Croissant metadata.

    The recipe's own README.md is YAML between two `---` lines and a Jinja template, which is given
    `spec`, `rows`, `provenance` (how many ground truths were made how; empty if the rows do not say
    it), `sample`, `excluded` and `corrections` (of the errata), `missing`, `example`
    (a row of medium length, as JSON) and `picture` (the path of that row's image, or of one that
    is made from the first page of its PDF; empty if the row has neither). What `load_dataset`
    needs is added to the YAML, as `configs`; at the end, the provenance if the template leaves it
    out, how well people agree, if that is known, and the benchmark's canary. A translation, such as
    `README.zh.md`, is a template with the same values.

    Raises:
        HdbenchError: a template does not have that form.
    """
    lines = [line.value for line in read_jsonl(folder / METADATA)]
    key = MEDIA_KEYS[recipe.spec.media]
    shown = sorted(
        (line for line in lines if line[key] and line["ground_truth"] is not None),
        key=lambda line: len(line["ground_truth"]),
    )
    example = shown[len(shown) // 2] if shown else lines[0]
    header = {
        "pretty_name": recipe.spec.title,
        "license": recipe.spec.licence,
        "size_categories": [next((name for most, name in _SIZES if built.rows < most), "n>1M")],
        "configs": [_config(recipe.spec, built)],
    }
    provenance = _provenance(built)
    values = {
        "spec": recipe.spec,
        "rows": built.rows,
        "provenance": provenance,
        "sample": recipe.sample,
        "excluded": () if recipe.sample else recipe.errata.exclude,
        "corrections": () if recipe.sample else recipe.errata.of_fields,
        "missing": built.missing,
        "picture": "" if recipe.spec.media == "text" else _picture(example[key], folder),
        "example": json.dumps(_readable(example), ensure_ascii=False, indent=2),
    }
    card = fill_card(recipe.folder / "README.md", header, **values)
    if provenance not in card:
        card += f"\n## How the ground truth was made\n\n{provenance}\n"
    if agreement is not None:
        card += f"\n{agreement_section(agreement)}"
    if recipe.spec.canary is not None:
        card += f"\n{_CANARY.format(recipe.spec.canary)}\n"
    (folder / "README.md").write_text(card, encoding="utf-8")
    for path in sorted(recipe.folder.glob("README.*.md")):
        text = _rendered(path, path.read_text(encoding="utf-8"), values)
        (folder / path.name).write_text(text + "\n", encoding="utf-8")
    _, front, body = card.split("---\n", 2)
    about = croissant(recipe.spec, built, folder, _summary(body), yaml.safe_load(front))
    write_json(folder / CROISSANT, about)


def _provenance(built: Built) -> str:
    """How many ground truths were made how, as Markdown; empty if nothing is known."""
    if not built.made:
        return ""
    told = Counter[str]()
    for made, number in built.made.items():
        told[_TOLD.get(made.how) or _told_of_draft(made)] += number
    told["not recorded"] = built.rows - built.without_truth - told.total()
    lines = (f"- {what}: {number:,}" for what, number in told.most_common() if number)
    return "\n".join(["How many ground truths were made how:", "", *lines])


def _told_of_draft(made: Provenance) -> str:
    model = f" of {_code(made.model)}" if made.model else ""
    return f"by correcting drafts{model} (run {_code(made.run or '')})"


def _code(text: str) -> str:
    """Untrusted text in a line of Markdown."""
    return f"`{escaped(text).replace('`', chr(39))}`"


def _summary(body: str) -> str:
    """The first paragraph below the title of a card, or the title if nothing follows."""
    title, *paragraphs = body.strip().split("\n\n")
    return " ".join((paragraphs or [title.lstrip("# ")])[0].replace("**", "").split())


def _picture(media: str | list[str] | None, folder: Path) -> str:
    """The path of a picture of an item."""
    if not media:
        return ""
    path = media if isinstance(media, str) else media[0]
    if not path.endswith(".pdf"):
        return path
    with pdf.opened(folder / path) as document:
        page = document[0]
        pdf.rendered(page, _PICTURE_WIDTH / page.get_width()).save(folder / _PDF_PICTURE)
    return _PDF_PICTURE


def fill_card(path: Path, header: dict[str, Any], **values: Any) -> str:
    """A card's text: the template, filled in, with more keys in its YAML.

    Args:
        path: YAML between two `---` lines, and a Jinja template.
        header: the additional keys.
        values: what the template is given.

    Raises:
        HdbenchError: it does not have that form.
    """
    try:
        _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    except FileNotFoundError as error:
        raise HdbenchError("{place}: no such file: a dataset needs a card", place=path) from error
    except ValueError as error:
        raise HdbenchError(
            "{place}: must begin with YAML between two --- lines", place=path
        ) from error
    text = _rendered(path, body, values)
    full = yaml.safe_load(front) | header
    return f"---\n{yaml.safe_dump(full, sort_keys=False, allow_unicode=True)}---\n{text}\n"


def _rendered(path: Path, template: str, values: dict[str, Any]) -> str:
    # It is Markdown, so that nothing is escaped; a template of somebody else's must do no harm.
    environment = ImmutableSandboxedEnvironment(**STRICT)
    try:
        return environment.from_string(template).render(values)
    except jinja2.TemplateError as error:
        raise HdbenchError("{place}: {why}", place=path, why=error) from error


def _config(spec: BenchmarkSpec, built: Built) -> dict[str, Any]:
    shown = {
        "image": {"image": "image", "sha256": "string"},
        "pages": {"pages": "images", "sha256": "strings"},
        "pdf": {"pdf": "pdf", "sha256": "string"},
        "text": {"text": "string"},
    }
    columns = {"id": "string", **shown[spec.media], "ground_truth": "json", **spec.columns}
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
    return {**line, "ground_truth": json.loads(line["ground_truth"] or "null")}
