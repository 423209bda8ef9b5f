"""Repositories to publish: each folder of a namespace folder, as a repository on the Hub."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from hdbench.about import NAMESPACE, __version__
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.card import CARD, card_yaml
from hdbench.benchmarks.building.licences import OPEN_LICENCES
from hdbench.benchmarks.markdown import MAX_FILLED
from hdbench.benchmarks.model_facts import RESULTS
from hdbench.benchmarks.spec import BenchmarkSpec, Rights
from hdbench.common.folder_files import PRIVATE, text_in
from hdbench.common.names import did_you_mean
from hdbench.common.validation import validate
from hdbench.errors import HdbenchError, Message
from hdbench.integrations.publishing.wheel import NAME as WHEEL
from hdbench.integrations.publishing.wheel import make_wheel
from hdbench.scoring.metric import PROTOCOLS

DECLARATION = "eval.yaml"
"""The file by which a dataset is a benchmark on the Hub."""

FRAMEWORK = "hdbench"
"""What the Hub's list of evaluation frameworks calls this package."""

SAMPLE = "+sample"
"""Ending of a sample's version."""

_WITH_NAMES = (".md", "benchmark.yaml")
"""The files that name repositories with their namespace."""

_STAY = ("__pycache__", *PRIVATE)
"""Folders and files that are never published."""

_FRONT_MATTER = re.compile(r"\A---\r?\n(.*?)\r?\n---\r?\n", re.DOTALL)
_REQUIREMENT = re.compile(r"^hdbench(\[[\w,]+\])?$", re.MULTILINE)


@dataclass(frozen=True)
class Repository:
    """A repository as it will be on the Hub.

    Attributes:
        id: such as `hdb/zettelkatalog`.
        kind: its type on the Hub.
        files: path in the repository → local path, or content.
        version: the version that its tag names; None for the recorded runs, which keep growing.
        licence: the license in its card.
        rights: the reason why it may be published without an open license, if recorded.
    """

    id: str
    kind: Literal["dataset", "space"]
    files: dict[str, Path | bytes]
    version: str | None
    licence: str
    rights: Rights | None = None

    @property
    def tag(self) -> str | None:
        """The tag of its version; evaluate looks for tags `vX.Y.Z` for its own versions."""
        return None if self.version is None else f"hdbench-{self.version}"

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(map(self.file_size, self.files))

    def content(self, path: str) -> bytes:
        """Return the content of a file."""
        content = self.files[path]
        return content if isinstance(content, bytes) else content.read_bytes()

    def file_size(self, path: str) -> int:
        """The size of a file in bytes."""
        content = self.files[path]
        return len(content) if isinstance(content, bytes) else content.stat().st_size


def find_repositories(
    folder: Path,
    *,
    endpoint: str,
    namespace: str | None = None,
    only: Collection[str] = (),
    as_benchmark: bool = False,
) -> list[Repository]:
    """Return the repositories in a namespace folder, checked as far as possible without the Hub.

    Datasets come first: a Space that starts needs them.

    Args:
        folder: the output folder of `hdbench build`, such as `hdb`.
        endpoint: the Hub's address, from which Spaces install their wheel.
        namespace: the name on the Hub; by default the folder's.
        only: names of repositories, with the namespace or without it; by default all.
        as_benchmark: declare each benchmark as one on the Hub: see `declaration`.

    Raises:
        HdbenchError: there is none, or none with a name in `only`; a card has no YAML or no
            licence; a dataset has no open licence and no statement of rights; there is a link
            among the files.
    """
    if not folder.is_dir():
        raise HdbenchError(
            "{place}: no such folder: build it first, with hdbench build NAME", place=folder
        )
    names = sorted(path.name for path in folder.iterdir() if (path / CARD).exists())
    only = [name.rpartition("/")[2] for name in only]
    if unknown := sorted(set(only) - set(names)):
        raise HdbenchError(
            "{place}: has no {name!r}: it has {names}{near}"
            if names
            else "{place}: has no {name!r}: it has none",
            place=folder,
            name=unknown[0],
            names=", ".join(names),
            near=did_you_mean(unknown[0], names),
        )
    owner = namespace or folder.resolve().name
    repositories = [
        _repository(folder / name, owner, names, endpoint, as_benchmark=as_benchmark)
        for name in names
        if name in only or not only
    ]
    if not repositories:
        raise HdbenchError(
            "{place}: nothing to publish: name the folder that hdbench build wrote, such as hdb",
            place=folder,
        )
    for repository in repositories:
        is_allowed = repository.licence in OPEN_LICENCES or repository.rights is not None
        if repository.kind == "dataset" and not is_allowed:
            raise HdbenchError(
                "{repository}: its licence ({licence}) is not an open one: add to the {file} who "
                "allows its publication, rights: {{stated_by: …, since: …, ground: …}}, and build "
                "it again; or leave it out with --only",
                repository=repository.id,
                licence=repository.licence,
                file=Message("YAML of its card")
                if repository.version is None
                else Message("benchmark.yaml of its recipe"),
            )
    return sorted(repositories, key=lambda repository: (repository.kind == "space", repository.id))


def _repository(
    folder: Path, owner: str, names: list[str], endpoint: str, *, as_benchmark: bool
) -> Repository:
    repository_id = f"{owner}/{folder.name}"
    files: dict[str, Path | bytes] = {
        path.relative_to(folder).as_posix(): path for path in _files(folder)
    }
    card = _card(folder / CARD)
    # The recipes' texts say hdb, whatever the name of the output folder.
    if old_owners := {NAMESPACE, folder.parent.resolve().name} - {owner}:
        owner_pattern, name_pattern = (
            "|".join(map(re.escape, sorted(words))) for words in (old_owners, names)
        )
        pattern = re.compile(rf"\b({owner_pattern})/(?=({name_pattern})\b)")
        for path in files:
            if path.endswith(_WITH_NAMES):
                text = (folder / path).read_text(encoding="utf-8")
                files[path] = pattern.sub(f"{owner}/", text).encode()
    if "sdk" in card:
        wheel = f"{endpoint}/spaces/{repository_id}/resolve/main/{WHEEL}"
        requirements = (folder / "requirements.txt").read_text(encoding="utf-8")
        files["requirements.txt"] = _REQUIREMENT.sub(rf"hdbench\1 @ {wheel}", requirements).encode()
        files[WHEEL] = make_wheel()
        return Repository(repository_id, "space", files, __version__, card["license"])
    if folder.name == RESULTS:  # which has no benchmark.yaml
        stated = card.get("rights")
        rights = validate(Rights, stated, folder / CARD) if stated is not None else None
        return Repository(repository_id, "dataset", files, None, card["license"], rights)
    spec = load_benchmark(str(folder)).spec
    if card["license"] != spec.licence:
        raise HdbenchError(
            "{place}: license: {card}, but benchmark.yaml says {recipe}: build it again",
            place=folder / CARD,
            card=card["license"],
            recipe=spec.licence,
        )
    if as_benchmark:
        files[DECLARATION] = declaration(spec).encode()
    return Repository(repository_id, "dataset", files, spec.version, spec.licence, spec.rights)


def declaration(spec: BenchmarkSpec) -> str:
    """Return what declares a dataset as a benchmark on the Hub, as YAML: a task for each protocol.

    The Hub takes it only if `FRAMEWORK` is among the frameworks that it knows; results on the pages
    of models name the tasks. See https://huggingface.co/docs/hub/eval-results.
    """
    better = "higher is better" if spec.higher_is_better else "lower is better: hand in 1 minus it"
    values = {
        "name": spec.title,
        "description": f"{spec.title}, version {spec.version}. Figure: {spec.headline} of "
        f"{spec.metric} ({better}).",
        "evaluation_framework": FRAMEWORK,
        "tasks": [{"id": name, "config": "default", "split": spec.split} for name in PROTOCOLS],
    }
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)


def _card(path: Path) -> dict[str, Any]:
    """Return the YAML of a card."""
    match = _FRONT_MATTER.match(text_in(path.parent, path.name, MAX_FILLED))
    card = card_yaml(match[1], path) if match else {}
    if not isinstance(card.get("license"), str):
        raise HdbenchError(
            "{place}: needs YAML between two lines of ---, with a license", place=path
        )
    return card


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a repository; hidden ones are the builder's own.

    Files that tell who made the ground truth, and when, are left out: the files of people, with all
    comments, and the assignments.
    """
    for path in sorted((folder, *folder.rglob("*"))):
        parts = path.relative_to(folder).parts
        if any(part.startswith(".") or part.casefold() in _STAY for part in parts):
            continue
        if path.is_symlink():
            raise HdbenchError("{place}: is a link: put the file itself there", place=path)
        if not path.is_file() and not path.is_dir():
            raise HdbenchError(
                "{place}: is a pipe or a device: take it out of the folder", place=path
            )
        if path.is_file():
            yield path
