"""Images decoded in other processes: nothing else changes, and no process is left behind."""

import os
import signal
import subprocess
import sys

import psutil
import pypdfium2
import pytest
from helpers.waiting import until
from PIL import Image

from hdbench.common.translation import translated
from hdbench.errors import HdbenchError
from hdbench.running.backend import ImageLimits
from hdbench.running.image_readers import SMALL, ImageReaders
from hdbench.running.images import load_images

POISON = """
import os
import PIL.Image
opened = PIL.Image.open

def poisoned(source, **named):
    if "poison" in str(source):
        os.kill(os.getpid(), 9)
    if "once" in str(source):
        os.unlink(source)
        os.kill(os.getpid(), 9)
    return opened(source, **named)

PIL.Image.open = poisoned
"""
"""What the processes import at their start: an image that kills its decoder."""

BUSY = """
import sys
from pathlib import Path
from hdbench.running.image_readers import ImageReaders
from hdbench.running.backend import ImageLimits


with ImageReaders(ImageLimits(100), 2) as readers:
    while True:
        each = [readers.submit([Path(sys.argv[1])]) for _ in range(4)]
        for future in each:
            future.result()
        print("read", flush=True)
"""
"""A program without `if __name__ == "__main__"`, which multiprocessing could not do with."""


@pytest.fixture
def large(tmp_path):
    """An image that is not decoded in this process."""
    path = tmp_path / "large.jpg"
    noise = Image.effect_noise((1500, 1000), 60)
    Image.merge("RGB", (noise, noise.rotate(180), noise)).save(path, exif=turned())
    assert SMALL < 1500 * 1000
    return path


def turned():
    exif = Image.Exif()
    exif[0x0112] = 6
    return exif


def pixels(image):
    return image.mode, image.size, image.tobytes()


def children(process=None):
    """The processes that read images, of this process or another."""
    started = (process or psutil.Process()).children(recursive=True)
    return [each for each in started if any("image_readers" in part for part in each.cmdline())]


def test_images_are_those_that_are_decoded_here(large, tmp_path):
    Image.new("RGBA", (30, 20), (200, 0, 0, 100)).save(tmp_path / "small.png")
    document = pypdfium2.PdfDocument.new()
    for _ in range(3):
        document.new_page(300, 200)
    document.save(tmp_path / "book.pdf")
    limits = ImageLimits(700, 2)
    items = [
        [large],
        [tmp_path / "small.png", large],
        [tmp_path / "book.pdf"],
        [tmp_path / "small.png"],
    ]
    with ImageReaders(limits, 2) as readers:
        futures = [readers.submit(item) for item in items * 3]
        for item, future in zip(items * 3, futures, strict=True):
            assert list(map(pixels, future.result())) == list(
                map(pixels, load_images(item, limits))
            )
        assert 1 <= len(children()) <= 2
    assert not children()


def test_small_images_start_no_process(tmp_path):
    Image.new("RGB", (1000, 1000)).save(tmp_path / "small.png")
    with ImageReaders(ImageLimits()) as readers:
        [image] = readers.submit([tmp_path / "small.png"]).result()
        assert image.size == (1000, 1000)
        assert not children()


def test_what_cannot_be_read_fails_alone(large, tmp_path, monkeypatch):
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(POISON)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    large.with_name("broken.jpg").write_bytes(large.read_bytes()[:5000])
    for name in ("poison.jpg", "once.jpg"):
        large.with_name(name).write_bytes(large.read_bytes())
    errors = {}
    with ImageReaders(ImageLimits(100), 2) as readers:
        names = ["large", "broken", "poison", "none", "large"] * 2
        futures = [(name, readers.submit([large.with_name(f"{name}.jpg")])) for name in names]
        for name, future in futures:
            try:
                assert len(future.result()) == 1
                assert name == "large"
            except HdbenchError as error:
                errors[name] = error.message.changed(lambda text: text.replace(f"{tmp_path}/", ""))
    assert errors.keys() == {"broken", "poison", "none"}
    assert errors["broken"].startswith("broken.jpg: cannot be read: image file is truncated")
    assert errors["poison"].startswith("poison.jpg: cannot be read: the process that reads images")
    assert "No such file" in errors["none"]
    assert translated(errors["broken"], "de").startswith("broken.jpg: nicht lesbar: ")
    assert not children()


def test_failed_image_transfer_does_not_affect_the_next_items(large, monkeypatch):
    other = large.with_name("other.jpg")
    Image.open(large).rotate(180).save(other)
    frombytes = Image.frombytes
    with ImageReaders(ImageLimits(), 1) as readers:
        monkeypatch.setattr(Image, "frombytes", lambda *_: (_ for _ in ()).throw(MemoryError()))
        with pytest.raises(MemoryError):
            readers.submit([large, large]).result()
        monkeypatch.setattr(Image, "frombytes", frombytes)
        [image] = readers.submit([other]).result()
        assert pixels(image) == pixels(load_images([other], ImageLimits())[0])


TOGETHER = """
import os, time
from pathlib import Path
import PIL.Image

resize = PIL.Image.Image.resize
here = Path(__file__).parent

def together(image, *arguments, **options):
    (here / f"at-{os.getpid()}").touch()
    for _ in range(3_000):
        if len(list(here.glob("at-*"))) >= 3:
            return resize(image, *arguments, **options)
        time.sleep(0.01)
    raise OSError("alone")

PIL.Image.Image.resize = together
"""
"""Imported by each process: none goes on before three are at work at the same time."""


def test_requested_number_of_processes_decode_at_once(large, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(TOGETHER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with ImageReaders(ImageLimits(512), 3) as readers:
        results = [readers.submit([large]) for _ in range(6)]
        assert [len(each.result()) for each in results] == [1] * 6
    assert len(list(tmp_path.glob("at-*"))) == 3


def test_leaving_while_decoding_ends_the_processes_at_once(large):
    with ImageReaders(ImageLimits(), 2) as readers:
        futures = [readers.submit([large]) for _ in range(50)]
        futures[0].result()
    assert not children()
    assert futures[-1].cancelled()


@pytest.mark.nightly
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_whatever_ends_the_program_ends_its_processes(large, how):
    with subprocess.Popen(
        [sys.executable, "-c", BUSY, str(large)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal's
    ) as program:
        try:
            assert program.stdout.readline() == "read\n"
            started = children(psutil.Process(program.pid))
            assert len(started) == 2
            if how == signal.SIGINT:
                os.killpg(program.pid, how)  # as a terminal sends Ctrl+C to all its processes
            else:
                program.kill()
            _, shown = program.communicate(timeout=120)
        finally:
            program.kill()
    assert shown.count("Traceback") == (how == signal.SIGINT)  # the program's own
    until(lambda: not any(map(psutil.Process.is_running, started)), "their end")
