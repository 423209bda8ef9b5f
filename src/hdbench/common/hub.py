"""The Hugging Face Hub: what is fetched from it, and what its errors mean."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hdbench.errors import HdbenchError, Message, escaped

_LONGEST = 300
_STATUSES = {
    401: Message(
        "the token is not valid, or has expired: log in again with hf auth login, or set HF_TOKEN"
    ),
    403: Message("the token may not do that: it needs write access to this repository"),
    404: Message("there is no such repository, revision or file, or the token may not see it"),
    409: Message("somebody else changed it at the same time"),
    429: Message("too many requests: wait a few minutes"),
}
DESCRIPTION = ("*.md", "*.yaml", "*.json", "*.txt", "metadata.jsonl", "LICENSE*")
"""Files that describe a benchmark: everything that scoring needs, and no media."""


@contextmanager
def one_line_errors(name: str, advice: str) -> Iterator[None]:
    """Turn errors of the Hub's client into one line that a person can act on.

    No such line contains a token.

    Args:
        name: what the line names first: the repository.
        advice: what to do; its translations are in this package's `messages/`.
    """
    from httpx2 import HTTPError  # noqa: PLC0415  slow to import
    from huggingface_hub.errors import (  # noqa: PLC0415
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    advice = Message(advice)
    try:
        yield
    except (HTTPError, OSError, ValueError, RuntimeError) as error:
        why: str = _cut(str(error) or type(error).__name__)
        if isinstance(error, RepositoryNotFoundError):  # its status is 401 if there is no token
            why = _STATUSES[404]
        elif isinstance(error, HfHubHTTPError):
            status = error.response.status_code
            answer = _cut(f"{status} {error.server_message or ''}")
            why = _STATUSES.get(status) or Message("the Hub answered {said}", said=answer)
        elif isinstance(error, LocalEntryNotFoundError):
            why = Message("cannot be fetched, and was not fetched before")
        raise HdbenchError("{what}: {why}; {advice}", what=name, why=why, advice=advice) from error


def fetch_dataset(repository: str, *, revision: str | None = None, media: bool = False) -> Path:
    """Return the folder of a dataset on the Hub, fetched into the client's cache.

    Without a network, what is already in the cache is used.

    Args:
        repository: its id, such as `hdb/zettelkatalog`.
        revision: a tag, branch or commit; `main` if not given.
        media: also fetch everything that does not describe it.

    Returns:
        The folder, named after the commit; its files are links into the cache.

    Raises:
        HdbenchError: it cannot be fetched, and is not in the cache.
    """
    from huggingface_hub import snapshot_download  # noqa: PLC0415  slow to import

    source = repository
    if revision:
        source = Message(
            "{repository}, revision {revision}", repository=repository, revision=revision
        )
    with one_line_errors(source, "check its name and the connection"):
        return Path(
            snapshot_download(
                repository,
                repo_type="dataset",
                revision=revision,
                allow_patterns=None if media else list(DESCRIPTION),
            )
        )


def _cut(text: str) -> str:
    line = escaped(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
