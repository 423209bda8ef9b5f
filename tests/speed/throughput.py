"""The share of time that a local model waits: PYTHONPATH=src:tests python -m speed.throughput

Run by hand. The model's `generate` is made to take a known time by sleeping, as one on an
accelerator leaves the processors alone; all else is as in a run. *Before* is one thread that
decodes, resizes and prepares a batch ahead, as hdbench did until 0.9. First, decoding takes a known
time too, so that the figures do not depend on the processors; then scans of 4000 × 3000 pixels are
really decoded, which needs an idle machine.
"""

import os
import sys
import tempfile
from pathlib import Path

import torch
from helpers.backends import made
from helpers.tiny_llava import save_tiny_llava
from PIL import Image
from running.slow_images import SITE, WIDTH, answered, share_outside, slow_image
from speed.running import PROMPT, items
from speed.timing import fastest

from hdbench.running.backend import Decoding, ImageLimits
from hdbench.running.images import load_images
from hdbench.running.transformers_backend import TransformersBackend

BATCH = 4
ITEMS = 40
SCANS = 48
READERS = (1, 2, 4, 8)
DECODING = 0.8
"""Seconds that decoding an image takes, when it takes a known time."""
GENERATING = 0.25
"""Seconds of `generate` for each item then."""
SHARES = (1.0, 0.6)
"""The same as multiples of what really decoding an image takes."""
SMALL_ITEMS = 400
ROUNDS = 5
TURNS = 2


def main(folder: Path) -> None:
    """Print all the figures."""
    save_tiny_llava(folder / "model")
    known_times(folder)
    scans, small = [], []
    for number in range(4):
        noise = Image.effect_noise((4000, 3000), 30 + number).convert("RGB")
        scans.append(folder / f"{number}.jpg")
        noise.save(scans[-1], quality=90)
        small.append(folder / f"small_{number}.png")
        noise.resize((170, 240)).save(small[-1])
    small_images(folder, small)
    real_scans(folder, scans)


def known_times(folder: Path) -> None:
    """Processors or not, decoding takes `DECODING` seconds and the model `GENERATING`."""
    image = slow_image(folder, DECODING)
    sys.path.insert(0, str(folder / "site"))  # for the processes
    resize = Image.Image.resize
    exec(SITE.format(width=WIDTH, seconds=DECODING), {})  # and for this one
    print(f"decoding takes {DECODING} s, generate {GENERATING} s per item; outside generate:")
    asked = list(items([image], ITEMS))
    share = share_outside(make_backend(folder / "model"), asked, GENERATING, one_thread=True)
    print(f"  before            {share:6.1%}")
    for readers in READERS:
        share = share_outside(make_backend(folder / "model", readers), asked, GENERATING)
        print(f"  after, {readers} processes {share:6.1%}")
    Image.Image.resize = resize
    sys.path.pop(0)


def real_scans(folder: Path, scans: list[Path]) -> None:
    """In turns, and the least of each: other programs only add to it."""
    decoding = fastest({"one": lambda: load_images(scans[:1], ImageLimits())}, ROUNDS)["one"]
    size = scans[0].stat().st_size / 1e6
    print(f"decoding and resizing a scan ({size:.1f} MB): {decoding:.3f} s, {os.cpu_count()} CPUs")
    asked = list(items(scans, SCANS))
    for share in SHARES:
        pairs = [
            [
                share_outside(
                    make_backend(folder / "model"), asked, share * decoding, one_thread=each
                )
                for each in (True, False)
            ]
            for _ in range(TURNS)
        ]
        before, after = map(min, zip(*pairs, strict=True))
        print(f"  generate takes {share:.1f} times that: before {before:.1%}, after {after:.1%}")


def small_images(folder: Path, small: list[Path]) -> None:
    """Images that are not worth another process must not be slower."""
    backend = make_backend(folder / "model")
    asked = list(items(small, SMALL_ITEMS))
    rates = fastest(
        {
            "before": lambda: answered(backend, asked, one_thread=True),
            "after": lambda: answered(backend, asked),
        },
        ROUNDS,
    )
    shown = ", ".join(f"{name} {SMALL_ITEMS / taken:.0f} items/s" for name, taken in rates.items())
    print(f"images of 170 × 240 pixels, one token each: {shown}")


def make_backend(folder: Path, readers: int | None = None) -> TransformersBackend:
    """A backend on the CPU."""
    return made(
        *(TransformersBackend, folder, PROMPT),
        decoding=Decoding(max_new_tokens=1),
        batch_size=BATCH,
        device="cpu",
        readers=readers,
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
