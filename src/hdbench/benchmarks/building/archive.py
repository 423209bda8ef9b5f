"""Files that make a dataset's folder an archive, readable without hdbench and ready to be cited."""

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.spec import BenchmarkSpec
from hdbench.common.csv_and_excel import Row, write_csv
from hdbench.common.files import file_sha256
from hdbench.common.jsonio import read_jsonl
from hdbench.errors import Message, nearest

# Licences under which a dataset may be built and published without further permission

UNSTATED = "other"
"""The word for a licence that is not stated."""

OPEN_LICENCES = {
    "apache-2.0": "Apache-2.0",
    "cc-by-4.0": "CC-BY-4.0",
    "cc-by-sa-4.0": "CC-BY-SA-4.0",
    "cc0-1.0": "CC0-1.0",
    "mit": "MIT",
    "pddl": "PDDL-1.0",
}
"""The Hub's name for each → its SPDX identifier."""


def unusable(licence: str) -> tuple[Message, Message] | None:
    """Return the error in a licence's name and its remedy; None if it can be stated.

    Example:
        >>> unusable("CC BY")[0], unusable("cc0-1.0"), unusable("other")
        ('SPDX knows no such licence', None, None)
    """
    if licence in OPEN_LICENCES or licence == UNSTATED:
        return None
    try:
        canonicalize_license_expression(licence)
    except InvalidLicenseExpression:
        near = nearest(licence.lower().replace(" ", "-"), OPEN_LICENCES)
        remedy = Message(
            "{near}choose one of {names}, or {unstated} if none is stated",
            near=Message("did you mean {near}? Otherwise ", near=near) if near else "",
            names=", ".join(OPEN_LICENCES),
            unstated=UNSTATED,
        )
        return Message("SPDX knows no such licence"), remedy
    if licence.lower() in OPEN_LICENCES:
        return Message("is not in small letters"), Message("write {right}", right=licence.lower())
    return None


CHECKSUMS = "SHA256SUMS"
# The authors in a benchmark's BibTeX

_COMBINING = dict(zip("\"'`^~", "\u0308\u0301\u0300\u0302\u0303", strict=True))

_ACCENT = re.compile(r"""\{?\\(["'`^~])\{?(\w)\}?\}?""")


class Creator(NamedTuple):
    """An author: a person, as `Müller, Gabriel`, or an organisation."""

    name: str
    is_organisation: bool


def creators(citation: str) -> list[Creator]:
    r"""Return the authors of a BibTeX entry; one entirely in braces is an organisation.

    Example:
        >>> [each.name for each in creators(r'author = {M{\"u}ller, Gabriel and {RISE}},')]
        ['Müller, Gabriel', 'RISE']
        >>> creators("author = {},")
        []
    """
    match = re.search(r"^\s*author\s*=\s*\{(.*)\},?\s*$", citation, re.MULTILINE)
    names = re.split(r"\s+and\s+(?![^{]*\})", _plain(match[1])) if match else []
    return [
        Creator(name[1:-1], True) if name.startswith("{") else Creator(name, False)
        for name in names
        if name
    ]


def _plain(tex: str) -> str:
    """Return a text with TeX's accents as letters."""
    return _ACCENT.sub(
        lambda accent: unicodedata.normalize("NFC", accent[2] + _COMBINING[accent[1]]), tex
    )


# The files

TABLE = "ground_truth.csv"
CITATION = "CITATION.cff"
_ANONYMOUS = Creator("Anonymous", True)


def write_archive(spec: BenchmarkSpec, folder: Path) -> None:
    """Write the ground truths as a table, what a citation needs, and the checksums of all files.

    Args:
        spec: what the dataset says about itself.
        folder: the dataset's folder, with everything else in it.
    """
    _write_table(folder)
    (folder / CITATION).write_text(
        yaml.safe_dump(citation_cff(spec), sort_keys=False, allow_unicode=True), encoding="utf-8"
    )
    lines = [
        f"{file_sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in _files(folder)
    ]
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8")


def citation_cff(spec: BenchmarkSpec) -> dict[str, Any]:
    """Return how to cite the dataset, in the Citation File Format 1.2.0.

    Args:
        spec: what the dataset says about itself.
    """
    return {
        "cff-version": "1.2.0",
        "message": "If you use this dataset, please cite it.",
        "type": "dataset",
        "title": spec.title,
        "version": spec.version,
        "authors": [_cff_author(creator) for creator in _creators(spec)],
        **({"license": OPEN_LICENCES[spec.licence]} if spec.licence in OPEN_LICENCES else {}),
    }


def _creators(spec: BenchmarkSpec) -> list[Creator]:
    own = [Creator(name, True) for name in spec.maintainers]
    return creators(spec.citation) or own or [_ANONYMOUS]


def _cff_author(creator: Creator) -> dict[str, str]:
    family, comma, given_names = creator.name.partition(",")
    if creator.is_organisation or not comma:
        return {"name": creator.name}
    return {"family-names": family.strip(), "given-names": given_names.strip()}


def _write_table(folder: Path) -> None:
    """Write the ground truths as a table, one row per value."""
    write_csv(folder / TABLE, ("id", "field", "value"), _rows(folder / METADATA))


def _rows(metadata: Path) -> Iterator[Row]:
    for line in read_jsonl(metadata):
        if (truth := line.value["ground_truth"]) is not None:
            for path, value in _values(json.loads(truth), ""):
                yield line.value["id"], path, value


def _values(value: Any, path: str) -> Iterator[tuple[str, str | int | float]]:
    """Yield the place of each value, and its text or number; anything else is written as JSON."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _values(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from _values(inner, f"{path}[{number}]")
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield path, value
    else:
        yield path, json.dumps(value, ensure_ascii=False)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
