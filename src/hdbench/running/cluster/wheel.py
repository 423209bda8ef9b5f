"""The installed hdbench as a wheel, and what it needs: other machines run just this one."""

import base64
import hashlib
import zipfile
from collections.abc import Collection
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from io import BytesIO
from pathlib import Path

from packaging.requirements import Requirement

import hdbench
from hdbench.errors import HdbenchError

WHEEL = "hdbench.whl"
"""The wheel's name in a storage."""

_ABOUT = "Wheel-Version: 1.0\nGenerator: hdbench\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel_of_hdbench() -> bytes:
    """Return a wheel of the package that is running, wherever it was installed from.

    Built from what is installed, it needs neither an index nor a checkout nor a build tool.

    Raises:
        HdbenchError: hdbench is not installed.
    """
    about = _distribution()
    package = Path(hdbench.__file__).parent
    files = {
        f"hdbench/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    info = f"hdbench-{about.version}.dist-info"
    for name in ("METADATA", "entry_points.txt"):
        files[f"{info}/{name}"] = (about.read_text(name) or "").encode()
    files[f"{info}/WHEEL"] = _ABOUT.encode()
    record = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()[:-1]},"
        f"{len(data)}\n"
        for name, data in files.items()
    ]
    files[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
    return written.getvalue()


def requirements(extras: Collection[str]) -> list[str]:
    """Return what hdbench needs with some extras, as pip and uv take it.

    Args:
        extras: their names, such as `cluster`.

    Raises:
        HdbenchError: hdbench is not installed.
    """
    found = []
    for line in _distribution().requires or ():
        needed = Requirement(line)
        marker, needed.marker = needed.marker, None
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            found.append(str(needed))
    return found


def _distribution() -> Distribution:
    try:
        return distribution("hdbench")
    except PackageNotFoundError as error:
        raise HdbenchError(
            "--engine jobs: hdbench is not installed here, so jobs cannot be given it: install it "
            "with pip"
        ) from error
