"""The extras of hdbench: what is missing from one, and the command that installs it here."""

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from hdbench.errors import HdbenchError, Message


class MissingExtraError(HdbenchError):
    """A package of an extra is not installed."""


@contextmanager
def needed(extra: str, subject: str) -> Iterator[None]:
    """Imports that only an extra makes possible.

    Args:
        extra: its name, such as `excel`.
        subject: what needs it, with the verb, such as `Excel files need`; its translations are in
            this package's `messages/`.

    Raises:
        MissingExtraError: a package is missing; the message has the command that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0].replace("_", "-")
        raise MissingExtraError(
            "{what} {package}: install it with: {command}",
            what=Message(subject),
            package=package,
            command=install_command(extra),
        ) from error


def install_command(extra: str) -> str:
    """Return the command that installs an extra here, from the same place as hdbench.

    If that was a checkout or a file, pip recorded it (PEP 610); otherwise it was an index.

    Args:
        extra: its name, such as `vlm`.
    """
    from importlib import metadata  # noqa: PLC0415  slow to import
    from urllib.request import url2pathname  # noqa: PLC0415  slow to import

    try:
        origin = json.loads(metadata.distribution("hdbench").read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:  # a checkout on the path that was never installed
        origin = {}
    url = origin.get("url", "")
    source = [f"hdbench[{extra}]"]
    if "dir_info" in origin:
        editable = ["-e"] if origin["dir_info"].get("editable") else []
        source = [*editable, f"{url2pathname(urlsplit(url).path)}[{extra}]"]
    elif "vcs_info" in origin:
        vcs = origin["vcs_info"]
        source = [f"hdbench[{extra}] @ {vcs['vcs']}+{url}@{vcs['commit_id']}"]
    elif url:
        source = [f"hdbench[{extra}] @ {url}"]
    return shlex.join([sys.executable, "-m", "pip", "install", *source])


def missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed; none without hdbench.

    Args:
        extra: its name.
    """
    if not _is_installed("hdbench"):
        return []
    from importlib import metadata  # noqa: PLC0415  slow to import

    from packaging.requirements import Requirement  # noqa: PLC0415  slow to import

    requirements = [Requirement(line) for line in metadata.requires("hdbench") or ()]
    return [
        requirement.name
        for requirement in requirements
        if requirement.marker
        and requirement.marker.evaluate({"extra": extra})
        and not _is_installed(requirement.name)
    ]


def _is_installed(package: str) -> bool:
    from importlib import metadata  # noqa: PLC0415  slow to import

    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True
