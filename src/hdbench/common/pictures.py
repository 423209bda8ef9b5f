"""Images as all programs show them."""

from PIL import Image


def in_rgb(image: Image.Image) -> Image.Image:
    """An image in RGB, on white paper where it is transparent."""
    if image.mode.startswith("I;16"):  # which `convert` would make white above 255
        image = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")
