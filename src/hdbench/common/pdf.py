"""PDFs, opened by one thread at a time: PDFium crashes if two threads call it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import pypdfium2
from PIL import Image

PdfError = pypdfium2.PdfiumError

_PDFIUM = Lock()


@contextmanager
def opened(source: Path | bytes) -> Iterator[pypdfium2.PdfDocument]:
    """An open PDF; no other thread has one open in the meantime.

    Raises:
        PdfError: it is damaged.
        OSError: it cannot be read.
    """
    with _PDFIUM, pypdfium2.PdfDocument(source) as document:
        yield document


def rendered(page: pypdfium2.PdfPage, scale: float) -> Image.Image:
    """A page of an opened PDF in RGB; a scale of 1 is 72 pixels per inch."""
    bitmap = page.render(scale=scale)
    try:
        image: Image.Image = bitmap.to_pil().convert("RGB")
        return image.copy()  # it may still use the bitmap's memory
    finally:
        # Here, and not when it is garbage-collected: another thread may have a PDF open by then.
        bitmap.close()
        page.close()
