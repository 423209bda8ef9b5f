"""Recording corrections: in the recipe's errata, together with the new version."""

import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

import hdbench
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.common.checked import validate
from hdbench.common.folder_files import text_in
from hdbench.common.markdown import as_code, as_prose
from hdbench.common.names import did_you_mean
from hdbench.datasets.building.errata import ERRATA, Correction, Errata, holders
from hdbench.datasets.building.metadata import RecipeRow
from hdbench.datasets.building.recipe import Recipe, check_owners, find_recipe
from hdbench.datasets.building.versions import raise_version
from hdbench.errors import HdbenchError, Message, escaped, joined
from hdbench.scoring.flatten import flatten

_HEAD = """\
# Reviewed corrections of the published files. The card lists each with its evidence, and with
# who proposed and who approved it. Those of values count when the data's owners accepted them.
"""

_NUMBER = re.compile(r"\.(\d+)(?=\.)")
_SHOWN = 200
_INDENT = 2  # of the first correction


@dataclass(frozen=True)
class Added:
    """A correction that was recorded.

    Attributes:
        path: the errata.
        version: the dataset's new version.
        checked: whether the published ground truth was available to compare with.
    """

    path: Path
    version: str
    checked: bool


def add_correction(
    name: str,
    item: str,
    field: str,
    *,
    old: str,
    new: str,
    evidence: str,
    out: Path,
    **about: str | None,
) -> Added:
    """Record a correction in a recipe: `errata.yaml`, the version, and the changelog.

    The values are compared with the published ones if these are available: in the built dataset,
    or in the recipe itself if it is in the plain form. If the published value is a text, so are
    `old` and `new`; otherwise they are JSON, or a text if they are not valid JSON.

    Args:
        name: the benchmark, or the folder of a recipe.
        item: the item's id; `*` for every item that has the wrong value.
        field: the path of the value, such as `publication.year` or `advertisements[3].date`;
            `advertisements.3.date` is the same.
        old: the published value; `null` where the field is absent.
        new: the correct value; `null` removes the field.
        evidence: what shows that it is right; it is shown in the card.
        out: the namespace folder in which the dataset may be built.
        about: the rest of a `Correction`: its kind, who proposed and who approved it, where it was
            reported, and where the data's owners accepted it.

    Raises:
        HdbenchError: there is no such item, field or published value, it is already corrected,
            nothing would change, `benchmark.yaml` names no owners who could accept it, or the
            recipe cannot be edited.
    """
    recipe = _editable(name)
    path = recipe.folder / ERRATA
    truths = _published(recipe, out)
    entry = {
        "id": item,
        "field": _with_brackets(field, truths or {}),
        "evidence": " ".join(evidence.split()).rstrip("."),
        **about,
    }
    if not entry["evidence"]:
        raise HdbenchError("--evidence: is empty: say what shows that the new value is right")
    correction = validate(Correction, {**entry, "old": _json(old), "new": _json(new)}, path)
    if truths is not None and _is_text(truths, correction, old):
        texts = {"old": old, "new": None if new == "null" else new}
        correction = correction.model_copy(update=texts)
    return _record(recipe, truths, [correction])


def add_corrections(
    name: str, corrections: Callable[[Mapping[str, dict[str, Any]]], list[Correction]], *, out: Path
) -> Added:
    """Record several corrections as one version; all or none.

    Args:
        name: the benchmark, or the folder of a recipe.
        corrections: makes them, given the published ground truths by id.
        out: the namespace folder in which the dataset is built.

    Raises:
        HdbenchError: see `add_correction`; or the published ground truth is not available.
    """
    recipe = _editable(name)
    truths = _published(recipe, out)
    if truths is None:
        raise HdbenchError(
            "{benchmark}: is not built in {folder}, so there is nothing to compare with: build it "
            "with: hdbench build {name}",
            benchmark=recipe.spec.name,
            folder=out,
            name=name,
        )
    return _record(recipe, truths, corrections(truths))


def _with_brackets(field: str, truths: Mapping[str, dict[str, Any]]) -> str:
    """Return a path with the places of list items in brackets, also where they are between dots.

    It stays as it is if a ground truth has the number as a key.

    Args:
        field: the path.
        truths: the ground truths by id, as far as they are there.

    Example:
        >>> _with_brackets("companies.0.city", {})
        'companies[0].city'
    """
    is_key = any(holders(truth, field)[0] for truth in truths.values())
    return field if is_key or "=" in field else _NUMBER.sub(r"[\1]", field)


def _paths_of(truths: Mapping[str, dict[str, Any]], item: str) -> list[str]:
    """Return the paths of the values in an item's ground truth; for `*`, in the first item's."""
    return list(flatten(next(iter(truths.values()), {}) if item == "*" else truths[item]))


def _editable(name: str) -> Recipe:
    recipe = find_recipe(name)
    if recipe.folder.resolve().is_relative_to(Path(hdbench.__file__).parent.resolve()):
        raise HdbenchError(
            "{name}: the recipes of an installed hdbench cannot be edited: run this in a checkout "
            "installed with pip install -e, or give a recipe's folder",
            name=name,
        )
    return recipe


def _record(
    recipe: Recipe, truths: Mapping[str, dict[str, Any]] | None, corrections: list[Correction]
) -> Added:
    """Check corrections, each with those before it, and write them, the version and why."""
    path = recipe.folder / ERRATA
    errata = recipe.errata
    check_owners(recipe.spec, corrections, path)
    for correction in corrections:
        if truths is not None:
            _check_published(recipe.spec.name, truths, correction)
        if correction.old == correction.new:
            raise HdbenchError(
                "{place}: the old value and the new one are the same",
                place=f"{correction.id} {correction.field}",
            )
        _check_errata(errata, truths, correction, path)
        errata = errata.model_copy(update={"corrections": (*errata.corrections, correction)})
    # The errata are last: whoever is killed in between can do it again.
    written = {path: _with_corrections(path, errata, corrections)}
    version = raise_version(recipe, _lines_of(corrections), written)
    return Added(path, version, truths is not None)


def _json(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return text


def _published(recipe: Recipe, out: Path) -> dict[str, dict[str, Any]] | None:
    """Return the ground truths as published, by id, if they are available."""
    if not recipe.has_script:
        plain = replace(recipe, errata=Errata())
        rows = plain.rows(plain.source(None))
        return {row.id: row.published for row in rows if row.published is not None}
    folder = out / recipe.spec.name
    if not (folder / "benchmark.yaml").is_file():
        return None
    built = load_benchmark(str(folder))
    if "+" in built.spec.version:  # the sample, or a changed source
        return None
    return {item.id: item.reference("published") for item in built.items()}


def _values(truths: Mapping[str, dict[str, Any]], correction: Correction) -> list[Any]:
    """Return the values that a correction points to; None where the key is absent."""
    objects_and_keys = [
        holders(truth, correction.field)
        for item, truth in truths.items()
        if correction.id in {item, "*"}
    ]
    return [holder.get(key) for objects, key in objects_and_keys for holder in objects]


def _is_text(truths: Mapping[str, dict[str, Any]], correction: Correction, text: str) -> bool:
    return any(isinstance(value, str) and value == text for value in _values(truths, correction))


def _check_published(
    name: str, truths: Mapping[str, dict[str, Any]], correction: Correction
) -> None:
    if correction.id != "*" and correction.id not in truths:
        raise HdbenchError(
            "{id}: {name} has no such item: look at its metadata.jsonl", id=correction.id, name=name
        )
    place = f"{correction.id} {correction.field}"
    values = _values(truths, correction)
    if not values or (correction.old is not None and all(value is None for value in values)):
        near = did_you_mean(correction.field, _paths_of(truths, correction.id))
        raise HdbenchError(
            "{place}: there is no such field in the published ground truth{near}",
            place=place,
            near=near,
        )
    if correction.old not in values:
        raise HdbenchError(
            "{place}: the published value is {there}, not {given}",
            place=place,
            there=joined(list(dict.fromkeys(map(_shown, values))), Message(" or ")),
            given=_shown(correction.old),
        )


def _check_errata(
    errata: Errata,
    truths: Mapping[str, dict[str, Any]] | None,
    correction: Correction,
    path: Path,
) -> None:
    """Check that no other entry already corrects the same value."""
    place = f"{correction.id} {correction.field}"
    for other in errata.corrections:
        if (other.id, other.field, other.old) == (correction.id, correction.field, correction.old):
            raise HdbenchError(
                "{file}: already corrects {place}, to {value}",
                file=path,
                place=place,
                value=_shown(other.new),
            )
    if truths is None:
        return
    rows = [RecipeRow(item, (), truth) for item, truth in truths.items()]
    only = Errata(corrections=errata.corrections)
    corrected = {
        row.id: row.proposed or row.ground_truth or {} for row in only.apply(rows, changed=True)
    }
    if correction.old not in _values(corrected, correction):
        raise HdbenchError("{file}: another entry already corrects {place}", file=path, place=place)


def _shown(value: Any) -> str:
    if value is None:
        return Message("absent")
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _code(value: Any) -> str:
    """Return a value as code in Markdown, between more backticks than it has."""
    text = escaped(_shown(value))
    if value is None:
        return text
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{text}{fence}"


def _with_corrections(path: Path, expected: Errata, corrections: list[Correction]) -> str:
    """Return the errata's text with more corrections; the existing text stays unchanged."""
    text = text_in(path.parent, path.name) if path.exists() else _HEAD
    entries = []
    for correction in corrections:
        dumped = correction.model_dump()
        # In the first keys, null has a meaning.
        first = {key: dumped[key] for key in ("id", "field", "kind", "old", "new")}
        entry = first | {key: value for key, value in dumped.items() if value is not None}
        entries.append(_quoted(entry))
    yaml_entries = yaml.dump(
        entries, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=math.inf
    )
    before, after, indent = _around(text)
    result = before + textwrap.indent(yaml_entries, " " * indent) + after
    with suppress(yaml.YAMLError, HdbenchError):
        if validate(Errata, yaml.safe_load(result), path) == expected:
            return result
    raise HdbenchError(
        "{place}: cannot be added to in its present form: edit it by hand", place=path
    )


def _around(text: str) -> tuple[str, str, int]:
    """Return the errata's text before and after the next correction, and how far that is indented.

    The parser's marks say where the list ends. So no comment, quote or line break is touched, as
    it would be if everything were written anew.
    """
    document = yaml.compose(text, yaml.SafeLoader)
    lists = {key.value: value for key, value in document.value} if document else {}
    node = lists.get("corrections")
    if node is None:
        before, after, indent = f"{_whole_lines(text)}corrections:", "", _INDENT
    elif isinstance(node, yaml.SequenceNode) and not node.flow_style:
        end = node.end_mark.index
        before, after, indent = text[:end], text[end:], node.start_mark.column
    else:  # `[]`
        before = text[: node.start_mark.index].rstrip(" ")
        after, indent = text[node.end_mark.index :].removeprefix("\n"), _INDENT
    return _whole_lines(before), after, indent


def _whole_lines(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"


class _Text(str):
    """A text that is written in double quotes."""


class _Dumper(yaml.SafeDumper):
    """Writes each `_Text` in double quotes."""


_Dumper.add_representer(
    _Text, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


def _quoted(value: Any) -> Any:
    """Return a value whose texts any YAML reader takes for texts, unlike bare `no` or `12:30`."""
    if isinstance(value, str):
        return _Text(value)
    if isinstance(value, dict):
        return {key: _quoted(child) for key, child in value.items()}
    return [_quoted(child) for child in value] if isinstance(value, list) else value


def _lines_of(corrections: Iterable[Correction]) -> str:
    """Return the changelog's lines on corrections."""
    lines = ""
    for correction in corrections:
        item = "every item" if correction.id == "*" else as_code(correction.id)
        now = "is now" if correction.counts else "proposed is"
        change = f"was {_code(correction.old)}, {now} {_code(correction.new)}"
        lines += (
            f"- {item}, {as_code(correction.field)}, {change}: {as_prose(correction.evidence)}.\n"
        )
    return lines
