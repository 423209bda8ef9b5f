"""The programs that some tests need besides Python, and the Debian packages that hold them."""

import functools
import os
import shutil
import subprocess

import pytest

NO_SKIPS = "HDBENCH_NO_SKIPS"
"""The environment variable with which a test fails that would be skipped for a missing program."""


def _chromium():
    return shutil.which("chromium")


def _tesseract():
    if not shutil.which("tesseract"):
        return False
    done = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True)
    return {"eng", "deu", "Fraktur"} <= set(done.stdout.split())


def _slurm():
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    return all(shutil.which(name, path=path) for name in ("munged", "slurmctld", "slurmd"))


def _marc():
    return all(map(shutil.which, ("yaz-marcdump", "marclint", "marcvalidate")))


PROGRAMS = {
    "chromium": (_chromium, "Chromium", "chromium"),
    "marc": (
        _marc,
        "yaz-marcdump, marclint and marcvalidate",
        "yaz libmarc-lint-perl libmarc-schema-perl",
    ),
    "slurm": (_slurm, "Slurm and Munge", "slurm-wlm munge"),
    "tesseract": (
        _tesseract,
        "Tesseract with German and Fraktur",
        "tesseract-ocr tesseract-ocr-deu tesseract-ocr-script-frak",
    ),
}
"""How a program is found, what it is, and its packages."""


@functools.cache
def missing(name: str) -> str | None:
    """What to say where a program is missing; None where it is there."""
    found, what, packages = PROGRAMS[name]
    return None if found() else f"needs {what}: apt-get install {packages}"


def check(item: pytest.Item) -> None:
    """Skip a test that needs a program that is missing, or fail it where nothing may be skipped."""
    names = [name for mark in item.iter_markers("needs") for name in mark.args]
    if "browser" in item.fixturenames:
        names.append("chromium")
    for said in filter(None, map(missing, names)):
        if os.environ.get(NO_SKIPS):
            pytest.fail(said, pytrace=False)
        pytest.skip(said)  # all in this line, so that the summary has a line for each program
