"""PDFs, opened by one thread at a time: PDFium crashes if two threads call it."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from hdbench.common.extras import needed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pypdfium2
    from PIL import Image

_PDFIUM = Lock()


class PdfError(ValueError):
    """A PDF is damaged."""


def pdfium() -> Any:
    """Return the module pypdfium2.

    Raises:
        MissingExtraError: it is not installed.
    """
    with needed("pdf", "PDFs need"):
        import pypdfium2  # noqa: PLC0415
    return pypdfium2


@contextmanager
def opened(source: Path | bytes) -> Iterator[pypdfium2.PdfDocument]:
    """An open PDF; no other thread has one open in the meantime.

    Raises:
        PdfError: it is damaged, here or where it is used.
        OSError: it cannot be read.
        MissingExtraError: pypdfium2 is not installed.
    """
    module = pdfium()
    try:
        with _PDFIUM, module.PdfDocument(source) as document:
            yield document
    except module.PdfiumError as error:
        raise PdfError(str(error)) from error


def rendered(page: pypdfium2.PdfPage, scale: float) -> Image.Image:
    """Return a page of an opened PDF in RGB; a scale of 1 is 72 pixels per inch."""
    bitmap = page.render(scale=scale)
    try:
        image: Image.Image = bitmap.to_pil().convert("RGB")
        return image.copy()  # it may still use the bitmap's memory
    finally:
        # Here, and not when it is garbage-collected: another thread may have a PDF open by then.
        bitmap.close()
        page.close()
