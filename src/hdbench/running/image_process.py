"""The process that decodes images for another one.

Run as `python -m hdbench.running.image_process`, it reads requests from standard input and writes
answers to standard output until its input ends, as it does when the other process is killed. See
`image_readers` for what they look like.
"""

import json
import pickle
import signal
import struct
import sys
from typing import Any, BinaryIO

from hdbench.errors import HdbenchError, Message
from hdbench.running.images import decoded, why_unreadable

SIZE = struct.Struct("<Q")
"""A number: of bytes, or of pixels of a side."""

IMAGES, FAILED = b"i", b"f"


def main(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each request until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the other process
    while len(size := requests.read(SIZE.size)) == SIZE.size:
        # From the process that started this one, and no other.
        files, limits = pickle.loads(requests.read(*SIZE.unpack(size)))  # noqa: S301
        try:
            images = decoded(files, limits)
            answers.write(IMAGES + SIZE.pack(len(images)))
            for image in images:
                answers.write(SIZE.pack(image.width) + SIZE.pack(image.height))
                answers.write(image.tobytes())
        except (HdbenchError, MemoryError) as error:
            said = json.dumps(_parts(why_unreadable(error))).encode()
            answers.write(FAILED + SIZE.pack(len(said)) + said)
        answers.flush()


def message_of(parts: list[Any]) -> Message:
    """The message that was sent as its parts."""
    template, values = parts
    return Message(
        template,
        **{
            name: message_of(value) if isinstance(value, list) else value
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
