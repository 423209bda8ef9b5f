"""Rules for scoring from the command line: `--option` and `--also`."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hdbench.common.jsonio import UNIQUE, json_reason, parse_json
from hdbench.errors import HdbenchError
from hdbench.evaluation.score import Settings

_WORD = re.compile(r"[A-Za-z_]+")


_NEXT_OPTION = re.compile(r",\s*(?=\w+=)")


def read_options(texts: Sequence[str], where: str = "--option") -> dict[str, Any]:
    """Return the metric's options by name, from texts like `threshold=0.8` or `lists=position`.

    A value is JSON; a text that is one word needs no quotation marks.

    Raises:
        HdbenchError: a text has another form, or an option is given twice.
    """
    options: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise HdbenchError("{where} {text}: must be NAME=VALUE", where=where, text=text)
        if name in options:
            raise HdbenchError(
                "{where} {text}: {name} is given twice: keep one", where=where, text=text, name=name
            )
        try:
            options[name] = parse_json(value, UNIQUE)
        except ValueError as error:
            if not _WORD.fullmatch(value):
                raise HdbenchError(
                    "{where} {text}: the value is not usable JSON: {why}",
                    where=where,
                    text=text,
                    why=json_reason(error),
                ) from error
            options[name] = value
    return options


def beside(settings: Settings, also: Sequence[str]) -> dict[str, "Settings"]:
    """Return the settings of the command, and those that `--also` asks for.

    Returns:
        Name → settings; those of the command come first.

    Raises:
        HdbenchError: an option is unusable, or rules are asked for twice.
    """
    options = [
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in settings.options.items()
    ]
    rules = {",".join([settings.protocol, *options]): settings}
    for text in also:
        first, *values = _NEXT_OPTION.split(text)
        if "=" in first:
            base = settings
            values.insert(0, first)
        else:
            base = replace(settings, protocol=first, options={}, errata="accepted")
        combined = replace(base, options={**base.options, **read_options(values, "--also")})
        if text in rules or combined in rules.values():
            raise HdbenchError(
                "--also {text}: these rules are there already: leave it out", text=text
            )
        rules[text] = combined
    return rules
