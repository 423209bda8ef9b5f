"""The text of a page, and what was assumed about it."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from hdbench.common.page_text.boxes import Box
from hdbench.errors import Message

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

Remark = Callable[[Message, str], None]
"""Takes what was assumed, and at which place."""


class TextLine(NamedTuple):
    """A line, and where it is on the page, if that is known."""

    text: str
    box: Box | None = None


Lines = list[TextLine]
"""The lines of a region, in reading order."""


class PageText(NamedTuple):
    """The text of a page.

    Attributes:
        regions: its regions in reading order; each has a line at least.
        image: the name of its image, without folders; None if the file does not say it.
    """

    regions: list[Lines]
    image: str | None

    @property
    def text(self) -> str:
        """The lines of all regions, joined by line ends."""
        return "\n".join(line.text for lines in self.regions for line in lines)

    @property
    def boxes(self) -> list[Box | None]:
        """Where each line of `text` is."""
        lines = (line for region in self.regions for line in region)
        return [line.box for line in lines for _ in line.text.split("\n")]


def regions_of(
    lines: "Iterable[tuple[Element, Element]]",
    read: "Callable[[Element], str]",
    find: "Callable[[Element], Box | None]",
    where: str,
    remark: Remark,
) -> Iterator[Lines]:
    """Yield the lines of each region; of one without text it is remarked that it is left out.

    Args:
        lines: each with its region before it.
        read: returns the text of a line.
        find: returns where a line is.
        where: what messages call the file.
        remark: see `Remark`.
    """
    for _, group in groupby(lines, key=itemgetter(0)):
        found: Lines = []
        for _, line in group:
            if text := read(line):
                found.append(TextLine(text, find(line)))
            else:
                remark(Message("a line without text, left out"), f"{where}:{line.sourceline}")
        if found:
            yield found


def image_name(text: str | None) -> str | None:
    r"""Return the last part of an image's path or address, of any system; None if it is empty.

    Example:
        >>> image_name("C:\\scans\\0012.tif"), image_name("../images/0012.jpg"), image_name(" ")
        ('0012.tif', '0012.jpg', None)
    """
    return (text or "").strip().replace("\\", "/").rpartition("/")[2] or None
