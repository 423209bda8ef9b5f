import json

import pytest


@pytest.fixture
def collection(tmp_path):
    """Three items: two with a ground truth, one without."""
    folder = tmp_path / "cards"
    folder.mkdir()
    rows = [
        {
            "file_name": "b1.jpg",
            "id": "b1",
            "ground_truth": {"title": "Faust", "year": 1808},
        },
        {"file_name": "b2.jpg", "id": "b2", "ground_truth": None, "script": "Fraktur"},
        {"file_name": "b3.jpg", "id": "b3", "ground_truth": {"entries": [{"name": "May"}]}},
    ]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    (folder / "metadata.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder
