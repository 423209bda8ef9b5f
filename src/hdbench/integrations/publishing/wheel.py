"""The wheel of hdbench that goes into each Space: made from what is installed here.

A build would need the source folder. The package is pure Python, so that its wheel fits the Python
and the system that Spaces run on, whichever are used here.
"""

import base64
import csv
import hashlib
import io
import zipfile
from importlib.metadata import distribution
from pathlib import Path

from hdbench.about import FOLDERS, PACKAGE, __version__, installed_folder
from hdbench.common.texts import LANGUAGES, catalogue

NAME = f"hdbench-{__version__}-py3-none-any.whl"

_DIST_INFO = f"hdbench-{__version__}.dist-info"
_ABOUT = ("METADATA", "entry_points.txt", "licenses/LICENSE")
_WHEEL = "Wheel-Version: 1.0\nGenerator: hdbench\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_THE_SAME_EVERY_TIME = (1980, 1, 1, 0, 0, 0)


def make_wheel() -> bytes:
    """Return the installed hdbench as a wheel: the same bytes each time.

    Its form follows the binary distribution format, PEP 427.
    """
    files = dict(sorted(_package().items()))
    about = distribution("hdbench")
    for name in _ABOUT:
        files[f"{_DIST_INFO}/{name}"] = (about.read_text(name) or "").encode()
    files[f"{_DIST_INFO}/WHEEL"] = _WHEEL.encode()
    files[f"{_DIST_INFO}/RECORD"] = _record(files)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as wheel:
        for name, content in files.items():
            member = zipfile.ZipInfo(name, _THE_SAME_EVERY_TIME)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            wheel.writestr(member, content)
    return data.getvalue()


def _package() -> dict[str, bytes]:
    """Return the package's files, with the folders that lie beside it in a checkout."""
    package = PACKAGE
    for language in LANGUAGES:
        catalogue(language)  # which compiles it where that was not done yet
    files = {
        f"hdbench/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in _files(package)
    }
    for name in FOLDERS:
        folder = installed_folder(name)
        for path in _files(folder):
            relative = path.relative_to(folder).as_posix()
            files[f"hdbench/{name}/{relative}"] = path.read_bytes()
    return files


def _files(folder: Path) -> list[Path]:
    left_out = (".pyc", ".so", ".pyd", ".po")
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix not in left_out]


def _record(files: dict[str, bytes]) -> bytes:
    """Return the list of all files with their hashes, as the format requires."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        writer.writerow([name, f"sha256={digest}", len(content)])
    writer.writerow([f"{_DIST_INFO}/RECORD", "", ""])
    return lines.getvalue().encode()
