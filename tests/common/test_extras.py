"""The command for a missing extra, from what pip records of where hdbench came from (PEP 610)."""

import json
import shlex
import sys

import pytest

from hdbench.common.extras import install_command, missing_packages

METADATA = """\
Metadata-Version: 2.4
Name: hdbench
Version: 0.1.0
Provides-Extra: vlm
Provides-Extra: space
Requires-Dist: of-the-core-and-absent>=1
Requires-Dist: pytest>=8; extra == 'vlm'
Requires-Dist: absent-vision>=0.21; extra == 'vlm'
Requires-Dist: of-windows-and-absent; sys_platform == 'nowhere' and extra == 'vlm'
Requires-Dist: absent-pages<7,>=6; extra == 'space'
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Where the metadata of an installed hdbench is found first."""
    folder = tmp_path / "hdbench-0.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(METADATA)
    monkeypatch.syspath_prepend(tmp_path)
    return folder


@pytest.mark.parametrize(
    ("origin", "arguments"),
    [
        ({"url": "file:///home/a%20b/hdbench", "dir_info": {}}, ["/home/a b/hdbench[vlm]"]),
        (
            {"url": "file:///home/hdbench", "dir_info": {"editable": True}},
            ["-e", "/home/hdbench[vlm]"],
        ),
        (
            {"url": "file:///home/hdbench-0.1.0.whl", "archive_info": {}},
            ["hdbench[vlm] @ file:///home/hdbench-0.1.0.whl"],
        ),
        (
            {
                "url": "https://example.org/hdbench.git",
                "vcs_info": {"vcs": "git", "requested_revision": "main", "commit_id": "0a1b"},
            },
            ["hdbench[vlm] @ git+https://example.org/hdbench.git@0a1b"],
        ),
    ],
)
def test_an_extra_comes_from_where_hdbench_came(installed, origin, arguments):
    (installed / "direct_url.json").write_text(json.dumps(origin))
    command = shlex.split(install_command("vlm"))
    assert command == [sys.executable, "-m", "pip", "install", *arguments]


def test_missing_packages_are_those_needed_but_not_installed(installed):
    assert missing_packages("vlm") == ["absent-vision"]
    assert missing_packages("space") == ["absent-pages"]
