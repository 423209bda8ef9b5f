"""Names of runs: those of their models, and of their files where these do not tell them apart."""

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hdbench.answers.forms import ENDINGS


def run_name(path: Path) -> str:
    """Return the name of a run: that of its file or folder, without the extensions of its form.

    Only known extensions are removed, as the names of many models have dots.

    Args:
        path: a file or folder of answers, or a result. A symbolic link is not followed, because
            the Hub's cache keeps files under their hashes.

    Example:
        >>> run_name(Path("runs/gpt-4.1.jsonl.gz")), run_name(Path("runs/gpt-4.1"))
        ('gpt-4.1', 'gpt-4.1')
    """
    name = Path(os.path.abspath(path)).name  # `.` and `..` have the names of their folders
    while ending := next((candidate for candidate in ENDINGS if _has(name, candidate)), ""):
        name = name[: -len(ending)]
    return name


class Named(NamedTuple):
    """A run that has a name, which others may have too.

    Attributes:
        name: its model, or else its file.
        own: what the run or else its file is called; None if that is the name already.
        path: where it is.
    """

    name: str
    own: str | None
    path: Path


def distinct_names(runs: Sequence[Named]) -> list[str]:
    """Return the names of runs that are shown together.

    Of one model's runs, each is followed by its own name; where several have the same, by as much
    of its path as tells them apart. Two names are the same only if the paths are.

    Args:
        runs: the runs.

    Example:
        >>> def run(model: str | None, file: str) -> Named:
        ...     path = Path(file)
        ...     return Named(model or run_name(path), run_name(path) if model else None, path)
        >>> distinct_names([run("gpt", "a.jsonl"), run("gpt", "b.jsonl"), run(None, "c.jsonl")])
        ['gpt (a)', 'gpt (b)', 'c']
        >>> distinct_names([run("gpt", "a/answers.jsonl"), run("gpt", "b/answers.jsonl")])
        ['gpt (a/answers)', 'gpt (b/answers)']
        >>> distinct_names([run(None, "a/answers.jsonl"), run(None, "b/answers.jsonl")])
        ['a/answers', 'b/answers']
    """
    alike: dict[str, dict[str | None, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        alike[run.name][run.own].append(run.path)
    names = []
    for name, own, path in runs:
        if len(alike[name]) == len(alike[name][own]) == 1:
            names.append(name)
            continue
        paths = alike[name][own]
        shown = own if len(paths) == 1 else _apart(path, paths)
        names.append(name if shown is None else shown if own is None else f"{name} ({shown})")
    return names


def _apart(path: Path, paths: Sequence[Path]) -> str:
    """Return the end of a path that others do not have, without the extensions of its form."""
    all_parts = [(*other.parent.parts, run_name(other)) for other in paths]
    parts = (*path.parent.parts, run_name(path))
    lengths = range(1, len(parts) + 1)
    alone = (n for n in lengths if sum(other[-n:] == parts[-n:] for other in all_parts) == 1)
    return "/".join(parts[-next(alone, 1) :])


def _has(name: str, ending: str) -> bool:
    return len(name) > len(ending) and name.lower().endswith(ending)
