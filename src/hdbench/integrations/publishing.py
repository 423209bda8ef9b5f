"""Publishing a namespace folder to the Hub: each folder in it as a repository."""

import base64
import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, RepoCard, get_token
from huggingface_hub.errors import RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile

from hdbench.about import FOLDERS, NAMESPACE, PACKAGE, __version__, installed_folder
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.archive import OPEN_LICENCES
from hdbench.benchmarks.building.card import CARD, card_yaml
from hdbench.benchmarks.model_facts import RESULTS
from hdbench.benchmarks.spec import BenchmarkSpec, Rights
from hdbench.common.bounds import MAX_FILLED
from hdbench.common.files import PRIVATE, text_in
from hdbench.common.hub import one_line_errors
from hdbench.common.progress import progress
from hdbench.common.texts import LANGUAGES, catalogue
from hdbench.common.validation import validate
from hdbench.errors import HdbenchError, Message, did_you_mean, joined
from hdbench.scoring.metric import PROTOCOLS

# The wheel of hdbench that goes into each Space: made from what is installed here
#
# A build would need the source folder. The package is pure Python, so that its wheel fits the
# Python and the system that Spaces run on, whichever are used here.

WHEEL = f"hdbench-{__version__}-py3-none-any.whl"

_DIST_INFO = f"hdbench-{__version__}.dist-info"
_ABOUT = ("METADATA", "entry_points.txt", "licenses/LICENSE")
_WHEEL_FILE = "Wheel-Version: 1.0\nGenerator: hdbench\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_THE_SAME_EVERY_TIME = (1980, 1, 1, 0, 0, 0)


def make_wheel() -> bytes:
    """Return the installed hdbench as a wheel: the same bytes each time.

    Its form follows the binary distribution format, PEP 427.
    """
    files = dict(sorted(_package().items()))
    about = distribution("hdbench")
    for name in _ABOUT:
        files[f"{_DIST_INFO}/{name}"] = (about.read_text(name) or "").encode()
    files[f"{_DIST_INFO}/WHEEL"] = _WHEEL_FILE.encode()
    files[f"{_DIST_INFO}/RECORD"] = _record(files)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as wheel:
        for name, content in files.items():
            member = zipfile.ZipInfo(name, _THE_SAME_EVERY_TIME)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            wheel.writestr(member, content)
    return data.getvalue()


def _package() -> dict[str, bytes]:
    """Return the package's files, with the folders that lie beside it in a checkout."""
    package = PACKAGE
    for language in LANGUAGES:
        catalogue(language)  # which compiles it where that was not done yet
    files = {
        f"hdbench/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in _package_files(package)
    }
    for name in FOLDERS:
        folder = installed_folder(name)
        for path in _package_files(folder):
            relative = path.relative_to(folder).as_posix()
            files[f"hdbench/{name}/{relative}"] = path.read_bytes()
    return files


def _package_files(folder: Path) -> list[Path]:
    left_out = (".pyc", ".so", ".pyd", ".po")
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix not in left_out]


def _record(files: dict[str, bytes]) -> bytes:
    """Return the list of all files with their hashes, as the format requires."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        writer.writerow([name, f"sha256={digest}", len(content)])
    writer.writerow([f"{_DIST_INFO}/RECORD", "", ""])
    return lines.getvalue().encode()


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


# Sending repositories to the Hub: one commit each, with its tag

AGAIN = Message("what was published before that stays; the same command resumes where it stopped")
_OF_THE_HUB = {".gitattributes", DECLARATION}
"""Files that are never removed from the Hub."""


@dataclass(frozen=True)
class Published:
    """The outcome for a repository.

    Attributes:
        repository: the repository's id.
        url: where it is.
        created: whether it did not exist before.
        changed: files that were sent.
        removed: files that were removed.
        tagged: whether its tag is new.
    """

    repository: Repository
    url: str
    created: bool
    changed: int
    removed: int
    tagged: bool

    def line(self) -> Message:
        """Return a line for the user."""
        if not (self.created or self.changed or self.removed or self.tagged):
            return Message("{url}: unchanged", url=self.url)
        parts = [Message("created")] if self.created else []
        parts.append(Message("files sent: {count}", count=self.changed))
        if self.removed:
            parts.append(Message("removed: {count}", count=self.removed))
        if self.tagged:
            parts.append(Message("tagged {tag}", tag=self.repository.tag))
        return Message("{url}: {parts}", url=self.url, parts=joined(parts))


class _HubState(NamedTuple):
    """The state of a repository on the Hub: the commit of main, its files by path, and its tags."""

    head: str
    files: dict[str, RepoFile]
    tags: list[str]


def publish(repositories: Sequence[Repository], *, private: bool = False) -> Iterator[Published]:
    """Send what differs; nothing is sent before all that can be checked has been checked.

    `token_namespaces`, which is called first, checks whether the token may write. A repository
    gets one commit, so whenever this ends, it has either the old or the new content. Runs that
    others proposed and that were merged are kept.

    Args:
        repositories: see `find_repositories`.
        private: create new ones as private.

    Yields:
        The outcome for each, as it is done.

    Raises:
        HdbenchError: a card is refused; a version is already published with other files; a sample
            would replace the whole dataset; or the Hub fails.
    """
    hub = HfApi()
    remotes = []
    for repository in progress(repositories, Message("Checking")):
        with one_line_errors(repository.id, AGAIN):
            card = RepoCard(repository.content(CARD).decode(), ignore_metadata_errors=False)
            card.validate(repo_type=repository.kind)
            remote = _remote(hub, repository)
            _check_version(hub, repository, remote)
        remotes.append(remote)
    for repository, remote in zip(
        progress(repositories, Message("Publishing")), remotes, strict=True
    ):
        with one_line_errors(repository.id, AGAIN):
            yield _send(hub, repository, remote, private)


def token_namespaces() -> list[str]:
    """Return the namespaces of the token's owner: the user's, and those of their organizations.

    Raises:
        HdbenchError: there is no token, it has expired, or it may not write.
    """
    hub = HfApi()
    if not (hub.token or get_token()):
        raise HdbenchError("no Hub token: log in with hf auth login, or set HF_TOKEN")
    with one_line_errors(Message("the Hub"), Message("nothing was sent")):
        account = hub.whoami()
    if account.get("auth", {}).get("accessToken", {}).get("role") == "read":
        raise HdbenchError("the Hub token may only read: make one with write access")
    return [account["name"], *(organization["name"] for organization in account.get("orgs", ()))]


def _remote(hub: HfApi, repository: Repository) -> _HubState | None:
    repo_args: dict[str, Any] = {"repo_id": repository.id, "repo_type": repository.kind}
    try:
        head = hub.repo_info(**repo_args).sha or ""
    except RepositoryNotFoundError:
        return None
    tags = [tag.name for tag in hub.list_repo_refs(**repo_args).tags]
    return _HubState(head, _remote_files(hub, repository, None), tags)


def _remote_files(hub: HfApi, repository: Repository, revision: str | None) -> dict[str, RepoFile]:
    entries = hub.list_repo_tree(
        repository.id, repo_type=repository.kind, revision=revision, recursive=True
    )
    return {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}


def _check_version(hub: HfApi, repository: Repository, remote: _HubState | None) -> None:
    """Refuse other content under an existing tag: a tagged version must not change.

    The declaration as a benchmark may be added later: no figure depends on it.
    """
    if remote is None or repository.tag is None:
        return
    full = [tag for tag in remote.tags if tag.startswith("hdbench-") and not tag.endswith(SAMPLE)]
    if repository.tag.endswith(SAMPLE) and full:
        raise HdbenchError(
            "{repository}: this is the sample, but {tag} is published as a whole: build that first",
            repository=repository.id,
            tag=full[-1],
        )
    if repository.tag in remote.tags:
        changed, removed = _differences(repository, _remote_files(hub, repository, repository.tag))
        if differing := [path for path in (*changed, *removed) if path != DECLARATION]:
            raise HdbenchError(
                "{repository}: {tag} is already published with another {file}: raise the version, "
                "so that nobody's figures change under the same name",
                repository=repository.id,
                tag=repository.tag,
                file=differing[0],
            )


def _send(hub: HfApi, repository: Repository, remote: _HubState | None, private: bool) -> Published:
    repo_args: dict[str, Any] = {"repo_id": repository.id, "repo_type": repository.kind}
    if remote is None:
        sdk = "gradio" if repository.kind == "space" else None
        hub.create_repo(**repo_args, private=private, space_sdk=sdk, exist_ok=True)
    present = _remote(hub, repository) if remote is None else remote
    if present is None:
        raise HdbenchError(
            "{repository}: was created, but is not there: {advice}",
            repository=repository.id,
            advice=AGAIN,
        )
    changed, removed = _differences(repository, present.files)
    if repository.version is None:
        removed = []
    head = present.head
    if changed or removed:
        head = hub.create_commit(
            **repo_args,
            operations=[
                *(CommitOperationAdd(path, repository.files[path]) for path in changed),
                *(CommitOperationDelete(path) for path in removed),
            ],
            commit_message=repository.tag or "hdbench publish",
            parent_commit=head or None,
        ).oid
    tagged = repository.tag is not None and repository.tag not in present.tags
    if repository.tag is not None and tagged:
        hub.create_tag(**repo_args, tag=repository.tag, revision=head)
    url = f"{hub.endpoint}/{repository.kind}s/{repository.id}"
    return Published(repository, url, remote is None, len(changed), len(removed), tagged)


def _differences(repository: Repository, files: dict[str, RepoFile]) -> tuple[list[str], list[str]]:
    """Return paths that are missing or different on the Hub, and paths to remove there."""
    changed = [
        path
        for path in repository.files
        if path not in files or not _is_same(repository.content(path), files[path])
    ]
    removed = sorted(set(files) - set(repository.files) - _OF_THE_HUB)
    return changed, removed


def _is_same(data: bytes, file: RepoFile) -> bool:
    if file.lfs is not None:
        return hashlib.sha256(data).hexdigest() == file.lfs.sha256
    git = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)  # as git names it
    return git.hexdigest() == file.blob_id
