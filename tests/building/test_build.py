"""Building, by the command line, and everything that can be wrong with a source."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from building.test_errata import SIGNED
from helpers.waiting import until
from PIL import Image

from hdbench.benchmarks.benchmark import PEOPLE, load_benchmark
from hdbench.benchmarks.building.namespace import writing
from hdbench.benchmarks.spec import recipe_names
from hdbench.scoring import METRICS

pytestmark = pytest.mark.slow

COMMIT = "82faeda52ce43844920a4b031ad0b0ede184c94f"


def tree(folder):
    """Every file below a folder, with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def build(published, tmp_path, run_hdbench):
    def run(*arguments, source=published.source, new=False):
        given = ("--source", source) if source else ()
        return run_hdbench(
            "build", published.recipe, "--run-script", *given, *arguments, cwd=tmp_path, new=new
        )

    return run


def assert_refused(done, *parts):
    """One line that names what a person needs, exit status 2, and no output."""
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    for part in parts:
        assert str(part) in done.stderr


def assert_listed(done, *parts):
    """The list of what is wrong with somebody's own folder, exit status 2, and no output."""
    assert done.returncode == 2
    assert done.stdout == ""
    for part in parts:
        assert part in done.stderr


def test_a_build_has_the_documented_form(build, published, tmp_path):
    done = build()
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "hdb/zettelkatalog"
    rows = [json.loads(line) for line in (folder / "metadata.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["00000", "00001", "00002"]
    for row in rows:
        image = folder / row["file_name"]
        assert image.name == f"{row['sha256']}.jpg"
        original = published.path(f"images/{row['id']}.jpg")
        assert image.read_bytes() == original.read_bytes()
        truth = json.loads(published.path(f"ground_truths/{row['id']}.json").read_text())
        assert json.loads(row["ground_truth"]) == truth["response_text"]
        assert row["year"] is None
    assert (folder / "prompt.txt").read_text() == "Read the card."
    benchmark = load_benchmark(str(folder))
    assert benchmark.spec.metric == "zettel_f1"
    assert benchmark.content_hash() in (folder / "README.md").read_text()
    assert (tmp_path / "hdb/zettel_f1/zettel_f1.py").is_file()


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(build, tmp_path):
    assert build().returncode == 0
    first = tree(tmp_path / "hdb")
    assert build(new=True).returncode == 0  # with another hash seed
    assert tree(tmp_path / "hdb") == first
    assert build("--out", "elsewhere").returncode == 0
    assert tree(tmp_path / "elsewhere") == first


def test_an_image_that_two_cards_share_is_there_once(build, published, tmp_path):
    shutil.copy(published.path("images/00000.jpg"), published.path("images/00001.jpg"))
    published.pin()
    assert build().returncode == 0
    assert len(list((tmp_path / "hdb/zettelkatalog/images").iterdir())) == 2


def break_checksum(published):
    published.path("ground_truths/00001.json").write_text("{}")
    return "ground_truths/00001.json: wrong checksum"


def edited(old, new, told):
    """The description with something else in it."""

    def edited(published):
        published.edit_spec(old, new)
        return told

    return edited


def holds(text, told):
    """A ground truth that is what was pinned, but no record."""

    def holds(published):
        published.path("ground_truths/00001.json").write_text(text)
        published.pin()
        return told

    return holds


def cut_image(published):
    image = published.path("images/00001.jpg")
    image.write_bytes(image.read_bytes()[:-100])
    published.pin()
    return "images/00001.jpg: damaged image"


def unusual_image(published):
    Image.new("RGB", (9, 9)).save(published.path("images/00001.jpg"), "BMP")
    published.pin()
    return "images/00001.jpg: not an image that can be used: must be JPEG, PNG, TIFF, WEBP"


def missing_image(published):
    published.path("images/00001.jpg").unlink()
    return "1 media files are missing: benchmarks/library_cards/images/00001.jpg"


def missing_truth(published):
    published.path("ground_truths/00001.json").unlink()
    return "ground_truths/00001.json: no such file"


def wrong_folder(published):
    shutil.rmtree(published.source)
    return "source: no such folder"


def no_licence(published):
    published.edit_spec("licence: cc0-1.0", "licence: other")
    return "--accept-licence"


def stale_erratum(published):
    (published.recipe / "errata.yaml").write_text(
        json.dumps({"exclude": [{"id": "9", "kind": "form", "evidence": "gone", **SIGNED}]})
    )
    return "errata.yaml: excludes '9', which is not in the source"


@pytest.mark.parametrize(
    "spoil",
    [
        break_checksum,
        cut_image,
        unusual_image,
        missing_image,
        missing_truth,
        wrong_folder,
        no_licence,
        stale_erratum,
        holds('{"response_text": ', "ground_truths/00001.json: not JSON"),
        holds('{"response_text": "none"}', "00001.json: no object under response_text"),
        holds('{"response_text": {"title": "x"}}', "00001: its ground truth does not have the"),
        edited("headline:", "headlines:", "benchmark.yaml: headline"),
        edited("metric: zettel_f1", "metric: zettel_f2", "benchmark.yaml: metric: no 'zettel_f2'"),
        edited("headline: f1_micro", "headline: f1", "headline: 'f1' is not a rate of zettel_f1"),
        edited(f"revision: {COMMIT}", "revision: main", "source: revision: must be a commit"),
        edited(f"data_benchmark/{COMMIT}", "data_benchmark/main", "must contain the commit"),
        edited("last_name: string", "last_name: int32", "column last_name: 'Noether 0' is not"),
    ],
)
def test_a_bad_source_stops_the_build_and_leaves_nothing(spoil, build, published, tmp_path):
    message = spoil(published)
    assert_refused(build(), message)
    assert not (tmp_path / "hdb").exists()
    assert_refused(build("--out", "deep/er"), message)
    assert not (tmp_path / "deep").exists()


@pytest.fixture
def build_plain(published, tmp_path, run_hdbench):
    """Build somebody's own benchmark, in the plain form, of the given lines."""
    (published.recipe / "build.py").unlink()
    (published.recipe / "README.md").write_text("---\nlanguage: de\n---\n# {{ rows }} card\n")
    spec = published.recipe / "benchmark.yaml"
    own = spec.read_text().split("columns:")[0]
    (published.recipe / "prompt.txt").write_text("Read.")
    shutil.copy(published.path("images/00000.jpg"), published.recipe / "card.jpg")

    def run(*lines, columns="{}"):
        spec.write_text(f"{own}columns: {columns}\n")
        plain = {"file_name": "card.jpg", "id": "1", "ground_truth": {"a": None, "b": ""}}
        text = "".join(json.dumps({**plain, **line}) + "\n" for line in lines)
        (published.recipe / "metadata.jsonl").write_text(text)
        return run_hdbench("build", published.recipe, cwd=tmp_path)

    return run


def test_errata_hold_for_the_plain_form_too(build_plain, published, tmp_path):
    form = SIGNED | {"kind": "form"}
    wrong = {"id": "1", "field": "b", "old": "", "new": [], "evidence": "a list elsewhere"} | form
    misread = wrong | {"field": "a", "kind": "value", "old": None, "new": "y"}
    errata = {"corrections": [wrong, misread], "exclude": [{"id": "2", "evidence": "torn"} | form]}
    (published.recipe / "errata.yaml").write_text(json.dumps(errata))  # JSON is YAML
    done = build_plain({}, {"id": "2"})
    assert done.returncode == 0, done.stderr
    (line,) = (tmp_path / "hdb/zettelkatalog/metadata.jsonl").read_text().splitlines()
    truths = {
        name: json.loads(text)
        for name, text in json.loads(line).items()
        if name.startswith("ground_truth")
    }
    assert truths == {
        "ground_truth": {"a": None, "b": []},
        "ground_truth_published": {"a": None, "b": ""},
        "ground_truth_proposed": {"a": "y", "b": []},
    }


def test_each_row_has_its_published_truth_in_any_source_form(build_plain, tmp_path):
    truth, published = {"a": None, "b": ""}, {"a": "x"}
    sources = [
        {"id": "1"},
        {"id": "2", "ground_truth_published": published},
        {"id": "3", "ground_truth": None, "ground_truth_published": published},
    ]
    done = build_plain(*sources)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "hdb/zettelkatalog/metadata.jsonl").read_text().splitlines()
    found = [
        [json.loads(row[column] or "null") for column in row if column.startswith("ground_truth")]
        for row in map(json.loads, lines)
    ]
    assert found == [[truth, truth], [truth, published], [None, None]]


def test_a_path_out_of_the_folder_is_refused(published, tmp_path, run_hdbench):
    sample = published.recipe / "sample"
    shutil.rmtree(sample, ignore_errors=True)
    sample.mkdir()
    (tmp_path / "secret.jpg").write_bytes(published.path("images/00000.jpg").read_bytes())
    (sample / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    truth = json.loads(published.path("ground_truths/00000.json").read_text())["response_text"]
    for name in ("../../secret.jpg", str(tmp_path / "secret.jpg"), "link.jpg"):
        line = {"file_name": name, "id": "1", "ground_truth": truth}
        (sample / "metadata.jsonl").write_text(json.dumps(line))
        done = run_hdbench("build", published.recipe, "--run-script", "--sample", cwd=tmp_path)
        assert_refused(done, "leads out of")


def test_a_row_without_its_image_stays_and_the_card_says_so(build, published, tmp_path):
    missing_image(published)
    published.path("images/00000.jpg").unlink()
    done = build("--allow-missing")
    assert done.returncode == 0, done.stderr
    assert "3 rows, 2 files missing" in done.stdout
    folder = tmp_path / "hdb/zettelkatalog"
    rows = [json.loads(line) for line in (folder / "metadata.jsonl").read_text().splitlines()]
    assert [row["file_name"] is None for row in rows] == [True, True, False]
    card = (folder / "README.md").read_text()
    assert "Images that are missing here" in card
    assert "images/00001.jpg" in card
    script = (
        "from datasets import load_dataset\n"
        "rows = load_dataset('hdb/zettelkatalog', split='test')\n"
        "print([row['image'] is None for row in rows])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ | {"HF_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert loaded.stdout == "[True, True, False]\n", loaded.stderr


def test_a_folder_that_hdbench_did_not_make_is_never_replaced(build, tmp_path):
    own = tmp_path / "hdb/zettelkatalog"
    own.mkdir(parents=True)
    (own / "notes.txt").write_text("mine")
    assert_refused(build(), "hdb/zettelkatalog: exists already and was not built by hdbench")
    assert tree(tmp_path / "hdb") == {"zettelkatalog/notes.txt": b"mine"}


@pytest.mark.slow
def test_killed_build_keeps_the_old_one_and_can_be_repeated(
    published, tmp_path, run_hdbench, build
):
    assert build().returncode == 0
    before = tree(tmp_path / "hdb")
    # The recipe's own script holds the build up in the middle, with a part written.
    script = published.recipe / "build.py"
    sound = script.read_text()
    held_up = (
        "        if card == '00002':\n            __import__('time').sleep(600)\n"
        "        yield RecipeRow("
    )
    script.write_text(sound.replace("        yield RecipeRow(", held_up))
    given = [published.recipe, "--run-script", "--source", published.source]
    command = [sys.executable, "-m", "hdbench", "build", *given]
    partial = tmp_path / "hdb/.zettelkatalog.partial"
    with subprocess.Popen(command, cwd=tmp_path) as process:
        try:
            until(lambda: len(list((partial / "images").glob("*"))) == 2, "the build")
            assert_refused(build(), "hdb/zettelkatalog: another hdbench is building it")
        finally:
            process.kill()
    visible = {path: data for path, data in tree(tmp_path / "hdb").items() if path[0] != "."}
    assert visible == before
    script.write_text(sound)
    assert build().returncode == 0
    assert tree(tmp_path / "hdb") == before


def test_all_names_build_the_whole_namespace(tmp_path, run_hdbench):
    done = run_hdbench("build", *recipe_names(), "--sample", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    built = {folder.name for folder in (tmp_path / "hdb").iterdir()}
    assert built == {*recipe_names(), *METRICS, "scorer"}
    assert len(built) == 16


def test_what_people_read_stays_when_it_is_built_again(tmp_path):
    for title in ("first", "second"):
        with writing(tmp_path, "cards") as folder:
            (folder / "README.md").write_text(title)
        if title == "first":
            (tmp_path / "cards" / PEOPLE).mkdir()
            (tmp_path / "cards" / PEOPLE / "anna.jsonl").write_text('{"id": 1}\n')
    assert (tmp_path / "cards/README.md").read_text() == "second"
    assert (tmp_path / "cards" / PEOPLE / "anna.jsonl").read_text() == '{"id": 1}\n'
