"""The storage between a run and its ranks, where they share no file system."""

import io
import json
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

import fsspec
from pydantic import ValidationError

from hdbench.answers.folders import LAUNCH
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
        """Copy in what the ranks need: a tar file per rank, with its questions and their files.

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
            packed, contents = run / "given.tar", run / "given"
            self._files.get_file(self._at(f"{rank:05d}.tar"), str(packed))
            with tarfile.open(packed) as tar:
                tar.extractall(contents, filter="data")
            packed.unlink()
            answers = shards.answers(rank)
            if self._files.isfile(self._at(answers.name)):
                self._files.get_file(self._at(answers.name), str(answers))
        _unpack(contents, shards.items(rank))
        write_json(shards.path / LAUNCH, launch.model_dump())
        return shards

    def keep(self, shards: Shards, rank: int) -> None:
        """Copy in a rank's answers so far, and then its report.

        In this order, the report never counts answers that are not there.

        Raises:
            HdbenchError: it cannot be written.
        """
        state_file, answers_file = shards.state(rank), shards.answers(rank)
        state = state_file.read_bytes() if state_file.exists() else None
        with one_line_errors(self.url, _NOT_WRITTEN):
            if answers_file.exists():
                self._files.pipe_file(self._at(answers_file.name), answers_file.read_bytes())
            if state is not None:
                self._files.pipe_file(self._at(state_file.name), state)

    def fetch(self, shards: Shards, *, last: bool = False) -> None:
        """Copy the ranks' reports and answers into the run's own shards.

        Whatever was fetched before stays: only whole answers to other items are added, so that a
        copy that was cut off takes nothing away.

        Args:
            shards: those of the run.
            last: fetch all answers, even of ranks without a new report: one may have been killed
                between the two.

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
                fetched = self._copied(name, sizes, MAX_ANSWERS, Path(folder))
                if fetched is not None:
                    self._add(fetched, AnswersFile(shards.answers(rank)))
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
        return {entry["name"].rpartition("/")[2]: entry["size"] or 0 for entry in listed}

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

    def _add(self, fetched: Path, answers: AnswersFile) -> None:
        try:
            new = {
                answer["id"]: (line, answer)
                for _, line, answer in whole_lines(fetched)
                if answer["id"] not in answers.failed
            }
        except HdbenchError as error:
            theirs = f"{self.url}/{fetched.name}"
            message = error.message.changed(lambda text: text.replace(str(fetched), theirs))
            raise HdbenchError(message) from error
        answers.append(list(new.values()))


def _pack(tar: tarfile.TarFile, items: Path) -> None:
    """Add the files of some questions, and the questions with the names of the files in the tar."""
    lines = []
    for number, question in enumerate(read_questions(items)):
        record = question.to_json()
        for position, file in enumerate(question.media):
            if isinstance(file, InShard):
                continue
            name = f"media/{number}/{position}/{file.name}"
            record["media"][position] = name
            if file.is_file():  # otherwise the item fails alone, as in any run
                tar.add(file, name)
        lines.append(json.dumps(record).encode() + b"\n")
    about = tarfile.TarInfo(ITEMS)
    about.size = sum(map(len, lines))
    tar.addfile(about, io.BytesIO(b"".join(lines)))


def _unpack(folder: Path, items: Path) -> None:
    """Write the questions of a rank with the paths of their unpacked files."""
    with items.open("wb") as file:
        for question in read_questions(folder / ITEMS):
            media = [
                path if isinstance(path, InShard) else folder / path for path in question.media
            ]
            file.write(question._replace(media=media).line())


def _state(path: Path | None) -> RankState | None:
    try:
        return None if path is None else RankState.model_validate_json(path.read_bytes())
    except ValidationError:  # cut off: the next report comes soon
        return None
