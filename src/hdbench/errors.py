"""What callers show to a person: one exception, and untrusted text made harmless and short."""

import errno
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import TypeGuard

SHOWN = 3
"""How many places, names or problems a message lists, unless told otherwise."""


_AS_THEY_ARE = (str, int, float, date)
"""Types of values that a message keeps; there can be a message for each row of a table."""


class Message(str):
    """A line in English that can be put into other languages; see `hdbench.common.texts`.

    Args:
        template: the line; if it has values, with their placeholders, as `str.format` takes them.
        values: texts, numbers and dates, and messages and exceptions, which are put into the other
            language too. With `plural`, that is the line for any `count` but 1.

    Example:
        >>> Message("{place}: larger than {most:,} bytes", place="a.csv", most=2_000)
        'a.csv: larger than 2,000 bytes'
        >>> Message("{count:,} item", plural="{count:,} items", count=2_000)
        '2,000 items'
    """

    template: str
    plural: str | None
    values: dict[str, object]

    def __new__(cls, template: str, /, **values: object) -> "Message":
        """The line in English; a message is itself."""
        if isinstance(template, Message):
            return template
        plural = values.pop("plural", None)
        for name, value in values.items():
            if not isinstance(value, _AS_THEY_ARE):
                values[name] = _kept(value)
        line = template if plural is None or values["count"] == 1 else str(plural)
        self = str.__new__(cls, line.format_map(values) if values else line)
        self.template, self.values = template, values
        self.plural = None if plural is None else str(plural)
        return self

    def changed(self, change: Callable[[str], str]) -> "Message":
        """The same line with its texts changed."""
        return Message(
            change(self.template),
            plural=self.plural and change(self.plural),
            **{name: changed(value, change) for name, value in self.values.items()},
        )


def changed(value: object, change: Callable[[str], str]) -> object:
    """A message's value with its texts changed; numbers stay."""
    if isinstance(value, Message):
        return value.changed(change)
    return change(value) if isinstance(value, str) else value


def without_folders(message: str, *folders: Path) -> str:
    """Return a message in which files have the names that they have in some folders.

    Args:
        message: the message.
        folders: where files are that whoever is told does not know.

    Example:
        >>> without_folders(Message("{place}: not there", place="/srv/cards/a.csv"), Path("/srv"))
        'cards/a.csv: not there'
    """
    names = [f"{folder}/" for each in folders for folder in (each, each.resolve())]

    def plain(text: str) -> str:
        for name in names:
            text = text.replace(name, "")
        return text

    return message.changed(plain) if isinstance(message, Message) else plain(message)


def _kept(value: object) -> object:
    if isinstance(value, Exception):
        return next((each for each in value.args if isinstance(each, Message)), Message(str(value)))
    return str(value)


def os_reason(error: OSError) -> Message:
    """Return why the operating system refused something, without the file's name."""
    return Message(error.strerror or str(error))


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REMEDIES = (
    (_FULL, Message("make room")),
    ((errno.ENOENT, errno.ENOTDIR), Message("is the folder still there? It may have been moved")),
    ((errno.EACCES, errno.EPERM, errno.EROFS), Message("allow this user to write there")),
)


def write_reason(error: OSError) -> Message:
    """Return why something could not be written, and what to do about it, without the file's name.

    Example:
        >>> write_reason(OSError(errno.ENOSPC, "No space left on device"))
        'No space left on device: make room'
    """
    why = os_reason(error)
    for numbers, remedy in _REMEDIES:
        if error.errno in numbers:
            return Message("{why}: {remedy}", why=why, remedy=remedy)
    return why


def is_full(error: BaseException) -> TypeGuard[OSError]:
    """Return whether there was no room for a file."""
    return isinstance(error, OSError) and error.errno in _FULL


class HdbenchError(ValueError):
    """Something a person can fix: one line that says where, what, and what to do.

    Args:
        template: the line, as `Message` takes it.
        values: same as in `Message`.

    Attributes:
        message: the line.
    """

    def __init__(self, template: str, /, **values: object) -> None:
        self.message = Message(template, **values)
        super().__init__(self.message)


def escaped(text: str) -> str:
    r"""Untrusted text for a terminal: control and invisible characters as their escapes.

    Example:
        >>> escaped("\x1b[31mred")
        '\\x1b[31mred'
    """
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def joined(texts: Sequence[str], separator: str = ", ") -> Message:
    """Texts one after the other, of which those that are messages stay messages.

    Example:
        >>> joined([Message("{count} failed", count=2), "f1_micro 0.67"])
        '2 failed, f1_micro 0.67'
    """
    named = {f"text{number}": text for number, text in enumerate(texts)}
    return Message(separator.join(f"{{{name}}}" for name in named), **named)


def shortened(texts: Sequence[str], most: int = SHOWN, separator: str = ", ") -> str:
    """The first of some texts, and how many more there are.

    Example:
        >>> shortened(["a.xml:3", "b.xml:1", "b.xml:7", "c.xml:2", "d.xml:9"])
        'a.xml:3, b.xml:1, b.xml:7 and 2 more'
    """
    more, shown = len(texts) - most, joined(texts[:most], separator)
    return Message("{shown} and {more} more", shown=shown, more=more) if more > 0 else shown


_LONGEST = 100


def nearest(name: str, choices: Iterable[str]) -> str | None:
    """Return the known name that is most similar to one that is not known, if any is.

    Example:
        >>> nearest("treshold", ["weights", "threshold"]), nearest("x", ["weights", "threshold"])
        ('threshold', None)
    """
    return next(iter(get_close_matches(name[:_LONGEST], choices, 1)), None)


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: "did you mean", or nothing.

    Example:
        >>> f"no option 'treshold'{did_you_mean('treshold', ['weights', 'threshold'])}"
        "no option 'treshold'; did you mean threshold?"
    """
    near = nearest(name, choices)
    return Message("; did you mean {near}?", near=near) if near else ""
