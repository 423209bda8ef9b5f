"""A little benchmark of texts, in the plain form."""

import json

import yaml

SPEC = {
    "name": "lines",
    "title": "Lines",
    "version": "1.0.0",
    "metric": "text_cer",
    "headline": "cer",
    "higher_is_better": False,
    "media": "text",
    "split": "test",
    "licence": "cc0-1.0",
    "citation": "",
}
CARD = "---\nlanguage: de\nlicense: cc0-1.0\n---\n# Lines\n\n{{ rows }} lines. {{ example }}\n"


def write_lines(folder, rows, **spec):
    """The benchmark in a new folder.

    Args:
        folder: where.
        rows: its items.
        **spec: more for its benchmark.yaml.
    """
    folder.mkdir()
    files = {
        "metadata.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "benchmark.yaml": yaml.safe_dump(SPEC | spec),
        "prompt.txt": "Spell this as today, as JSON: {text}\n",
        "answer.schema.json": '{"type": "object"}',
        "README.md": CARD,
        "CHANGELOG.md": "# Changelog\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
