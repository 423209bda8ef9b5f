"""Where the benchmark is that somebody names: `zettelkatalog` is `hdb/zettelkatalog`."""

import re
from pathlib import Path

from hdbench.about import NAMESPACE, installed_folder
from hdbench.common.names import bare, nearest
from hdbench.errors import Message

DESCRIPTION = "benchmark.yaml"

_BARE = re.compile(r"\w[\w.-]*", re.ASCII)
_NAME = re.compile(r"(\w[\w-]*/)?\w[\w-]*", re.ASCII)


def recipe_names() -> list[str]:
    """Return the benchmarks that this hdbench can build."""
    own = installed_folder("dataset_scripts")
    return sorted(folder.name for folder in own.iterdir() if (folder / DESCRIPTION).is_file())


def is_name(text: str) -> bool:
    """Return whether a text looks like a benchmark's name, rather than like a file's.

    Example:
        >>> is_name("hdb/avisblatt"), is_name("answers.jsonl"), is_name("runs/2026/one")
        (True, False, False)
    """
    return _NAME.fullmatch(text) is not None


def full_name(name: str, *, on_the_hub: bool = False) -> str:
    """Return a benchmark's name with the namespace; a path stays as it is.

    Args:
        name: a name with the namespace or without it, or a path.
        on_the_hub: folders do not count.
    """
    if not _BARE.fullmatch(name):
        return name
    here = Path(name)
    is_path = (here / DESCRIPTION).is_file() or (
        here.is_dir() and not Path(NAMESPACE, name, DESCRIPTION).is_file()
    )
    return name if is_path and not on_the_hub else f"{NAMESPACE}/{name}"


def what_to_do(name: str) -> Message:
    """Return what to do about a benchmark that is not here: build it, or correct its name."""
    short, recipes = Path(name).name, recipe_names()
    built = [path.parent.name for path in Path(NAMESPACE).glob(f"*/{DESCRIPTION}")]
    if short not in recipes and bare(name) == short:
        near = nearest(short, [*recipes, *built])
        if near:
            return Message("did you mean {near}?", near=f"{NAMESPACE}/{near}")
    return Message("build it with: hdbench build {name}", name=short)
