"""Images that take a known time to decode, and a model that takes a known time to answer."""

import time
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from PIL import Image

from hdbench.running import transformers_backend
from hdbench.running.images import load_images

SITE = """
import time
import PIL.Image

resize = PIL.Image.Image.resize

def slow(image, *arguments, **options):
    if image.width == {width}:
        time.sleep({seconds})
    return resize(image, *arguments, **options)

PIL.Image.Image.resize = slow
"""
"""What processes import at their start."""

WIDTH = 3111


class OneThread:
    """Stands for `ImageReaders`: decodes in one thread of this process, as hdbench once did."""

    count = 1

    def __init__(self, limits, _processes):
        self._limits = limits

    def __enter__(self):
        self._pool = ThreadPoolExecutor(1)
        return self

    def __exit__(self, *_):
        self._pool.shutdown(cancel_futures=True)

    def submit(self, media):
        return self._pool.submit(load_images, media, self._limits)


def slow_image(folder, seconds):
    """An image that takes so long to scale down; its folder `site` has to be on the path."""
    (folder / "site").mkdir()
    (folder / "site/sitecustomize.py").write_text(SITE.format(width=WIDTH, seconds=seconds))
    path = folder / "slow.png"
    Image.new("RGB", (WIDTH, 400), "red").save(path)
    return path


def share_outside(backend, asked, seconds, *, one_thread=False):
    """The share of time outside `generate`, which takes so many seconds an item by sleeping.

    The first window is left out, as nothing can be read ahead of it.
    """
    loaded = backend._model._loaded()
    spans, generate = [], type(loaded).generate

    def slow(**inputs):
        started = time.perf_counter()
        output = generate(loaded, **inputs)
        time.sleep(max(0, seconds * len(output) - (time.perf_counter() - started)))
        spans.append((started, time.perf_counter()))
        return output

    loaded.generate = slow
    answered(backend, asked, one_thread=one_thread)
    begun = spans[transformers_backend.WINDOW - 1][1]
    inside = sum(end - begin for begin, end in spans if begin > begun)
    return 1 - inside / (spans[-1][1] - begun)


def answered(backend, asked, *, one_thread=False):
    """Ask a backend, and forget the answers."""
    readers = OneThread if one_thread else transformers_backend.ImageReaders
    with mock.patch.object(transformers_backend, "ImageReaders", readers):
        for _ in backend.answer(asked):
            pass
