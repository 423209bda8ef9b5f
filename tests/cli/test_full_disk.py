"""Commands that write a folder or a table onto a full disk: one line says where to make room."""

import json
import shutil
from pathlib import Path

import pytest
from annotating.pages import write_collection
from helpers.bad_inputs import complaint
from helpers.planned_cards import SCHEMA
from helpers.run_folders import RIGHT, write_cards
from helpers.small_disk import FORMS, small_disk

# Command → what it writes, or the folder that it writes into.
COMMANDS = {
    "new letters collection/images": "letters",
    "build letters --accept-licence --out built": "built/letters",
    "demo zettelkatalog": "hdb/zettelkatalog",
    "report one.jsonl hdb/cards -o report": "report",
    "compare hdb/cards one.jsonl two.jsonl --json c.json": "c.json",
}

WITH_SCRATCH = ("demo", "report", "compare")
"""Commands that write into the temporary folder, which a limit on files holds for, too."""


@pytest.mark.nightly
@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_is_said_with_the_place_and_what_to_do(tmp_path, run_hdbench, form):
    with small_disk(tmp_path / "disk", form, size="8m") as disk:
        folder = disk.folder
        (folder / "empty").touch()
        write_cards(folder)
        (folder / "hdb/cards/answer.schema.json").write_text(json.dumps(SCHEMA))
        write_collection(folder / "collection")
        assert run_hdbench("new", "letters", "collection/images", cwd=folder).returncode == 0
        for name in ("one", "two"):
            lines = [{"id": f"000{number}", "prediction": RIGHT} for number in range(4)]
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (folder / f"{name}.jsonl").write_text(text)
        shutil.move(folder / "letters", folder / "kept")
        wrong = {}
        for command, place in COMMANDS.items():
            if "build" in command:
                shutil.move(folder / "kept", folder / "letters")
            if not disk.is_mounted and any(word in command for word in WITH_SCRATCH):
                continue
            disk.fill(counted_from=folder / "empty")
            done = run_hdbench(*command.split(), cwd=folder, new=True)
            disk.make_room()
            said = done.stderr.splitlines()[-1:] or [""]
            is_said = Path(place).name in said[0] and said[0].endswith(": make room")
            if complaint(done) or done.returncode != 2 or not is_said:
                wrong[command] = done.stderr[-600:]
        assert wrong == {}, "\n".join(map(str, wrong.items()))
        left = {path.name for path in folder.iterdir() if path.name != ".ballast"}
        assert left <= {"empty", "hdb", "collection", "letters", "one.jsonl", "two.jsonl"}
        assert {path.name for path in (folder / "hdb").iterdir()} == {"cards"}
