"""The storage between a run and its ranks, where these share no file system with it."""

import io
import json
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

import fsspec
from pydantic import ValidationError

from hdbench.answers.parts import LAUNCH
from hdbench.common.jsonio import write_json
from hdbench.errors import HdbenchError
from hdbench.running.answers_file import AnswersFile, whole_lines
from hdbench.running.backend import InShard, read_questions
from hdbench.running.image_shards.sources import one_line_errors
from hdbench.running.shards.launch import Launch, RankState, Shards

ITEMS = "items.jsonl"
MAX_STATE = 2**20
MAX_ANSWERS = 2**30
"""Maximum bytes that are fetched of what a rank says, and of its answers."""


_NOT_WRITTEN = "{place}: cannot be written: {why}"


class Remote:
    """The folder of a launch in a storage; both sides copy whole files into it and out of it.

    Args:
        storage: a URL that fsspec reads and writes.
        launch: the id of the launch.

    Attributes:
        url: the folder's.

    Raises:
        HdbenchError: the package for such URLs is not installed.
    """

    def __init__(self, storage: str, launch: str) -> None:
        self.url = f"{storage.rstrip('/')}/hdbench-{launch}"
        with one_line_errors(storage):
            self._files, self._path = fsspec.url_to_fs(self.url)

    def give(self, shards: Shards, files: Mapping[str, bytes]) -> None:
        """Copy in what the ranks need: for each, one tar file of its questions and their files.

        Args:
            shards: those of the run.
            files: name → what is in a further file for all ranks.

        Raises:
            HdbenchError: it cannot be written.
        """
        with one_line_errors(self.url, _NOT_WRITTEN):
            for name, data in files.items():
                self._files.pipe_file(self._at(name), data)
            for rank in shards.ranks:
                with (
                    self._files.open(self._at(f"{rank:05d}.tar"), "wb") as file,
                    # Files of a dataset in the Hub's cache are links.
                    tarfile.open(fileobj=file, mode="w|", dereference=True) as tar,
                ):
                    _pack(tar, shards.items(rank))
            launch = shards.launch.model_dump_json().encode()
            self._files.pipe_file(self._at(LAUNCH), launch)

    def take(self, rank: int, run: Path) -> Shards:
        """Copy out what a rank needs, with the answers that an earlier process of it kept.

        Args:
            rank: its number.
            run: an empty folder, which becomes the run's folder for this rank alone.

        Raises:
            HdbenchError: the launch is over, or it cannot be read.
        """
        with one_line_errors(self.url):
            launch = Launch.model_validate_json(self._files.cat_file(self._at(LAUNCH)))
            shards = Shards(run, launch)
            shards.path.mkdir()
            packed, given = run / "given.tar", run / "given"
            self._files.get_file(self._at(f"{rank:05d}.tar"), str(packed))
            with tarfile.open(packed) as tar:
                tar.extractall(given, filter="data")
            packed.unlink()
            kept = shards.answers(rank)
            if self._files.isfile(self._at(kept.name)):
                self._files.get_file(self._at(kept.name), str(kept))
        _unpack(given, shards.items(rank))
        write_json(shards.path / LAUNCH, launch.model_dump())
        return shards

    def keep(self, shards: Shards, rank: int) -> None:
        """Copy in what a rank has answered so far, and then what it says about itself.

        In this order, what it says never counts answers that are not there.

        Raises:
            HdbenchError: it cannot be written.
        """
        said, kept = shards.state(rank), shards.answers(rank)
        state = said.read_bytes() if said.exists() else None
        with one_line_errors(self.url, _NOT_WRITTEN):
            if kept.exists():
                self._files.pipe_file(self._at(kept.name), kept.read_bytes())
            if state is not None:
                self._files.pipe_file(self._at(said.name), state)

    def fetch(self, shards: Shards, *, last: bool = False) -> None:
        """Copy out what the ranks say and have answered, into the run's own shards.

        Whatever was fetched before stays: only whole answers to other items are added, so that a
        copy that was cut off takes nothing away.

        Args:
            shards: those of the run.
            last: look at all answers, also of ranks that have said nothing new: one may have been
                killed between the two.

        Raises:
            HdbenchError: it cannot be read, or is damaged or too large.
        """
        with one_line_errors(self.url), tempfile.TemporaryDirectory() as folder:
            sizes = self._sizes()
            for rank in shards.ranks:
                before = shards.said(rank)
                if not last and before is not None and before.state == "done":
                    continue
                name = shards.state(rank).name
                state = _state(self._copied(name, sizes, MAX_STATE, Path(folder)))
                if not last and (state is None or state == before):
                    continue
                name = shards.answers(rank).name
                kept = self._copied(name, sizes, MAX_ANSWERS, Path(folder))
                if kept is not None:
                    self._add(kept, AnswersFile(shards.answers(rank)))
                if state is not None:
                    shards.say(rank, state)

    def remove(self) -> None:
        """Remove the folder.

        Raises:
            HdbenchError: it cannot be removed.
        """
        with one_line_errors(self.url, "{place}: cannot be removed: {why}"):
            self._files.invalidate_cache()
            if self._files.exists(self._path):
                self._files.rm(self._path, recursive=True)

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"

    def _sizes(self) -> dict[str, int]:
        """Return the files and their sizes, in one request: a Hub counts them."""
        self._files.invalidate_cache()
        try:
            listed = self._files.ls(self._path, detail=True)
        except FileNotFoundError:
            return {}
        return {each["name"].rpartition("/")[2]: each["size"] or 0 for each in listed}

    def _copied(self, name: str, sizes: dict[str, int], most: int, folder: Path) -> Path | None:
        """Return a copy of a file here; None if there is no such file."""
        if name not in sizes:
            return None
        if sizes[name] > most:
            raise HdbenchError(
                "{place}: larger than {most} MiB", place=f"{self.url}/{name}", most=most >> 20
            )
        self._files.get_file(self._at(name), str(folder / name))
        return folder / name

    def _add(self, kept: Path, answers: AnswersFile) -> None:
        try:
            new = {
                answer["id"]: (line, answer)
                for _, line, answer in whole_lines(kept)
                if answer["id"] not in answers.failed
            }
        except HdbenchError as error:
            theirs = f"{self.url}/{kept.name}"
            said = error.message.changed(lambda text: text.replace(str(kept), theirs))
            raise HdbenchError(said) from error
        answers.append(list(new.values()))


def _pack(tar: tarfile.TarFile, items: Path) -> None:
    """Add the files of some questions, and the questions with the names that these have there."""
    lines = []
    for number, question in enumerate(read_questions(items)):
        written = question.to_json()
        for place, file in enumerate(question.media):
            if isinstance(file, InShard):
                continue
            name = f"media/{number}/{place}/{file.name}"
            written["media"][place] = name
            if file.is_file():  # otherwise the item fails alone, as in any run
                tar.add(file, name)
        lines.append(json.dumps(written).encode() + b"\n")
    about = tarfile.TarInfo(ITEMS)
    about.size = sum(map(len, lines))
    tar.addfile(about, io.BytesIO(b"".join(lines)))


def _unpack(given: Path, items: Path) -> None:
    """Write the questions of a rank with the paths of their files here."""
    with items.open("wb") as file:
        for question in read_questions(given / ITEMS):
            media = [each if isinstance(each, InShard) else given / each for each in question.media]
            file.write(question._replace(media=media).line())


def _state(said: Path | None) -> RankState | None:
    try:
        return None if said is None else RankState.model_validate_json(said.read_bytes())
    except ValidationError:  # cut off: it is said again
        return None
