"""Files of MARCXML, written record by record."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from hdbench.collections.records.marc_making import MARC

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


@contextmanager
def marc_collection(file: BinaryIO, namespace: str = MARC) -> "Iterator[Callable[[Element], None]]":
    """Begin a file of MARCXML, and give a function that writes a record into it at once.

    Args:
        file: where it goes.
        namespace: of the records; empty if they have none.
    """
    from lxml import etree  # noqa: PLC0415  of an extra

    with etree.xmlfile(file, encoding="UTF-8", buffered=False) as xml:
        xml.write_declaration()
        root = f"{{{namespace}}}collection" if namespace else "collection"
        with xml.element(root, nsmap={None: namespace} if namespace else None):

            def write(record: "Element") -> None:
                record.tail = "\n"
                xml.write(record)

            yield write
