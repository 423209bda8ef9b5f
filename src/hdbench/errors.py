"""What callers show to a person: one exception, and untrusted text made harmless and short."""

from collections.abc import Callable, Sequence

SHOWN = 3
"""How many places, names or problems a message lists, unless told otherwise."""


_AS_THEY_ARE = (str, int, float)
"""Types of values that a message keeps; there can be a message for each row of a table."""


class Message(str):
    """A line in English that can be put into other languages; see `hdbench.common.told`.

    Args:
        template: the line; if it has values, with their placeholders, as `str.format` takes them.
        values: texts and numbers, and messages and exceptions, which are put into the other
            language too.

    Example:
        >>> Message("{place}: larger than {most:,} bytes", place="a.csv", most=2_000)
        'a.csv: larger than 2,000 bytes'
    """

    template: str
    values: dict[str, object]

    def __new__(cls, template: str, /, **values: object) -> "Message":
        """The line in English; a message is itself."""
        if isinstance(template, Message):
            return template
        for name, value in values.items():
            if not isinstance(value, _AS_THEY_ARE):
                values[name] = _kept(value)
        self = str.__new__(cls, template.format_map(values) if values else template)
        self.template, self.values = template, values
        return self

    def changed(self, change: Callable[[str], str]) -> "Message":
        """The same line with its texts changed."""
        return Message(
            change(self.template),
            **{name: changed(value, change) for name, value in self.values.items()},
        )


def changed(value: object, change: Callable[[str], str]) -> object:
    """A message's value with its texts changed; numbers stay."""
    if isinstance(value, Message):
        return value.changed(change)
    return change(value) if isinstance(value, str) else value


def _kept(value: object) -> object:
    if isinstance(value, Exception):
        return next((each for each in value.args if isinstance(each, Message)), Message(str(value)))
    return str(value)


def os_reason(error: OSError) -> Message:
    """Why the operating system refused something, without the file's name."""
    return Message(error.strerror or str(error))


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
