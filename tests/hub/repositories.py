"""What a Hub holds, in memory: repositories, their commits, branches and tags."""

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

TIME = "2026-01-24T12:00:00.000Z"


class File(NamedTuple):
    """A file of a commit."""

    data: bytes
    lfs: bool = False

    @property
    def sha256(self):
        return hashlib.sha256(self.data).hexdigest()

    @property
    def pointer(self):
        """What git has of a file in LFS."""
        oid, size = self.sha256, len(self.data)
        return (
            f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n".encode()
        )

    @property
    def blob(self):
        """Its id in git."""
        content = self.pointer if self.lfs else self.data
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

    @property
    def etag(self):
        return self.sha256 if self.lfs else self.blob

    def about(self):
        """What the Hub's listings say of it."""
        linked = {"oid": self.sha256, "size": len(self.data), "pointerSize": len(self.pointer)}
        about = {"oid": self.blob, "size": len(self.data)}
        return about | {"lfs": linked} if self.lfs else about


class Commit(NamedTuple):
    """A commit: all files, by path."""

    files: dict[str, File]
    title: str
    description: str
    author: str
    parent: str | None

    @property
    def oid(self):
        files = sorted((path, file.blob) for path, file in self.files.items())
        return hashlib.sha1(repr((files, *self[1:])).encode()).hexdigest()


@dataclass
class Repository:
    """A repository of a kind, as `datasets`, with a first commit as on the Hub."""

    kind: str
    id: str
    author: str
    private: bool = False
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        attributes = File(b"*.parquet filter=lfs diff=lfs merge=lfs -text\n")
        self.add(Commit({".gitattributes": attributes}, "initial commit", "", self.author, None))

    def add(self, commit, ref="main"):
        """Put a commit at the end of a branch; its id."""
        self.commits[commit.oid] = commit
        self.branches[ref] = commit.oid
        return commit.oid

    def oid(self, revision):
        """The commit of a branch, a tag, or a whole or shortened id; None where there is none."""
        named = self.branches.get(revision) or self.tags.get(revision)
        known = (oid for oid in self.commits if len(revision) >= 7 and oid.startswith(revision))
        return named or next(known, None)

    def files(self, revision="main"):
        """Path → content, but for .gitattributes."""
        files = self.commits[self.oid(revision)].files
        return {path: file.data for path, file in files.items() if path != ".gitattributes"}

    def log(self, revision):
        """The ids of a commit and those before it, the newest first."""
        oid = self.oid(revision)
        while oid:
            yield oid
            oid = self.commits[oid].parent

    def about(self, revision, *, blobs=False):
        """What the Hub says of the repository at a revision."""
        commit = self.commits[self.oid(revision)]
        return {
            "id": self.id,
            "author": self.id.split("/")[0],
            "sha": commit.oid,
            "private": self.private,
            "gated": False,
            "disabled": False,
            "downloads": 0,
            "likes": 0,
            "tags": [],
            "createdAt": TIME,
            "lastModified": TIME,
            "siblings": [
                {"rfilename": path} | (_with_blob_id(file.about()) if blobs else {})
                for path, file in sorted(commit.files.items())
            ],
        }


def _with_blob_id(about):
    linked = about.get("lfs")
    return {"blobId": about["oid"], "size": about["size"]} | (
        {"lfs": linked | {"sha256": linked["oid"]}} if linked else {}
    )


def is_text(data):
    """Whether the Hub would keep it in git, by its content."""
    with suppress(UnicodeDecodeError):
        # A sample may end within a character.
        text = data[:512].decode(errors="strict" if len(data) < 512 else "ignore")
        return "\0" not in text and len(text.encode()) >= len(data[:512]) - 3
    return False
