"""Images decoded and resized ahead, in other processes.

Such a process runs `python -m hdbench.running.image_readers`: it reads requests from standard input
and writes answers to standard output until its input ends, as it does when the other process is
killed.
"""

import json
import os
import pickle
import queue
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from PIL import Image

from hdbench.common import processes
from hdbench.errors import HdbenchError, Message
from hdbench.running.backend import ImageLimits, InShard
from hdbench.running.images import File, decoded, pixels, read_files, why_unreadable

MOST = 8
"""Maximum number of processes by default."""

SMALL = 1024 * 1024
"""Images of at most this many pixels are decoded here: sending them would take as long."""


class ImageReaders:
    """Pool of processes that decode the images of several items at once.

    A process is started when it is first needed, by a command of its own: nothing is forked, and
    the program's main module is not imported. It ends when this one does, however that happens. One
    that dies, because an image takes all memory or crashes a decoder, is replaced, and its item is
    tried once more before it fails alone.

    Args:
        limits: what is shown of an item.
        processes: how many; by default one for each processor that may be used, up to `MOST`.
    """

    def __init__(self, limits: ImageLimits, processes: int | None = None) -> None:
        self._limits = limits
        self.count = processes or min(MOST, usable_processors())
        self._threads = ThreadPoolExecutor(self.count)
        self._idle: queue.LifoQueue[_ImageProcess | None] = queue.LifoQueue()
        for _ in range(self.count):
            self._idle.put(None)
        self._started: set[_ImageProcess] = set()
        self._closed = False

    def __enter__(self) -> Self:
        """Return the readers; nothing is started yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes, whatever they are doing."""
        self._closed = True
        for process in list(self._started):
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in list(self._started):
            self._end(process)

    def submit(self, media: Sequence[Path | InShard]) -> Future[list[Image.Image]]:
        """Return a future with the images of an item; see `load_images` for its errors."""
        return self._threads.submit(self._images, media)

    def _images(self, media: Sequence[Path | InShard]) -> list[Image.Image]:
        files = read_files(media)
        sizes = [pixels(file) for file in files]
        if None not in sizes and sum(filter(None, sizes)) <= SMALL:
            return decoded(files, self._limits)
        process = self._idle.get()
        try:
            for _ in range(2):
                process = process or self._start()
                try:
                    return process.decoded(files, self._limits)
                except HdbenchError:  # which is an answer
                    raise
                except BaseException as error:
                    self._end(process)  # its answer may not be read to the end
                    process = None
                    if not isinstance(error, OSError | EOFError):
                        raise
        finally:
            self._idle.put(process)
        raise HdbenchError(
            "{place}: cannot be read: the process that reads images died of it (out of memory?)",
            place=files[0].name,
        )

    def _start(self) -> "_ImageProcess":
        process = _ImageProcess()
        self._started.add(process)
        if self._closed:  # after the others were killed
            process.kill()
        return process

    def _end(self, process: "_ImageProcess") -> None:
        process.close()
        self._started.discard(process)


class _ImageProcess:
    """A process that decodes images, one item at a time."""

    def __init__(self) -> None:
        self._process = processes.start(
            processes.python("hdbench.running.image_readers"),
            stdin=processes.PIPE,
            stdout=processes.PIPE,
            stderr=processes.DEVNULL,  # decoders also write warnings about readable files
        )
        self._requests = cast(BinaryIO, self._process.stdin)
        self._answers = cast(BinaryIO, self._process.stdout)

    def decoded(self, files: Sequence[File], limits: ImageLimits) -> list[Image.Image]:
        """See `images.decoded`.

        Raises:
            OSError: the process has died.
            EOFError: it has died.
        """
        pickle.dump((list(files), limits), self._requests)
        self._requests.flush()
        line = self._answers.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        head = json.loads(line)
        if "failed" in head:
            raise HdbenchError(_message_of(head["failed"]))
        return [
            Image.frombytes("RGB", (width, height), self._read(3 * width * height))
            for width, height in head["sizes"]
        ]

    def kill(self) -> None:
        """Kill it; a thread that waits for its answer gets an EOFError."""
        self._process.kill()

    def close(self) -> None:
        """Kill it, and wait until it has ended."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._requests, self._answers):
            with suppress(OSError):  # what it was sent last is lost
                pipe.close()

    def _read(self, size: int) -> bytes:
        data = self._answers.read(size)
        if len(data) < size:
            raise EOFError
        return data


def usable_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def main(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each request until there are no more.

    An answer is a line of JSON, with the images' sizes or why there are none, and their pixels.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the other process
    while True:
        try:  # from the process that started this one, and no other
            files, limits = pickle.load(requests)  # noqa: S301
        except EOFError:
            return
        try:
            images = decoded(files, limits)
            head: dict[str, Any] = {"sizes": [image.size for image in images]}
        except (HdbenchError, MemoryError) as error:
            images, head = [], {"failed": _parts(why_unreadable(error))}
        answers.write(json.dumps(head).encode() + b"\n")
        for image in images:
            answers.write(image.tobytes())
        answers.flush()


def _message_of(parts: list[Any]) -> Message:
    """Return the message that was sent as its parts."""
    template, values = parts
    return Message(
        template,
        **{
            name: _message_of(value) if isinstance(value, list) else value
            for name, value in values.items()
        },
    )


def _parts(message: Message) -> list[Any]:
    values = {
        name: _parts(value) if isinstance(value, Message) else value
        for name, value in message.values.items()
    }
    return [message.template, values]


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
