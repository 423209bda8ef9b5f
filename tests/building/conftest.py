import hashlib
import io
import json
import shutil
from pathlib import Path

import pytest
from PIL import Image

from hdbench.about import installed_folder

FOLDER = "benchmarks/library_cards"

TRUTH = {
    "type": {"type": "Reference"},
    "author": {"last_name": "Noether", "first_name": ""},
    "publication": {
        "title": "s. Noether, Emmy",
        "year": "",
        "place": None,
        "pages": None,
        "publisher": None,
        "format": None,
    },
    "library_reference": {"shelfmark": "", "subjects": ""},
}


def jpeg(color) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (96, 58), color).save(file, "JPEG")
    return file.getvalue()


class Published:
    """A little source in the published layout, and a copy of the recipe that is pinned to it."""

    def __init__(self, folder: Path) -> None:
        self.source, self.recipe = folder / "source", folder / "cards"
        shutil.copytree(installed_folder("dataset_scripts") / "zettelkatalog", self.recipe)
        (self.recipe / "errata.yaml").unlink()
        self.edit_spec("version: 1.1.1", "version: 1.0.0")  # before there were errata
        (self.recipe / "CHANGELOG.md").write_text("# Changelog\n\n## 1.0.0\n\n- First version.\n")
        for number in range(3):
            self.write(f"{FOLDER}/images/0000{number}.jpg", jpeg((200, 190, 10 * number)))
            truth = TRUTH | {"author": {"last_name": f"Noether {number}", "first_name": ""}}
            self.write_json(f"{FOLDER}/ground_truths/0000{number}.json", {"response_text": truth})
        self.write(f"{FOLDER}/prompts/prompt.txt", b"Read the card.")
        self.pin()

    def path(self, name: str) -> Path:
        return self.source / FOLDER / name

    def write(self, path: str, data: bytes) -> None:
        (self.source / path).parent.mkdir(parents=True, exist_ok=True)
        (self.source / path).write_bytes(data)

    def write_json(self, path: str, value) -> None:
        self.write(path, json.dumps(value).encode())

    def pin(self) -> None:
        """Take the source's files as they are for the published ones."""
        files = sorted(path for path in self.source.rglob("*") if path.is_file())
        lines = [
            f"{file.relative_to(self.source).as_posix()} "
            f"{hashlib.sha256(file.read_bytes()).hexdigest()}\n"
            for file in files
        ]
        (self.recipe / "registry.txt").write_text("".join(lines))

    def edit_spec(self, old: str, new: str) -> None:
        path = self.recipe / "benchmark.yaml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


@pytest.fixture
def published(tmp_path) -> Published:
    return Published(tmp_path)
