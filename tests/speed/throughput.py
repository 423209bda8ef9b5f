"""The share of time that a local model waits: PYTHONPATH=src:tests python -m speed.throughput

Run by hand. The model's `generate` is made to take a known time by sleeping, as one on an
accelerator leaves the processors alone; all else is as in a run. Images are scans of 4000 × 3000
pixels. *Before* is what one thread can do that decodes, resizes and prepares a batch ahead, as
hdbench did until 0.9.
"""

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import torch
from helpers.tiny_llava import save_tiny_llava
from PIL import Image
from speed.running import PROMPT, items
from speed.timing import fastest

from hdbench.running import transformers_backend
from hdbench.running.backend import Decoding
from hdbench.running.images import Limits, load_images
from hdbench.running.transformers_backend import TransformersBackend

BATCH = 4
ITEMS = 28
SHARES = (1.0, 0.6)
"""Seconds of `generate` for an item, as multiples of what decoding it takes."""
SMALL_ITEMS = 400
ROUNDS = 5
TURNS = 3


class OneThread:
    """Stands for `ImageReaders`: decodes in one thread of this process."""

    count = 1

    def __init__(self, limits: Limits, _processes: int | None) -> None:
        self._limits = limits

    def __enter__(self):
        self._pool = ThreadPoolExecutor(1)
        return self

    def __exit__(self, *_):
        self._pool.shutdown(cancel_futures=True)

    def submit(self, media):
        return self._pool.submit(load_images, media, self._limits)


def main(folder: Path) -> None:
    """Print all the figures."""
    save_tiny_llava(folder / "model")
    scans, small = [], []
    for number in range(4):
        noise = Image.effect_noise((4000, 3000), 30 + number).convert("RGB")
        scans.append(folder / f"{number}.jpg")
        noise.save(scans[-1], quality=90)
        small.append(folder / f"small_{number}.png")
        noise.resize((170, 240)).save(small[-1])
    decoding = fastest({"one": lambda: load_images(scans[:1], Limits())}, ROUNDS)["one"]
    size = scans[0].stat().st_size / 1e6
    print(f"decoding and resizing a scan ({size:.1f} MB): {decoding:.3f} s, {os.cpu_count()} CPUs")
    for share in SHARES:
        seconds = share * decoding
        # In turns, and the least of each: other programs only add to it.
        pairs = [
            [waiting(folder / "model", scans, seconds, one_thread=each) for each in (True, False)]
            for _ in range(TURNS)
        ]
        before, after = map(min, zip(*pairs, strict=True))
        print(
            f"generate takes {share:.1f} times that for an item: outside it "
            f"before {before:5.1%}, after {after:5.1%}"
        )
    backend = make_backend(folder / "model", 8)
    asked = list(items(small, SMALL_ITEMS))
    rates = fastest(
        {
            "before": lambda: answered(backend, asked, one_thread=True),
            "after": lambda: answered(backend, asked, one_thread=False),
        },
        ROUNDS,
    )
    shown = ", ".join(f"{name} {SMALL_ITEMS / taken:.0f} items/s" for name, taken in rates.items())
    print(f"images of 170 × 240 pixels, one token each: {shown}")


def make_backend(folder: Path, batch_size: int) -> TransformersBackend:
    """A backend on the CPU."""
    return TransformersBackend(
        *(str(folder), PROMPT),
        decoding=Decoding(max_new_tokens=1),
        limits=Limits(),
        batch_size=batch_size,
        device="cpu",
    )


def waiting(model: Path, media: list[Path], seconds: float, *, one_thread: bool) -> float:
    """The share of time outside `generate`, after the first window."""
    backend = make_backend(model, BATCH)
    loaded = backend._model._loaded()
    spans = []
    generate = loaded.generate

    def slow(**inputs):
        started = time.perf_counter()
        output = generate(**inputs)
        time.sleep(max(0, seconds * len(output) - (time.perf_counter() - started)))
        spans.append((started, time.perf_counter()))
        return output

    loaded.generate = slow
    answered(backend, items(media, ITEMS), one_thread=one_thread)
    spans = spans[transformers_backend.WINDOW :]
    taken = spans[-1][1] - spans[0][0]
    return 1 - sum(end - begin for begin, end in spans) / taken


def answered(backend, asked, *, one_thread: bool) -> None:
    """Ask a backend, and forget the answers."""
    readers = OneThread if one_thread else transformers_backend.ImageReaders
    with mock.patch.object(transformers_backend, "ImageReaders", readers):
        for _ in backend.answer(asked):
            pass


if __name__ == "__main__":
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
