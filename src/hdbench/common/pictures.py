"""Images as all programs show them."""

from PIL import Image

FORMATS = ("BMP", "GIF", "JPEG", "JPEG2000", "PNG", "PPM", "TIFF", "WEBP")
"""Formats that untrusted files may be in. Pillow has readers for dozens of others, whatever a file
is called; the one for EPS starts Ghostscript."""

MAX_BYTES = 2**30
"""Maximum size in bytes of a file."""


def in_rgb(image: Image.Image) -> Image.Image:
    """Return an image in RGB, on white paper where it is transparent."""
    if image.mode.startswith("I;16"):  # which `convert` would make white above 255
        image = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")
