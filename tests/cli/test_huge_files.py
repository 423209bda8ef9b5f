"""Files that are larger than any memory, where a command expects small ones: one line says so."""

import json
import os
import subprocess
import sys

import pytest
from annotating.pages import write_collection
from helpers.bad_inputs import complaint
from helpers.planned_cards import SCHEMA
from helpers.run_folders import write_cards, write_run

from hdbench.collections.truth.media import CollectionMedia
from hdbench.errors import HdbenchError

# Without the limit, a file that grows line by line in the memory would take all of the machine's.
RUN = """
import resource, runpy
resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))
runpy.run_module("hdbench", run_name="__main__")
"""

COMMANDS = {
    "run/run.json": ["score cards run"],
    "cards/answer.schema.json": ["score cards one.jsonl", "run cards --model m {endpoint} -o new"],
    "cards/prompt.txt": ["score cards one.jsonl", "run cards --model m {endpoint} -o new"],
    "collection/metadata.jsonl": ["annotate collection --port 0", "agreement collection"],
    "collection/answer.schema.json": ["annotate collection --port 0"],
}


def make_huge(path, size=2**40):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size)  # which takes no room on the disk
    path.chmod(0o600)


@pytest.fixture
def folder(tmp_path):
    write_cards(tmp_path)
    (tmp_path / "hdb/cards").rename(tmp_path / "cards")
    (tmp_path / "cards/answer.schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "cards/prompt.txt").write_text("Read the card.")
    (tmp_path / "one.jsonl").write_text('{"id": "0001", "prediction": {"title": "Stellingen"}}\n')
    write_run(tmp_path / "run", {"0001": {"text": "{}"}})
    write_collection(tmp_path / "collection")
    return tmp_path


@pytest.mark.nightly
@pytest.mark.parametrize("name", COMMANDS)
def test_a_huge_file_is_refused_in_one_line(folder, name):
    make_huge(folder / name)
    for command in COMMANDS[name]:
        words = command.format(endpoint="--endpoint http://127.0.0.1:9/v1").split()
        done = subprocess.run(
            [sys.executable, "-c", RUN, *words],
            cwd=folder,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert complaint(done) is None, command
        assert done.returncode == 2, command
        assert folder.joinpath(name).name in done.stderr, command
        assert "MiB" in done.stderr, command


def test_a_huge_image_is_not_read_for_the_editor(folder):
    make_huge(folder / "collection/images/card.png")
    media = CollectionMedia(folder / "collection")
    item = next(iter(media.items))
    with pytest.raises(HdbenchError, match=r"cannot be shown: larger than 1 GiB$"):
        media.picture(item, 0)
