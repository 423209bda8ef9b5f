"""The source of a local model, pinned: a commit on the Hub, or a folder and its hash."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from hdbench.common.files import file_sha256, read_errors
from hdbench.errors import HdbenchError, escaped

_LOADED = (".safetensors", ".json", ".jinja", ".txt", ".model", ".py")
"""Suffixes of the files loaded from a folder."""

_NOT_LOADED = ["*/*", "consolidated*"]
"""Files not downloaded from a repository: those in folders, and second copies of the weights."""

_LONGEST_ERROR = 500


@dataclass(frozen=True)
class ModelSource:
    """A model's files.

    Attributes:
        name: as it is recorded; for a folder only its name, as its path says nothing of the model.
        folder: where they are.
        revision: the commit, for a model on the Hub.
        sha256: hash of the files, if they are in a folder.
    """

    name: str
    folder: Path
    revision: str | None
    sha256: str | None


def model_name(model: str) -> str:
    """Return a model's name as it is recorded: for a folder, only its name."""
    folder = Path(model)
    return folder.resolve().name if folder.is_dir() else model


def find_model(model: str, revision: str | None) -> ModelSource:
    """Return a model in a folder or on the Hub; one on the Hub is downloaded.

    Args:
        model: the folder's path, or the model's name on the Hub.
        revision: a branch, tag or commit on the Hub; `main`, if not given; a folder has none.

    Raises:
        HdbenchError: there is no such model, or it has no safetensors.
    """
    is_folder = Path(model).is_dir()
    folder = Path(model) if is_folder else _download(model, revision)
    if not any(folder.glob("*.safetensors")):
        raise HdbenchError(
            "{place}: has no *.safetensors; weights in other formats can run code and are not "
            "loaded: convert them with save_pretrained",
            place=model,
        )
    if is_folder:
        return ModelSource(model_name(model), folder, None, _sha256(folder))
    return ModelSource(model, folder, folder.name, None)  # the cache names it by its commit


def one_line(error: Exception) -> str:
    """Return the message of a library's error in one line."""
    text = escaped(" ".join(str(error).split())) or type(error).__name__
    return text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]}…"


def _download(model: str, revision: str | None) -> Path:
    """Return the folder in the cache; without a network, the one that is already there."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415  slow to import

    try:
        folder = snapshot_download(
            model,
            revision=revision,
            allow_patterns=[f"*{suffix}" for suffix in _LOADED],
            ignore_patterns=_NOT_LOADED,
        )
    except Exception as error:  # no such name, model or revision, no access, no connection, …
        raise HdbenchError(
            "{place}: cannot be read from the Hub: {why}", place=model, why=one_line(error)
        ) from error
    return Path(folder)


def _sha256(folder: Path) -> str:
    """Return a hash of all files that are loaded; it takes as long as reading the weights.

    A sample of the weights would miss layers that were trained further.
    """
    paths = sorted(p for p in folder.iterdir() if p.suffix in _LOADED and p.is_file())
    with read_errors(folder), ThreadPoolExecutor(4) as pool:
        digests = list(pool.map(file_sha256, paths))
    lines = [f"{digest}  {path.name}\n" for digest, path in zip(digests, paths, strict=True)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
