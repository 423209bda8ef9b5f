"""A recipe in the plain form."""

import json
import re

from hdbench.common import resources


def write_recipe(folder, truths):
    """A recipe of cards in version 1.0.0, with an item for each of the ground truths, by id."""
    folder.mkdir()
    recipe = resources.folder("dataset_scripts") / "zettelkatalog"
    spec = (recipe / "benchmark.yaml").read_text().split("columns:")[0]
    (folder / "benchmark.yaml").write_text(re.sub(r"(?m)^version: .*$", "version: 1.0.0", spec))
    (folder / "CHANGELOG.md").write_text("# Changelog\n")
    rows = [
        {"id": item, "file_name": "1.jpg", "ground_truth": truth} for item, truth in truths.items()
    ]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder
