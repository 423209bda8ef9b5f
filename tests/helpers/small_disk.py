"""Disks that are full: a small file system, or, where none may be mounted, a limit on files."""

import os
import resource
import shutil
import subprocess
from contextlib import contextmanager

from hdbench.errors import HdbenchError

PAGE = resource.getpagesize()
"""What a file system in memory gives files room by."""

FORMS = ("mounted", "limited")


def is_saved(save, *arguments):
    """Save something; whether that was acknowledged. A refusal has to say what is to be done."""
    try:
        save(*arguments)
    except HdbenchError as error:
        told = str(error)
    else:
        return True
    assert ": make room" in told, told
    return False


class SmallDisk:
    """A folder on a disk that can be filled and emptied.

    What is written to a full disk fits only into the rest of a file's last page: so it breaks off
    at any byte, which a caller varies by what it wrote before.

    Args:
        folder: where it is.
        is_mounted: whether it is a file system of its own; otherwise the size of files is limited.
    """

    def __init__(self, folder, *, is_mounted):
        self.folder = folder
        self.is_mounted = is_mounted
        self._ballast = folder / ".ballast"
        self._limits = {}

    def fill(self, *, pages=0, process=0, counted_from=None):
        """Leave room for so many pages.

        A limit on files holds for one process only, and counts from the end of the longest file, or
        of the one that is given.
        """
        if not self.is_mounted:
            files = self.folder.rglob("*") if counted_from is None else [counted_from]
            sizes = [file.stat().st_size for file in files if file.is_file()]
            most = (-(-max(sizes, default=0) // PAGE) + pages) * PAGE
            before = resource.prlimit(process, resource.RLIMIT_FSIZE)
            self._limits.setdefault(process, before)
            resource.prlimit(process, resource.RLIMIT_FSIZE, (most, before[1]))
            return
        free = os.statvfs(self.folder)
        with self._ballast.open("ab", buffering=0) as file:
            file.write(bytes((free.f_bavail - pages) * PAGE))
        assert os.statvfs(self.folder).f_bavail == pages

    def make_room(self):
        self._ballast.unlink(missing_ok=True)
        for process, limits in self._limits.items():
            resource.prlimit(process, resource.RLIMIT_FSIZE, limits)
        self._limits.clear()


@contextmanager
def small_disk(folder, form="mounted", *, size="2m"):
    """A disk in a new folder, in one of `FORMS`: a limit where mounting is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
    is_mounted = (
        form == "mounted"
        and shutil.which("mount") is not None
        and not subprocess.run(mount, capture_output=True).returncode
    )
    disk = SmallDisk(folder, is_mounted=is_mounted)
    try:
        yield disk
    finally:
        disk.make_room()
        if is_mounted:
            subprocess.run(["umount", "--lazy", folder], check=True)
