"""What pybabel finds to translate: messages in Python, and texts in YAML."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO

import yaml

Found = tuple[int, str, str | tuple[str, str], list[str]]
"""Line, function as gettext's tools know it, text (or singular and plural), and comments."""

_MAKERS = {"Message", "HdbenchError", "localized", "unfit", "print_marked"}
"""Functions and classes that take a message's template first; and subclasses of the error."""

_SECOND = {"progress", "needed", "one_line_errors", "PydanticCustomError", "_first"}
"""Functions that take a template as their second argument."""

_LISTS = {"localized_table", "heads"}
"""A function and a variable all of whose texts are headings of tables."""

_OTHER_KINDS = {"TextError"}
"""Subclass of the error that takes the key of a text."""

_PLACEHOLDER = re.compile(r"\{.*?\}")


def python(fileobj: IO[bytes], *_: object, **__: object) -> Iterator[Found]:
    """Find the templates of messages in a module, which are literals.

    Like all extractors, it is given keywords, comment tags and options, too, which it ignores.
    """
    makers = _MAKERS | error_names()
    if Path(fileobj.name).parent == Path(__file__).parent:
        makers |= {"say"}  # elsewhere this takes the key of a text
    for node in ast.walk(ast.parse(fileobj.read())):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in _LISTS:
            yield from _constants(node.value)
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        later = {keyword.arg: keyword.value for keyword in node.keywords}
        is_later_call = name == "partial" and getattr(node.args[0], "id", "") in makers
        if name in _LISTS:
            yield from _constants(*node.args, *later.values())
        elif name in makers and isinstance(later.get("plural"), ast.Constant):
            forms = ast.literal_eval(node.args[0]), ast.literal_eval(later["plural"])
            yield node.lineno, "ngettext", forms, []
        elif name in makers:
            yield from _templates(*node.args[:1])
        elif name in _SECOND or is_later_call:
            yield from _templates(*node.args[1:2])


def texts(fileobj: IO[bytes], *_: object, **__: object) -> Iterator[Found]:
    """Find the texts in a file of them."""
    waiting = [yaml.safe_load(fileobj)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if any(map(str.isalpha, _PLACEHOLDER.sub("", value))):
                yield 1, "gettext", value, []
        elif isinstance(value, dict) and value.keys() == {"one", "other"}:
            yield 1, "ngettext", (value["one"], value["other"]), []
        elif isinstance(value, dict):  # what else stands beside a problem's texts is not shown
            shown = [value[name] for name in ("message", "remedy") if name in value]
            waiting += shown or value.values()
        elif isinstance(value, list):
            waiting += value


@cache
def error_names() -> frozenset[str]:
    """Return the names of the classes of this package that derive from its error."""
    names = set()
    for path in Path(__file__).parents[1].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and "HdbenchError" in map(ast.unparse, node.bases):
                names.add(node.name)
    return frozenset(names - _OTHER_KINDS)


def _templates(*nodes: ast.AST) -> Iterator[Found]:
    """Return a literal, or either literal of a conditional expression."""
    for node in nodes:
        if isinstance(node, ast.IfExp):
            yield from _templates(node.body, node.orelse)
        elif isinstance(node, ast.Constant):
            yield from _constants(node)


def _constants(*nodes: ast.AST) -> Iterator[Found]:
    """Return all texts with a word in them that stand in some nodes."""
    for part in (part for node in nodes for part in ast.walk(node)):
        text = getattr(part, "value", None)
        if isinstance(text, str) and any(map(str.isalpha, _PLACEHOLDER.sub("", text))):
            yield getattr(part, "lineno", 1), "gettext", text, []
