"""How fast the local backend is: PYTHONPATH=tests python -m speed.running

Not a test: nothing here passes or fails by the clock, and figures compare within one run only. The
model is a LLaVA of random weights, whose answers mean nothing.
"""

import functools
import itertools
import tempfile
import time
from pathlib import Path

import psutil  # of accelerate
import torch
from helpers.backends import made
from helpers.tiny_llava import save_tiny_llava
from PIL import Image
from speed.timing import medians
from transformers import AutoModelForImageTextToText, AutoProcessor

from hdbench.running.backend import Decoding, ImageLimits, Question
from hdbench.running.transformers_backend import TransformersBackend

PROMPT = "Read the card."
ROUNDS = 3
ITEMS = 32
SLOW_ITEMS = 24
SECONDS_AN_ITEM = 0.5
MANY = (1_000, 10_000)


def main(folder: Path) -> None:
    """Print all the figures."""
    save_tiny_llava(folder / "model")
    media = []
    for number in range(8):  # scans of A5 at 200 dpi and more
        path = folder / f"{number}.jpg"
        Image.effect_noise((1700, 2400), 40 + number).convert("RGB").save(path)
        media.append(path)
    against_a_plain_loop(folder / "model", media)
    beside_the_model(folder / "model", media)
    memory(folder / "model", media)


def against_a_plain_loop(model: Path, media: list[Path]) -> None:
    """Items a second, beside one item after the other."""
    decoding = Decoding(max_new_tokens=64)
    asked = list(items(media, ITEMS))
    tasks = {"plain loop": functools.partial(plain_loop, model, asked, decoding)}
    for size in (1, 4, 16):
        backend = make_backend(model, decoding, size)
        tasks[f"batches of {size}"] = functools.partial(answer_all, backend, asked)
    seconds = medians(tasks, ROUNDS)
    for name, taken in seconds.items():
        times = seconds["plain loop"] / taken
        print(f"{name:24} {ITEMS / taken:7.2f} items/s, {times:5.2f} times a plain loop's rate")


def answer_all(backend: TransformersBackend, asked) -> None:
    """Ask a backend, and forget the answers."""
    for _ in backend.answer(asked):
        pass


def beside_the_model(model: Path, media: list[Path]) -> None:
    """The share of time outside `generate`, which is made to take 0.5 s an item by sleeping."""
    for size in (1, 4):
        backend = make_backend(model, Decoding(max_new_tokens=8), size)
        inside = 0.0
        loaded = backend._model._loaded()
        generate = loaded.generate

        def slow(generate=generate, **inputs):
            nonlocal inside
            started = time.perf_counter()
            output = generate(**inputs)
            target = SECONDS_AN_ITEM * len(output)
            time.sleep(max(0, target - (time.perf_counter() - started)))
            inside += time.perf_counter() - started
            return output

        loaded.generate = slow
        started = time.perf_counter()
        answer_all(backend, items(media, SLOW_ITEMS))
        taken = time.perf_counter() - started
        print(
            f"batches of {size}: {taken / SLOW_ITEMS:.3f} s an item, "
            f"{100 * (1 - inside / taken):.1f} % outside the model"
        )


def memory(model: Path, media: list[Path]) -> None:
    """The process's memory after a thousand and ten thousand items, of one token each."""
    process = psutil.Process()
    small = []
    for number, path in enumerate(media):
        small.append(path.with_name(f"small_{number}.png"))
        Image.open(path).resize((170, 240)).save(small[-1])
    backend = make_backend(model, Decoding(max_new_tokens=1), 8)
    for number, _ in enumerate(backend.answer(items(small, MANY[-1])), start=1):
        if number in (100, *MANY):
            print(f"{number:7,} items: {process.memory_info().rss / 2**20:7.1f} MiB")


def items(media: list[Path], count: int):
    """Questions, made as they are asked for."""
    for number, path in zip(range(count), itertools.cycle(media), strict=False):
        yield Question(str(number), [path])


def make_backend(model: Path, decoding: Decoding, batch_size: int) -> TransformersBackend:
    """A backend on the CPU."""
    backend = made(
        *(TransformersBackend, model, PROMPT),
        decoding=decoding,
        limits=ImageLimits(max_side=1024),
        batch_size=batch_size,
        device="cpu",
    )
    backend._model._loaded()  # not measured, nor of the plain loop
    return backend


def plain_loop(folder: Path, asked: list[Question], decoding: Decoding) -> None:
    """What one would write: read an image, ask, decode, and so on."""
    processor = AutoProcessor.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
    for question in asked:
        image = Image.open(question.media[0]).convert("RGB")
        image.thumbnail((1024, 1024))
        content = [{"type": "image", "image": image}, {"type": "text", "text": PROMPT}]
        inputs = processor.apply_chat_template(
            [{"role": "user", "content": content}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        output = model.generate(**inputs, max_new_tokens=decoding.max_new_tokens, do_sample=False)
        processor.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
