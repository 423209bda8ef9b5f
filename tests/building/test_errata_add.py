"""`hdbench errata add`: a correction is recorded, and building makes a new version of it."""

import json
import os
import shutil
import subprocess
import sys
import textwrap

import pytest
import yaml
from building.test_errata import SIGNED
from helpers.recipes import write_recipe

from hdbench.common import resources
from hdbench.common.jsonio import read_jsonl
from hdbench.datasets.building.errata_add import add_correction
from hdbench.datasets.building.recipe import find_recipe
from hdbench.errors import HdbenchError

RECIPES = sorted(
    path.parent.name for path in resources.folder("dataset_scripts").glob("*/errata.yaml")
)

ISSUE = "https://github.com/them/cards/issues/7"


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def build(published, run_hdbench, tmp_path):
    def run():
        done = run_hdbench(
            "build", published.recipe, "--run-script", "--source", published.source, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return [line.value for line in read_jsonl(tmp_path / "hdb/zettelkatalog/metadata.jsonl")]

    return run


@pytest.fixture
def add(published, run_hdbench, tmp_path):
    def run(*arguments, evidence="the card's image", kind="form"):
        return run_hdbench(
            *("errata", "add", published.recipe, *arguments, "--evidence", evidence),
            *("--kind", kind),
            *("--proposed-by", "Anna Muster", "--approved-by", "Berta Beispiel"),
            cwd=tmp_path,
        )

    return run


@pytest.fixture
def plain(tmp_path):
    """A recipe in the plain form with two equal items, and a function to correct them."""
    truth = {"title": "s. Noether", "year": 1907, "number": "1907", "note": None, "tags": ["a"]}
    truth["author"] = {"last_name": "Noether"}
    folder = write_recipe(tmp_path / "theircards", {"1": truth, "2": truth})

    def correct(field, old, new, *, item="1", kind="form", accepted=None):
        values = {"kind": kind, "old": old, "new": new, "evidence": "the image"}
        values |= {"accepted": accepted}
        add_correction(str(folder), item, field, **values, **SIGNED, out=tmp_path / "hdb")
        return find_recipe(str(folder))

    return correct


@pytest.mark.slow
def test_build_gives_a_new_version_keeping_published_truth(
    build, add, published, run_hdbench, tmp_path
):
    before = build()
    correction = ("00001", "author.last_name", "Noether 1", "Nöther")
    done = add(*correction, "--upstream", ISSUE, evidence="the  card's\nimage.")
    assert done.returncode == 0, done.stderr
    assert "errata.yaml: recorded as version 1.0.1\n" in done.stdout
    after = build()
    assert (after[0], after[2]) == (before[0], before[2])
    wrong = json.loads(before[1]["ground_truth"])
    right = wrong | {"author": {"last_name": "Nöther", "first_name": ""}}
    assert json.loads(after[1]["ground_truth"]) == right
    assert json.loads(after[1]["ground_truth_published"]) == wrong
    assert after[1]["last_name"] == "Nöther"

    built = tmp_path / "hdb/zettelkatalog"
    assert yaml.safe_load((built / "benchmark.yaml").read_text())["version"] == "1.0.1"
    listed = (
        "- `00001`, `author.last_name`: the card's image. Proposed by Anna Muster, approved by "
        f"Berta Beispiel; [reported]({ISSUE}).\n"
    )
    assert listed in (built / "README.md").read_text()
    changelog = (built / "CHANGELOG.md").read_text()
    change = 'was `"Noether 1"`, is now `"Nöther"`'
    entry = (
        f"\n## 1.0.1\n\n- `00001`, `author.last_name`, {change}: the card's image.\n\n## 1.0.0\n"
    )
    assert entry in changelog

    # An answer with the published name is right under the published protocol alone: of the fields
    # last_name, title and type, and the empty ones that the documented protocol counts too.
    answers = [{"id": row["id"], "prediction": json.loads(row["ground_truth"])} for row in before]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    errors = {}
    for protocol in ("documented", "published"):
        done = run_hdbench(
            *("score", "hdb/zettelkatalog", "answers.jsonl", "--json", "result.json"),
            *("--protocol", protocol),
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        result = json.loads((tmp_path / "result.json").read_text())
        assert result["dataset_version"] == "1.0.1"
        errors[protocol] = result["false_positives"], result["false_negatives"]
    assert errors == {"documented": (1, 1), "published": (0, 0)}


def test_unbuilt_correction_is_recorded_and_checked_by_the_build(
    add, published, run_hdbench, tmp_path
):
    done = add("00001", "author.last_name", "Nother", "Nöther")
    assert done.returncode == 0, done.stderr
    assert "not yet compared with the published ground truth" in done.stdout
    done = run_hdbench(
        "build", published.recipe, "--run-script", "--source", published.source, cwd=tmp_path
    )
    assert done.returncode == 2
    assert "the source does not have 'Nother' there" in done.stderr


def test_a_built_sample_is_not_taken_for_the_benchmark(add, published, run_hdbench, tmp_path):
    done = run_hdbench("build", published.recipe, "--run-script", "--sample", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = add("00001", "author.last_name", "Noether 1", "Nöther")
    assert done.returncode == 0, done.stderr
    assert "not yet compared" in done.stdout


@pytest.mark.parametrize(
    ("item", "field", "old", "message"),
    [
        ("9", "title", "s. Noether", "^9: zettelkatalog has no such item"),
        ("1", "author.name", "Noether", "^1 author.name: there is no such field"),
        ("1", "authors[0].last_name", "Noether", "there is no such field"),
        ("1", "tags[0].last_name", "null", "there is no such field"),
        ("1", "note", "Bern", "there is no such field"),
        ("1", "author.last_name", "Nother", 'is "Noether", not "Nother"$'),
        ("1", "year", '"1907"', 'the published value is 1907, not "1907"$'),
        ("1", "title", "null", 'the published value is "s. Noether", not absent$'),
        ("1", "tags[0]", "a", r"'tags\[0\]' is not a path to a key"),
        ("1", "author..last_name", "Noether", "is not a path to a key"),
        ("2", "title", "s. Noether", 'errata.yaml: already corrects 2 title, to "Nöther"$'),
        ("2", "author.last_name", "Noether", "another entry already corrects 2 author.last_name"),
    ],
)
def test_what_cannot_be_right_is_refused_and_changes_nothing(plain, item, field, old, message):
    plain("title", "s. Noether", "Nöther", item="2")
    recipe = plain("author.last_name", "Noether", "Nöther", item="*")
    before = files(recipe.folder)
    with pytest.raises(HdbenchError, match=message):
        plain(field, old, "x", item=item)
    with pytest.raises(HdbenchError, match="are the same"):
        plain("year", "1907", "1907")
    assert files(recipe.folder) == before


def test_it_is_refused_in_one_line(add, published):
    done = add("00001", "author[0]", "Noether 1", "x")
    assert done.returncode == 2
    assert done.stderr == (
        f"error: {published.recipe}/errata.yaml: field: 'author[0]' is not a path to a key, such "
        "as advertisements[3].date\n"
    )
    assert "--evidence: is empty" in add("1", "title", "a", "b", evidence=" ").stderr


def test_it_says_what_is_missing_in_a_recipe(plain, tmp_path):
    folder = tmp_path / "theircards"
    spec = (folder / "benchmark.yaml").read_text()
    (folder / "benchmark.yaml").write_text(spec.replace("version: 1.0.0", "version: 2024a"))
    with pytest.raises(HdbenchError, match=r"benchmark\.yaml: version: '2024a' is not X\.Y\.Z"):
        plain("year", "1907", "1908")
    (folder / "benchmark.yaml").write_text(spec.replace("version: 1.0.0", 'version: "1.0.9"'))
    (folder / "CHANGELOG.md").unlink()
    with pytest.raises(HdbenchError, match=r"CHANGELOG\.md: no such file"):
        plain("year", "1907", "1908")
    assert not (folder / "errata.yaml").exists()
    (folder / "CHANGELOG.md").write_text("")
    assert plain("year", "1907", "1908").spec.version == "1.0.10"


def test_a_number_that_json_does_not_have_is_refused_in_a_recipe(plain, tmp_path):
    metadata = tmp_path / "theircards/metadata.jsonl"
    metadata.write_text(metadata.read_text().replace(" 1907,", " NaN,", 1))
    with pytest.raises(HdbenchError, match=r"jsonl:1: .*, ground_truth\.year: NaN is not JSON"):
        plain("title", "s. Noether", "Nöther")


@pytest.mark.parametrize("name", RECIPES)
def test_what_is_in_the_file_stays_as_it_is_to_the_letter(name, tmp_path):
    recipe = tmp_path / name
    shutil.copytree(resources.folder("dataset_scripts") / name, recipe)
    path = recipe / "errata.yaml"
    path.write_text(path.read_text() + "  # the end\n")
    before, known = path.read_text(), find_recipe(str(recipe)).errata
    entry = {"kind": "form", "old": "a", "new": "b", "evidence": "c", **SIGNED}
    for number in ("1", "2"):
        add_correction(str(recipe), number, "x", **entry, out=tmp_path / "hdb")
    assert path.read_text().startswith(before)
    errata = find_recipe(str(recipe)).errata
    assert errata.exclude == known.exclude
    assert errata.corrections[:-2] == known.corrections
    assert [item.id for item in errata.corrections[-2:]] == ["1", "2"]


EXCLUDED = (
    'exclude:\n  - {id: "3", kind: form, evidence: "no, torn", proposed_by: A, '
    "approved_by: B}  # one\n"
)
ENTRY = """\
- id: "1"
  field: "note"
  kind: "form"
  old: null
  new: "torn"
  evidence: "the image"
  proposed_by: "Anna Muster"
  approved_by: "Berta Beispiel"
"""


OTHER = ENTRY.replace("note", "place")
INDENTED = textwrap.indent(OTHER, "    ").replace('- id: "1"', '- id: &one "1"')


@pytest.mark.parametrize(
    ("before", "after", "indent"),
    [
        ("corrections: []\n# end\n", "corrections:\nNEXT# end\n", 2),
        (f"corrections: []\n{EXCLUDED}", f"corrections:\nNEXT{EXCLUDED}", 2),
        (EXCLUDED, f"{EXCLUDED}corrections:\nNEXT", 2),
        (f"corrections:\n{OTHER}{EXCLUDED}", f"corrections:\n{OTHER}NEXT{EXCLUDED}", 0),
        (f"corrections:\n{INDENTED}    # end\n", f"corrections:\n{INDENTED}    # end\nNEXT", 4),
        (f"corrections:\n{INDENTED[:-1]}", f"corrections:\n{INDENTED}NEXT", 4),
    ],
)
def test_the_next_correction_is_written_at_the_end_of_the_list(
    plain, tmp_path, before, after, indent
):
    path = tmp_path / "theircards/errata.yaml"
    path.write_text(before)
    plain("note", "null", "torn")
    assert path.read_text() == after.replace("NEXT", textwrap.indent(ENTRY, " " * indent))


BRACES = (
    '{id: "2", field: note, kind: form, old: null, new: x, evidence: e, proposed_by: A, '
    "approved_by: B}"
)


@pytest.mark.parametrize("text", [f"corrections: [{BRACES}]\n", "{corrections: [], exclude: []}\n"])
def test_what_is_in_braces_is_left_to_an_editor(plain, tmp_path, text):
    path = tmp_path / "theircards/errata.yaml"
    path.write_text(text)
    with pytest.raises(
        HdbenchError, match="cannot be added to in its present form: edit it by hand"
    ):
        plain("note", "null", "torn")
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("field", "old", "new", "recorded"),
    [
        ("year", "1907", "1908", (1907, 1908)),
        ("number", "1907", "1908", ("1907", "1908")),
        ("number", '"1907"', "1908", ("1907", 1908)),
        ("number", "1907", "null", ("1907", None)),
        ("note", "null", "null and void", (None, "null and void")),
        ("place", "null", "Bern", (None, "Bern")),
        ("tags", '["a"]', '["a", "no", "12:30"]', (["a"], ["a", "no", "12:30"])),
        ("title", "s. Noether", "no", ("s. Noether", "no")),
        ("title", "s. Noether", "1731-01-02", ("s. Noether", "1731-01-02")),
        ("title", "s. Noether", "12:30", ("s. Noether", "12:30")),
        ("title", "s. Noether", "~", ("s. Noether", "~")),
        ("title", "s. Noether", "- a: #b\n\t'\"\\ \x1b\u2028😀 ", None),
        ("title", "s. Noether", "word " * 60, None),
    ],
)
def test_corrected_value_keeps_the_type_of_the_published_one(plain, field, old, new, recorded):
    (correction,) = plain(field, old, new).errata.corrections
    assert (correction.old, correction.new) == (recorded or (old, new))
    assert type(correction.new) is type((recorded or (old, new))[1])


def test_list_item_is_addressed_by_dots_or_brackets(tmp_path):
    truth = {"companies": [{"city": "Basle"}, {"city": "Bern"}], "pages": {"0": {"no": 7}}}
    folder = write_recipe(tmp_path / "lists", {"1": truth})

    def correct(field, old, new):
        values = {"kind": "form", "old": old, "new": new, "evidence": "the image"}
        add_correction(str(folder), "1", field, **values, **SIGNED, out=tmp_path / "hdb")
        return find_recipe(str(folder)).errata.corrections[-1].field

    assert correct("companies.0.city", "Basle", "Basel") == "companies[0].city"
    assert correct("companies[1].city", "Bern", "null") == "companies[1].city"
    assert correct("pages.0.no", "7", "8") == "pages.0.no"
    with pytest.raises(
        HdbenchError, match=r"no such field .*; did you mean companies\[0\]\.city\?"
    ):
        correct("companies.0.cty", "Basle", "Basel")
    changelog = (folder / "CHANGELOG.md").read_text()
    entries = [line for line in changelog.splitlines() if "is now" in line]
    assert entries == [  # the newest first
        "- `1`, `pages.0.no`, was `7`, is now `8`: the image.",
        '- `1`, `companies[1].city`, was `"Bern"`, is now absent: the image.',
        '- `1`, `companies[0].city`, was `"Basle"`, is now `"Basel"`: the image.',
    ]


def test_each_correction_is_a_version_of_its_own(plain):
    assert plain("year", "1907", "1908").spec.version == "1.0.1"
    recipe = plain("note", "null", "torn", item="*")
    assert recipe.spec.version == "1.0.2"
    changelog = (recipe.folder / "CHANGELOG.md").read_text()
    assert changelog.index("## 1.0.2\n\n- every item, `note`") < changelog.index(
        "## 1.0.1\n\n- `1`"
    )
    with pytest.raises(HdbenchError, match="already corrects 1 year, to 1908"):
        plain("year", "1907", "1909")


def test_where_a_file_cannot_be_written_none_is_changed(published, tmp_path):
    changelog = published.recipe / "CHANGELOG.md"
    changelog.write_text(changelog.read_text() + "- x\n" * 60_000)
    before = files(published.recipe)
    command = [sys.executable, "-m", "hdbench", "errata", "add", str(published.recipe)]
    correction = ["00001", "author.last_name", "Noether 1", "Nöther", "--evidence", "the image"]
    correction += ["--proposed-by", "Anna", "--approved-by", "Berta", "--kind", "form"]
    # No file may be larger than 100 KiB, as on a disk that becomes full.
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 100; exec "$@"', "bash", *command, *correction],
        cwd=tmp_path,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2
    assert "CHANGELOG.md: cannot be written: File too large" in done.stderr
    assert files(published.recipe) == before


def test_correction_is_written_in_reading_order_with_its_author(plain):
    recipe = plain("note", "null", "torn")
    [entry] = yaml.safe_load((recipe.folder / "errata.yaml").read_text())["corrections"]
    assert list(entry.items()) == [
        ("id", "1"),
        ("field", "note"),
        ("kind", "form"),
        ("old", None),
        ("new", "torn"),
        ("evidence", "the image"),
        *SIGNED.items(),
    ]


@pytest.mark.parametrize("missing", ["--evidence", "--proposed-by", "--approved-by", "--kind"])
def test_nobody_is_named_in_somebody_s_place(published, run_hdbench, tmp_path, missing):
    before = files(published.recipe)
    options = {"--evidence": "the image", "--proposed-by": "Anna", "--approved-by": "Berta"}
    options["--kind"] = "form"
    del options[missing]
    given = [each for option in options.items() for each in option]
    arguments = ("00001", "author.last_name", "Noether 1", "x")
    done = run_hdbench("errata", "add", published.recipe, *arguments, *given, cwd=tmp_path)
    assert done.returncode == 2
    assert missing in done.stderr
    assert files(published.recipe) == before


def test_a_value_is_proposed_until_the_owners_accept_it(plain):
    recipe = plain("year", "1907", "1908", kind="value")
    [row, _] = recipe.rows(recipe.source(None))
    assert (row.ground_truth["year"], row.proposed["year"]) == (1907, 1908)
    changelog = (recipe.folder / "CHANGELOG.md").read_text()
    assert "- `1`, `year`, was `1907`, proposed is `1908`: the image.\n" in changelog
    with pytest.raises(HdbenchError, match="already corrects 1 year, to 1908"):
        plain("year", "1907", "1909", kind="value")

    description = recipe.folder / "benchmark.yaml"
    said = yaml.safe_load(description.read_text())
    owners = said.pop("owners")
    own = resources.folder("dataset_scripts") / "zettelkatalog/benchmark.yaml"
    said["source"] = yaml.safe_load(own.read_text())["source"]
    description.write_text(yaml.safe_dump(said))
    before = files(recipe.folder)
    with pytest.raises(HdbenchError, match=r"1 note: is accepted, .*: name them under owners$"):
        plain("note", "null", "torn", kind="value", accepted=ISSUE)
    assert files(recipe.folder) == before
    description.write_text(yaml.safe_dump(said | {"owners": owners}))
    recipe = plain("note", "null", "torn", kind="value", accepted=ISSUE)
    [row, _] = recipe.rows(recipe.source(None))
    assert (row.ground_truth["note"], row.published["note"]) == ("torn", None)
    assert (row.ground_truth["year"], row.proposed["note"]) == (1907, "torn")
    [_, accepted] = recipe.errata.corrections
    assert accepted.signed == (
        "Proposed by Anna Muster, approved by Berta Beispiel. "
        f"[Accepted]({ISSUE}) by the data's owners."
    )

    description.write_text(yaml.safe_dump(said))
    with pytest.raises(HdbenchError, match=r"errata\.yaml: 1 note: is accepted, and benchmark"):
        find_recipe(str(recipe.folder))
    del said["source"]  # then the data are those of whoever makes the benchmark
    description.write_text(yaml.safe_dump(said))
    assert find_recipe(str(recipe.folder)).errata == recipe.errata
