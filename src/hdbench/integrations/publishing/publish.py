"""Sending repositories to the Hub: one commit each, with its tag."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, RepoCard, get_token
from huggingface_hub.errors import RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile

from hdbench.benchmarks.building.card import CARD
from hdbench.common.hub import one_line_errors
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError, Message, joined
from hdbench.integrations.publishing.repositories import DECLARATION, SAMPLE, Repository

AGAIN = Message("what was published before that stays; the same command resumes where it stopped")
_STAY = {".gitattributes", DECLARATION}
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
    return _HubState(head, _files(hub, repository, None), tags)


def _files(hub: HfApi, repository: Repository, revision: str | None) -> dict[str, RepoFile]:
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
        changed, removed = _differences(repository, _files(hub, repository, repository.tag))
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
    removed = sorted(set(files) - set(repository.files) - _STAY)
    return changed, removed


def _is_same(data: bytes, file: RepoFile) -> bool:
    if file.lfs is not None:
        return hashlib.sha256(data).hexdigest() == file.lfs.sha256
    git = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)  # as git names it
    return git.hexdigest() == file.blob_id
