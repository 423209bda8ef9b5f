"""A mapping that is made of choices: which target each field of a collection has."""

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.benchmarks.authority_files import IDENTIFIER
from hdbench.collections.records.mapping import (
    CARDS,
    ITEM,
    POSITIONS,
    MappedForm,
    RecordMapping,
    Template,
    read_template,
)
from hdbench.common.validation import read_plain_yaml, validate
from hdbench.errors import HdbenchError

MAPPING = "mapping.yaml"
"""The mapping of a collection, in its folder."""


class Target(NamedTuple):
    """What a field can become.

    Attributes:
        key: its name among others, such as `264b`, `title`, or a column.
        at: the target in a mapping.
        code: the subfield; empty for a text.
        before: what stands before it in a field.
        names: what fields are called that usually go there.
    """

    key: str
    at: str
    code: str = ""
    before: str = ""
    names: tuple[str, ...] = ()


@cache
def targets(form: MappedForm) -> Mapping[str, Target]:
    """Return what fields can become in a form; nothing for a table, whose columns are free."""
    given = read_plain_yaml(Path(__file__).with_name("targets.yaml")).get(form, {})
    return {
        key: Target(
            key,
            target.get("at", key),
            key[3:] if "at" in target else "",
            target.get("before", ""),
            tuple(target.get("names", ())),
        )
        for key, target in given.items()
    }


def chosen(mapping: RecordMapping, form: MappedForm) -> dict[str, Target]:
    """Return what each field becomes by a mapping: the first, but of codes."""
    found: dict[str, Target] = {}
    part = mapping.part(form)
    for at in sorted(part, key=POSITIONS.__contains__):
        for entry in part[at]:
            for subfield in entry.template.subfields:
                code = subfield.code
                known = targets(form).get(at[:3] + code if code else at)
                target = known or Target(at[:3] + code if code else at, at, code)
                for name in _names(subfield.fields):
                    found.setdefault(name, target)
    return found


def with_choices(
    value: Mapping[str, Any], form: MappedForm, choices: Mapping[str, str], path: Path
) -> dict[str, Any]:
    """Return a mapping in which fields become what was chosen; all else stays.

    Fields that share a target stand in it together, as far as they have subfields of their own or
    are parts of the same, such as a name's; otherwise one after the other.

    Args:
        value: the mapping, as its file has it.
        form: the part that was chosen for.
        choices: field → key of its target; empty for none.
        path: the mapping's file.

    Raises:
        HdbenchError: there is no such target.
    """
    before = chosen(validate(RecordMapping, value, path), form)
    known = {target.key: target for target in before.values()} | dict(targets(form))
    wanted: dict[str, Target] = {}
    for field, key in choices.items():
        if key and form != "csv" and key not in known:
            raise HdbenchError("{field}: cannot become {key}", field=field, key=key[:40])
        if key:
            wanted[field] = known.get(key, Target(key, key))
    same = {field for field in choices if wanted.get(field) == before.get(field)}
    changed = [field for field in choices if field not in same]
    touched = [each[field].at for field in changed for each in (before, wanted) if field in each]
    part = dict(value.get(form, {}))
    for at in dict.fromkeys(touched):
        fields = {field: target for field, target in wanted.items() if target.at == at}
        entries: list[Any] = []
        for entry in _listed(part.pop(at, [])):
            names = _names(_template_of(entry).fields)
            # What is the same in all records, or has conditions or the like, is not made here.
            if not names or (isinstance(entry, dict) and names <= same & fields.keys()):
                entries.append(entry)
                fields = {field: fields[field] for field in fields if field not in names}
        if entries := [*entries, *_texts(fields)]:
            part[at] = _or_one(entries)
    return {**value, form: part}


def first_mapping(titles: Mapping[str, str]) -> dict[str, Any]:
    """Return a mapping to begin with: that for cards, as far as it fits, and what names suggest.

    Args:
        titles: field → its title.
    """
    value: dict[str, Any] = read_plain_yaml(CARDS)
    value["capitals"] = [name for name in value["capitals"] if name in titles]
    value["leave_out"] = {
        why: when for why, when in value["leave_out"].items() if when.keys() <= titles.keys()
    }
    known = {ITEM, *titles}
    forms: tuple[MappedForm, ...] = ("marc", "dublin-core")
    for form in forms:
        fitting = {
            at: [each for each in _listed(entries) if _fields_of(each) <= known]
            for at, entries in value[form].items()
        }
        value[form] = {at: _or_one(entries) for at, entries in fitting.items() if entries}
        mapping = validate(RecordMapping, value, CARDS)
        there, decisive = chosen(mapping, form), mapping.conditions(form)
        choices = {field: target.key for field, target in there.items()}
        for field in titles.keys() - there.keys() - decisive:
            usual = (key for key, target in targets(form).items() if field in target.names)
            choices[field] = next(usual, "")
        ordered = {field: choices.get(field, "") for field in titles}
        value = with_choices(value, form, ordered, CARDS)
    columns = {ITEM: f"{{{ITEM}}}"}
    for field, title in titles.items():
        columns[field if title in columns else title] = f"{{{field}}}"
    return value | {"csv": columns}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _or_one(entries: list[Any]) -> Any:
    return entries if len(entries) > 1 else entries[0]


def _template_of(entry: Any) -> Template:
    return read_template(entry["text"] if isinstance(entry, dict) else entry)


def _fields_of(entry: Any) -> set[str]:
    """Return the fields that an entry of a mapping names, or that decide whether it is written."""
    fields = (name.removesuffix(IDENTIFIER) for name in _template_of(entry).fields)
    return {*fields, *(entry.get("when", {}) if isinstance(entry, dict) else {})}


def _names(fields: Iterable[str]) -> set[str]:
    return {name.removesuffix(IDENTIFIER) for name in fields} - {ITEM}


def _texts(fields: Mapping[str, Target]) -> list[str]:
    """Return the texts of fields that share a target.

    Example:
        >>> place, year = Target("264a", "264|#1|", "a"), Target("264c", "264|#1|", "c", ", ")
        >>> _texts({"issued": year, "place": place, "sent": year})
        ['$a{place}, $c{issued}', '$c{sent}']
    """
    cells: dict[Target, dict[str, list[str]]] = {}
    for field, target in fields.items():
        parent = field.rpartition(".")[0] or field
        cells.setdefault(target, {}).setdefault(parent, []).append(f"{{{field}}}")
    columns = sorted(cells, key=lambda target: target.code)
    texts = []
    for row in zip_longest(*(cells[target].values() for target in columns)):
        text = ""
        for target, names in zip(columns, row, strict=True):
            if names:
                code = f"${target.code}" if target.code else ""
                text += (target.before if text else "") + code + ", ".join(names)
        texts.append(text)
    return texts
