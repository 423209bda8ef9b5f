"""Croissant metadata: what search engines and other loaders read about a dataset repository."""

import json
from pathlib import Path
from typing import Any

from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.provenance import (
    AUDITED,
    BLIND,
    DRAFT,
    DRAFT_MODEL,
    IMPORTED,
    PROVENANCE,
)
from hdbench.benchmarks.spec import MEDIA_KEYS, BenchmarkSpec
from hdbench.benchmarks.truths import PROPOSED, PUBLISHED, TRUTH
from hdbench.datasets.building.citation import Creator, creators, year
from hdbench.datasets.building.licences import OPEN_LICENCES
from hdbench.datasets.building.media import MEDIA_FOLDERS
from hdbench.datasets.building.metadata import Built

CROISSANT = "croissant.json"

_CONFORMS_TO = "http://mlcommons.org/croissant/1.0"

_CONTEXT = Path(__file__).with_name("croissant_context.json")
"""The JSON-LD context of the format."""

_DATA_TYPES = {
    "string": "sc:Text",
    "strings": "sc:Text",
    "int32": "sc:Integer",
    "int64": "sc:Integer",
    "float64": "sc:Float",
    "bool": "sc:Boolean",
    "date32": "sc:Date",
}

_OF_PROVENANCE = {
    PROVENANCE: f"How the ground truth was made: {BLIND} (without a draft), {DRAFT}RUN (by "
    f"correcting the answers of a run), {IMPORTED}, or {AUDITED}.",
    DRAFT_MODEL: "The model that wrote the draft.",
}

_MIME_TYPES = {
    ".jpg": "image/jpeg",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".tif": "image/tiff",
    ".webp": "image/webp",
}


def croissant(
    spec: BenchmarkSpec, built: Built, folder: Path, description: str, header: dict[str, Any]
) -> dict[str, Any]:
    """Return the JSON-LD of a built repository, in version 1.0 of the Croissant format.

    Its paths are relative, so it is valid for any copy of the repository. The rows of
    `metadata.jsonl` are the record set `items`; images are the record set `images`, which `items`
    refers to by their paths.

    Args:
        spec: the benchmark.
        built: what was written.
        folder: the repository, with its media.
        description: what it is, in a sentence or two.
        header: the YAML of the card.
    """
    files = [_metadata_file(built)]
    record_sets = [_items(spec, built)]
    media = "" if spec.media == "text" else MEDIA_FOLDERS[spec.media]
    if media and (suffixes := sorted({path.suffix for path in (folder / media).iterdir()})):
        files.append(_media_files(media, suffixes))
        if spec.media != "pdf":  # there is no data type for the content of a PDF
            record_sets.append(_images(media))
    about = {
        "@context": json.loads(_CONTEXT.read_text(encoding="utf-8")),
        "@type": "sc:Dataset",
        "conformsTo": _CONFORMS_TO,
        "name": spec.name,
        "alternateName": spec.title,
        "description": description,
        "url": f"https://huggingface.co/datasets/hdb/{spec.name}",
        "version": spec.version,
        "license": _licence(spec.licence),
        "creator": [_creator(creator) for creator in creators(spec.citation)],
        "maintainer": [{"name": name} for name in spec.maintainers],
        "rai:dataReleaseMaintenancePlan": _maintenance(spec),
        "datePublished": year(spec.citation),
        "citeAs": spec.citation.strip(),
        "inLanguage": header.get("language"),
        "keywords": header.get("tags"),
        "distribution": files,
        "recordSet": record_sets,
    }
    return {key: value for key, value in about.items() if value}


def _creator(creator: Creator) -> dict[str, str]:
    kind = "sc:Organization" if creator.is_organisation else "sc:Person"
    return {"@type": kind, "name": creator.name}


def _maintenance(spec: BenchmarkSpec) -> str:
    """Return sentences on how the dataset is maintained, from its description."""
    sentences = {
        "Maintained by": ", ".join(spec.maintainers),
        "Contact:": spec.contact,
        "The ground truth is corrected by": spec.corrected_by,
        "Report errors in the ground truth at": spec.report_errors_at,
    }
    return " ".join(f"{beginning} {value}." for beginning, value in sentences.items() if value)


def _licence(name: str) -> str:
    return (
        f"https://spdx.org/licenses/{OPEN_LICENCES[name]}.html" if name in OPEN_LICENCES else name
    )


def _metadata_file(built: Built) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": METADATA,
        "name": METADATA,
        "description": "One row per item, as JSON.",
        "contentUrl": METADATA,
        "encodingFormat": "application/jsonlines",
        "sha256": built.metadata_sha256,
    }


def _media_files(media: str, suffixes: list[str]) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"{media}-files",
        "name": f"{media}-files",
        "description": "The media, each under the sha256 of its content.",
        "includes": [f"{media}/*{suffix}" for suffix in suffixes],
        "encodingFormat": [_MIME_TYPES[suffix] for suffix in suffixes],
    }


def _items(spec: BenchmarkSpec, built: Built) -> dict[str, Any]:
    """Return the record set of the rows, with the keys that they have in the file."""
    several = "strings" if spec.media == "pages" else "string"
    shown = {MEDIA_KEYS[spec.media]: several, "sha256": several}
    descriptions = {
        "id": "The item. It is a text even where it is all digits, with leading zeros.",
        MEDIA_KEYS[spec.media]: "The path of what a model is shown, in this repository.",
        "sha256": "The sha256 of that file.",
        TRUTH: "What answers are scored against, as JSON.",
        PUBLISHED: "The same without any correction, as it was published.",
        PROPOSED: "The same with the proposed corrections of values too.",
        **(_OF_PROVENANCE if built.made else {}),
    }
    if spec.media == "text":
        shown = {"text": "string"}
        descriptions["text"] = "What a model is given after the prompt."
    columns = {"id": "string", **shown, **dict.fromkeys(built.truths, "string"), **spec.columns}
    source = {"fileObject": {"@id": METADATA}}
    return {
        "@type": "cr:RecordSet",
        "@id": "items",
        "name": "items",
        "description": f"The items of the one split, {spec.split}.",
        "key": {"@id": "items/id"},
        "field": [
            _field(f"items/{name}", _DATA_TYPES[kind], source, {"column": name})
            | ({"description": descriptions[name]} if name in descriptions else {})
            | ({"repeated": True} if kind == "strings" else {})
            for name, kind in columns.items()
        ],
    }


def _images(media: str) -> dict[str, Any]:
    source = {"fileSet": {"@id": f"{media}-files"}}
    return {
        "@type": "cr:RecordSet",
        "@id": media,
        "name": media,
        "description": "The images; one that several items share is listed once.",
        "key": {"@id": f"{media}/file_name"},
        "field": [
            _field(f"{media}/file_name", "sc:Text", source, {"fileProperty": "fullpath"}),
            _field(f"{media}/image", "sc:ImageObject", source, {"fileProperty": "content"}),
        ],
    }


def _field(name: str, kind: str, source: dict[str, Any], extract: dict[str, str]) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": name,
        "name": name,
        "dataType": kind,
        "source": {**source, "extract": extract},
    }
