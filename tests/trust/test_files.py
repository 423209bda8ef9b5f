"""Files that are not what they should be are refused before they are read."""

import os

import pytest

from hdbench.collections.trust.control import read_control
from hdbench.collections.trust.decision_file import read_decision
from hdbench.collections.trust.plan import read_plan
from hdbench.collections.trust.work_list import read_listed
from hdbench.errors import HdbenchError

READERS = (read_plan, read_control, read_decision, read_listed)


@pytest.mark.parametrize("read", READERS)
def test_what_never_ends_is_not_read(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HdbenchError, match="pipe: not a file, so it cannot be a"):
        read(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    with pytest.raises(HdbenchError, match="link: not a file"):
        read(tmp_path / "link")


@pytest.mark.parametrize("read", READERS)
def test_what_is_too_large_or_not_there_is_said(tmp_path, read):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(HdbenchError, match=r"large: larger than \d+ MiB: not a"):
        read(tmp_path / "large")
    with pytest.raises(HdbenchError, match="none: cannot be read: No such file"):
        read(tmp_path / "none")
