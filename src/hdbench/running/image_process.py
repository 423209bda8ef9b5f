"""The process that decodes images for another one.

Run as `python -m hdbench.running.image_process`, it reads requests from standard input and writes
answers to standard output until its input ends, as it does when the other process is killed. See
`image_readers` for what they look like.
"""

import json
import pickle
import signal
import sys
from typing import Any, BinaryIO

from hdbench.errors import HdbenchError, Message
from hdbench.running.images import decoded, why_unreadable


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


def message_of(parts: list[Any]) -> Message:
    """Return the message that was sent as its parts."""
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
