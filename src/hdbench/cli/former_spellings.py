"""How commands were spelt until version 0.2: until 0.5, a note says how they are spelt now."""

import shlex
from collections.abc import Sequence

from hdbench.cli.terminal import say

_OWN_COMMANDS = {
    "--assign": "assign",
    "--hand-over": "hand-over",
    "--merge": "merge",
    "--review": "review",
}
"""Option of `annotate` → the command that it has become."""

_BENCHMARK_OPTIONS = {"run": "--as"} | dict.fromkeys(
    ("score", "report", "compare", "leaderboard", "audit", "verify", "forecast", "trust"),
    "--benchmark",
)
"""Command → the option that named the benchmark, which is the first argument now."""


def in_current_spelling(arguments: Sequence[str]) -> list[str]:
    """Return a command's arguments as they are spelt now, and say so if they were not.

    Args:
        arguments: the arguments of `hdbench`, of which the first is the command.

    Example:
        >>> in_current_spelling(["score", "zettelkatalog", "answers.jsonl"])
        ['score', 'zettelkatalog', 'answers.jsonl']
    """
    now = _respelt(list(arguments))
    if now != list(arguments):
        say(
            "note: this spelling will be gone in hdbench 0.5; it is now: hdbench {command}",
            command=shlex.join(now),
            err=True,
        )
    return now


def _respelt(arguments: list[str]) -> list[str]:
    if arguments[:2] == ["errata", "review"]:
        return ["errata", "from-review", *arguments[2:]]
    if arguments[:1] == ["annotate"]:
        for option, command in _OWN_COMMANDS.items():
            value, others = _taken_out(option, arguments[1:])
            if value is not None:
                people = value.split(",") if command == "assign" else [value]
                return [command, *others, *(name.strip() for name in people)]
    if arguments[:2] == ["trust", "plan"]:
        for option in ("-n", "--number"):
            number, others = _taken_out(option, arguments[2:])
            if number is not None:
                return _respelt(["trust", "plan", *others, "--items", number])
    former = _BENCHMARK_OPTIONS.get(arguments[0]) if arguments else None
    if former is not None:
        length = 2 if arguments[0] == "trust" else 1
        benchmark, others = _taken_out(former, arguments[length:])
        if benchmark is not None:
            return [*arguments[:length], benchmark, *others]
    return arguments


def _taken_out(option: str, arguments: list[str]) -> tuple[str | None, list[str]]:
    """Return an option's value, and the other arguments."""
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name != option:
            continue
        if equals:
            return value, arguments[:place] + arguments[place + 1 :]
        if place + 1 < len(arguments):
            return arguments[place + 1], arguments[:place] + arguments[place + 2 :]
    return None, arguments
