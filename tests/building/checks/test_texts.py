"""What is wrong with prompt, schema, card and changelog."""

import pytest

from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.card import PLACEHOLDERS
from hdbench.benchmarks.building.recipe import find_recipe


@pytest.mark.parametrize(
    ("card", "said"),
    [
        ("# Cards\n", "does not begin with YAML"),
        ("---\n---\n# Cards\n", "has no keys"),
        ("---\na: [\n---\n# Cards\n", "its YAML cannot be read"),
        ("---\na: &a [*a]\n---\n# Cards\n", "its YAML cannot be read: its aliases (*…) stand for"),
        (f"---\na: [{'x, ' * 350_000}]\n---\n# Cards\n", "larger than 1 MiB"),
        ("---\na: 1\n---\n# {{ spec.title }\n", "{{ spec.title } is not a placeholder"),
    ],
)
def test_a_card_that_cannot_be_used(card, said, folder):
    folder.write("README.md", card)
    problem = folder.only()
    assert (problem.file, problem.severity) == ("README.md", "error")
    assert said in problem.message


def test_prompt_columns_must_match_the_description(folder):
    folder.write("prompt.txt", "Give title, year, place and persons of a card of {century}.")
    assert folder.only().kind == "prompt_column_unlisted"
    folder.spec["prompt_columns"] = ["century"]
    assert folder.check().problems == []
    folder.write("prompt.txt", "Give title, year, place and persons.")
    assert folder.only().kind == "prompt_without_column"


def test_a_file_that_is_not_utf_8(folder):
    (folder.path / "prompt.txt").write_bytes("Gib Titel für die Karte".encode("cp1252"))
    problem = folder.only()
    assert (problem.kind, problem.remedy) == ("file_unusable", "save as UTF-8")


def test_every_placeholder_has_a_value(folder):
    names = [name for name in PLACEHOLDERS if " " not in name]
    body = "".join(f"{{{{ {name} }}}}\n" for name in names)
    folder.write("README.md", f"---\nlanguage: de\n---\n# Cards\n\n{body}")
    assert folder.check().problems == []
    built = build(find_recipe(str(folder.path)), folder.out)
    card = (built.folder / "README.md").read_text()
    assert "{{" not in card
    assert "\n24\n{\n" in card  # the rows, and the example
