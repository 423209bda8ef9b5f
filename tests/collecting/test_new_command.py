"""`hdbench new` as a person calls it, with and without a terminal."""

import csv
import json
import os
import pty
import subprocess
import sys

import pymarc
import pytest
import yaml
from helpers.results import flat_of
from PIL import Image

from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.titles import FieldTitles

pytestmark = pytest.mark.slow

TABLE = "Datei;Verfasser;Jahr;Orte\nb1;Frey;1912;Basel | Bern\nb2;Huber;1913;Chur | Thun\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "scans").mkdir()
    for number in (1, 2, 3):
        Image.new("RGB", (9, 9), (number, 0, 0)).save(tmp_path / f"scans/b{number}.png")
    (tmp_path / "t.csv").write_text(TABLE)
    return tmp_path


def rows(folder, name="letters"):
    lines = (folder / name / "metadata.jsonl").read_text().splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def spec(folder, name="letters"):
    return yaml.safe_load((folder / name / "benchmark.yaml").read_text())


def test_a_table_becomes_a_benchmark_that_builds(folder, run_hdbench):
    done = run_hdbench("new", "letters", "scans", "--truth", "t.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "scans: 3 images, 2 with a ground truth" in done.stdout
    assert "images without a ground truth: 1: b3" in done.stdout
    assert [row["ground_truth"] for row in rows(folder).values()] == [
        {"verfasser": "Frey", "jahr": 1912, "orte": ["Basel", "Bern"]},
        {"verfasser": "Huber", "jahr": 1913, "orte": ["Chur", "Thun"]},
        None,
    ]
    made = [row.get("provenance", "nothing") for row in rows(folder).values()]
    assert made == ["imported", "imported", "nothing"]
    about = spec(folder)
    assert (about["metric"], about["headline"]) == ("record_f1", "f1_micro")
    assert about["protocols"]["documented"]["compare"] == {"jahr": "number"}
    schema = json.loads((folder / "letters/answer.schema.json").read_text())
    assert schema["properties"]["jahr"] == {
        "title": "Jahr",
        "titles": {"en": "Year", "de": "Jahr"},
        "type": ["integer", "null"],
    }
    prompt = (folder / "letters/prompt.txt").read_text()
    assert '"orte": [text, …]' in prompt
    assert not any(value in prompt for value in ("Frey", "1912", "Basel"))

    built = run_hdbench("build", "letters", "--accept-licence", cwd=folder)
    assert "hdb/letters: 3 rows, 1 without a ground truth, version 1.0.0" in built.stdout, built
    answers = [
        {
            "id": "b1",
            "prediction": {"verfasser": "Frey", "jahr": "1912", "orte": ["Bern", "Basel"]},
        },
        {"id": "b2", "text": '{"verfasser": "Hubert", "jahr": null, "orte": []}'},
    ]
    (folder / "a.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    scored = run_hdbench("score", "hdb/letters", "a.jsonl", "--json", "r.json", cwd=folder)
    assert scored.returncode == 0, scored.stderr
    result = flat_of(folder / "r.json")
    # Of eight values four are right, one is wrong and three are missing.
    found = [result[name] for name in ("true_positives", "false_positives", "false_negatives")]
    assert found == [4, 1, 4]


GROUPED = """Briefe der Sammlung;;;
Datei;Verfasser;;Jahr
;Name;Ort;
b1;Frey;Basel;1912.0
b2;Huber;Chur;
Summe:;;;1912.0
"""


@pytest.mark.parametrize("options", [(), ("--header-row", "2-3")])
def test_a_title_a_bracket_of_headings_and_totals_are_no_data(folder, run_hdbench, options):
    (folder / "t.csv").write_text(GROUPED)
    done = run_hdbench("new", "letters", "scans", "--truth", "t.csv", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "read as a title above the table, not as data: Briefe der Sammlung" in done.stdout
    assert "t.csv:6: read as a row of totals, not as data" in done.stdout
    assert [row["ground_truth"] for row in rows(folder).values()] == [
        {"verfasser_name": "Frey", "verfasser_ort": "Basel", "jahr": 1912},
        {"verfasser_name": "Huber", "verfasser_ort": "Chur", "jahr": None},
        None,
    ]


def test_the_row_of_headings_can_be_chosen(folder, run_hdbench):
    (folder / "t.csv").write_text(f"A;B;C;D\n{TABLE}")
    call = ("new", "letters", "scans", "--truth", "t.csv", "--header-row")
    for rows_given in ("0", "9"):
        refused = run_hdbench(*call, rows_given, cwd=folder)
        told = f"--header-row {rows_given}: t.csv has no such row"
        assert (refused.returncode, told in refused.stderr) == (2, True), refused.stderr
        assert not (folder / "letters").exists()
    (folder / "t.json").write_text("{}")
    for other in ("t.json", "scans"):
        refused = run_hdbench(*call[:4], other, "--header-row", "2", cwd=folder)
        assert f"--header-row: {other} has no rows of headings" in refused.stderr
    done = run_hdbench(*call, "2", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert rows(folder)["b1"]["ground_truth"]["verfasser"] == "Frey"


def test_columns_go_where_they_are_told_to(folder, run_hdbench):
    wanted = ("Verfasser=author.name", "Jahr=-", "orte=column:places", "Datei=id")
    options = [part for each in wanted for part in ("--map", each)]
    done = run_hdbench("new", "letters", "scans", "--truth", "t.csv", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    row = rows(folder)["b1"]
    assert (row["ground_truth"], row["places"]) == ({"author": {"name": "Frey"}}, "Basel | Bern")
    assert rows(folder)["b3"]["places"] is None
    assert "columns that are not used: Jahr\n" in done.stdout
    assert "column:places" in done.stdout
    assert spec(folder)["columns"] == {"places": "string"}
    card = (folder / "letters/README.md").read_text()
    assert "- column Orte: the dataset's column places\n" in card
    assert "- column Jahr: not used\n" in card


def test_like_option_takes_over_fields_and_rules_of_a_benchmark(folder, run_hdbench):
    (folder / "t.csv").write_text("Datei;Nachname;Jahr\nb1;Frey;1912\nb2;Huber;1913\n")
    done = run_hdbench(
        "new", "letters", "scans", "--truth", "t.csv", "--like", "zettelkatalog", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert spec(folder)["metric"] == "zettel_f1"
    truth = rows(folder)["b1"]["ground_truth"]
    assert truth["author"]["last_name"] == "Frey"
    assert truth["publication"]["year"] == 1912


def test_without_truth_fields_are_named_or_it_is_a_transcription(folder, run_hdbench):
    fields = "title,persons[].name,tags[]"
    done = run_hdbench("new", "a", "scans", "--fields", fields, cwd=folder)
    assert done.returncode == 0
    assert "hdbench annotate a" in done.stdout
    schema = json.loads((folder / "a/answer.schema.json").read_text())
    assert schema["required"] == ["title", "persons", "tags"]
    assert schema["properties"]["persons"]["items"]["required"] == ["name"]
    assert FieldTitles(AnswerSchema(schema), "en")("persons[0].name") == "Persons 1 › Name"
    assert run_hdbench("new", "b", "scans", cwd=folder).returncode == 0
    assert (spec(folder, "b")["metric"], spec(folder, "b")["headline"]) == ("text_cer", "cer")
    assert {row["ground_truth"] for row in rows(folder, "b").values()} == {None}
    for name in ("a", "b"):
        built = run_hdbench("build", name, "--accept-licence", cwd=folder)
        assert built.returncode == 0, built.stderr


def test_only_drawn_items_are_taken_and_the_same_seed_draws_the_same(folder, run_hdbench):
    taken = []
    for name in ("letters", "again"):
        done = run_hdbench("new", name, "scans", "--sample", 2, "--seed", 4, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "2 of 3 items drawn, seed 4" in done.stdout
        taken.append(sorted(rows(folder, name)))
    assert len(taken[0]) == 2
    assert taken[0] == taken[1]
    sample = spec(folder)["sample"]
    assert (sample["of"], sample["by"], sample["seed"]) == (3, [], 4)
    many = run_hdbench("new", "many", "scans", "--sample", 4, cwd=folder)
    assert "scans: has 3 items, and 4 are to be drawn" in many.stderr
    without = run_hdbench("new", "many", "scans", "--sample", 2, "--by", "Ort", cwd=folder)
    assert "--by: needs --sample, and the columns of a table in --truth" in without.stderr


def test_a_sample_by_columns_of_the_table_has_strata(tmp_path, run_hdbench):
    lines = [f"{n:03};{'Brief' if n % 10 else 'Karte'};T{n}" for n in range(200)]
    (tmp_path / "kat.csv").write_text("Datei;Typ;Titel\n" + "\n".join(lines))
    (tmp_path / "scans").mkdir()
    for number in range(200):
        (tmp_path / f"scans/{number:03}.txt").write_text("x")
    options = ("--truth", "kat.csv", "--sample", 40, "--seed", 3)
    done = run_hdbench("new", "cards", "scans", *options, "--by", "Typ", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [letters] = [line.split() for line in done.stdout.splitlines() if line.startswith("  Brief ")]
    assert letters[:3] == ["Brief", "180", "36"]
    items = rows(tmp_path, "cards")
    assert len(items) == 40
    assert all(row["ground_truth"]["titel"] == f"T{int(item)}" for item, row in items.items())
    strata = spec(tmp_path, "cards")["sample"]["strata"]
    assert [(each["values"], each["of"], each["items"]) for each in strata] == [
        ({"Typ": "Brief"}, 180, 36),
        ({"Typ": "Karte"}, 20, 4),
    ]
    drawn = {item: row["stratum"] for item, row in items.items()}
    assert all(place == (int(item) % 10 == 0) for item, place in drawn.items())
    wrong = run_hdbench("new", "other", "scans", *options, "--by", "Type", cwd=tmp_path)
    assert "kat.csv: no column 'Type'" in wrong.stderr
    assert "did you mean Typ?" in wrong.stderr


HOSTILE = "Datei;{{ 7*7 }};{% for x in range(9) %}\nb1;=HYPERLINK(1);<script>\nb2;x;y\n"


def test_what_a_table_says_is_never_run(folder, run_hdbench):
    (folder / "t.csv").write_text(HOSTILE)
    options = ("--truth", "t.csv", "--title", "{{ spec }} <b>", "--licence", "cc0-1.0")
    done = run_hdbench("new", "letters", "scans", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    built = run_hdbench("build", "letters", cwd=folder)
    assert built.returncode == 0, built.stderr
    card = (folder / "hdb/letters/README.md").read_text()
    assert "# { { spec } } &lt;b&gt;" in card
    assert "| `{ { 7*7 } }` |" not in card  # a field's name is made of letters
    assert r"column { { 7\*7 } }: " in card


PICKLED = r"cos\nsystem\n(S'touch pwned'\ntR."
CALL = f'spec.parse_raw("{PICKLED}",proto="pickle",allow_pickle=true)'
"""What unpickled a command, where a card was a template that had pydantic's objects."""


@pytest.mark.parametrize("where", ["header", "id", "image", "title", "card"])
def test_nothing_that_came_with_a_collection_is_run_by_build(where, folder, run_hdbench):
    attack = f"{{{{{{ {{1:{CALL} }}}}}}"  # of which `{{` and `}}` were left when each was divided
    header = attack if where == "header" else "Bemerkung"
    rows = [["Datei", header], ["b1", "x"], ["b2", "y"]]
    if where == "id":
        rows.append([attack, "of no image"])
    if where == "image":  # without a ground truth
        (folder / "scans/b3.png").rename(folder / f"scans/{attack}.png")
    with (folder / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    title = ("--title", attack) if where == "title" else ()
    done = run_hdbench("new", "letters", "scans", "--truth", "t.csv", *title, cwd=folder)
    assert done.returncode == 0, done.stderr
    if where == "card":
        with (folder / "letters/README.md").open("a") as card:
            card.write(f"{{{{ {CALL} }}}}\n")
    built = run_hdbench("build", "letters", "--accept-licence", cwd=folder)
    assert not (folder / "pwned").exists()
    if where == "card":
        assert built.returncode == 2
        assert "is not a placeholder" in built.stderr
        return
    assert built.returncode == 0, built.stderr
    assert "{ { { {1:spec.parse" in (folder / "hdb/letters/README.md").read_text()


@pytest.mark.parametrize("name", ["prompt.txt", "answer.schema.json", "benchmark.yaml"])
def test_a_benchmark_to_be_like_is_read_in_its_folder_only(name, folder, run_hdbench):
    assert run_hdbench("new", "first", "scans", cwd=folder).returncode == 0
    (folder / "first" / name).rename(folder / "secret")
    (folder / "first" / name).symlink_to(folder / "secret")
    done = run_hdbench("new", "second", "scans", "--like", "first", cwd=folder)
    assert done.returncode == 2
    assert f"first/{name}: leads out of first: put the file itself there" in done.stderr
    assert not (folder / "second").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("Letters", "scans"), "'Letters': a name has small letters"),
        (("../x", "scans"), "'../x': a name has small letters"),
        (("zettelkatalog", "scans"), "zettelkatalog: hdbench has a benchmark of that name"),
        (("scans", "scans"), "scans: exists already"),
        (("a", "nothing"), "nothing: cannot be read"),
        (("a", "scans", "--truth", "nothing.csv"), "nothing.csv: cannot be read"),
        (("a", "scans", "--like", "nothing"), "--like nothing: neither a folder"),
        (("a", "scans", "--map", "Jahr"), "--map Jahr: must be COLUMN=FIELD"),
        (("a", "scans", "--truth", "t.csv", "--map", "Jahr=column:Id"), "a column's name has"),
        (("a", "scans", "--truth", "t.csv", "--map", "Tag=day"), "t.csv"),
        (("a", "scans", "--truth", "t.csv", "--map", "Orte=id"), "no ground truth fits an image"),
        (("a", "scans", "--map", "x=y"), "this ground truth is not a table"),
        (("a", "scans", "--licence", "CC BY"), "'CC BY': SPDX knows no such licence: did you mean"),
        (("a", "scans", "--licence", "CC0-1.0"), "'CC0-1.0': is not in small letters: write cc0"),
        (("a", "scans", "--truth", "~$t.xlsx"), "~$t.xlsx: Excel's lock file: name t.xlsx itself"),
    ],
)
def test_a_wrong_call_is_one_line_and_writes_nothing(folder, run_hdbench, arguments, told):
    before = sorted(folder.rglob("*"))
    done = run_hdbench("new", *arguments, cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(folder.rglob("*")) == before


def at_a_terminal(folder, said, *given):
    """Call it at a pseudo-terminal: the exit status."""
    ours, theirs = pty.openpty()
    given = given or ("scans", "--truth", "t.csv")
    command = [sys.executable, "-m", "hdbench", "new", "letters", *given]
    with subprocess.Popen(
        command, cwd=folder, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            os.write(ours, said.encode())
            told = process.stdout.read().decode()
            process.wait(timeout=120)
        finally:
            process.kill()
    os.close(ours)
    os.close(theirs)
    return process.returncode, told


@pytest.mark.nightly
def test_on_a_terminal_it_asks_and_the_mapping_can_be_changed(folder):
    said = "Briefe\nCC BY\ncc0-1.0\nVerfaser=writer\nVerfasser=writer\ny\n"
    status, told = at_a_terminal(folder, said)
    assert status == 0, told
    assert "SPDX knows no such licence" in told  # and is asked again, as is
    assert "Verfaser" in told  # which is no column
    assert rows(folder)["b1"]["ground_truth"]["writer"] == "Frey"
    assert (spec(folder)["title"], spec(folder)["licence"]) == ("Briefe", "cc0-1.0")
    assert "hdbench build letters\n" in told.replace("\r", "")


def test_marc_records_fill_the_default_fields(folder, run_hdbench):
    with (folder / "r.mrc").open("wb") as file:
        for number in (1, 2):
            record = pymarc.Record(force_utf8=True)
            record.add_field(pymarc.Field("001", data=f"b{number}"))
            title = [pymarc.Subfield("a", f"Müller {number} :"), pymarc.Subfield("b", "Roman /")]
            record.add_field(pymarc.Field("245", pymarc.Indicators("1", "0"), title))
            file.write(record.as_marc())
    assert run_hdbench("new", "books", "scans", "--truth", "r.mrc", cwd=folder).returncode == 0
    assert rows(folder, "books")["b2"]["ground_truth"]["title"] == "Müller 2 : Roman"
    (folder / "mine.yaml").write_text("key: 001\nrecord:\n  titel: 245$a\n")
    options = ("--truth", "r.mrc", "--map", "mine.yaml")
    done = run_hdbench("new", "others", "scans", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert rows(folder, "others")["b1"]["ground_truth"] == {"titel": "Müller 1"}


PAGE = """<?xml version="1.0"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page
 imageFilename="{name}" imageWidth="9" imageHeight="9"><TextRegion id="r"><TextLine id="l">
<TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>"""


@pytest.mark.parametrize("outermost", [".", "export_job_1/12345"])
def test_an_export_of_transkribus_is_read_from_its_root(folder, run_hdbench, outermost):
    """It has each page as PAGE XML and as ALTO, and files about itself; images are beside."""
    (folder / outermost).mkdir(parents=True, exist_ok=True)
    (folder / "scans").rename(folder / outermost / "export")
    cwd, folder = folder, folder / outermost
    (folder / "export/mets.xml").write_text('<mets xmlns="http://www.loc.gov/METS/"/>')
    (folder / "export/metadata.xml").write_text("<trpDocMetadata><docId>1</docId></trpDocMetadata>")
    for name in ("page", "alto"):
        (folder / "export" / name).mkdir()
    for number in (1, 2, 3):
        page = PAGE.format(name="https://iiif.example/full/0/default.jpg", text=f"Zeile {number}")
        (folder / f"export/page/b{number}.xml").write_text(page)
        alto = "<alto><Layout><Page><PrintSpace/></Page></Layout></alto>"
        (folder / f"export/alto/b{number}.xml").write_text(alto)
    named = "export" if outermost == "." else "export_job_1"
    done = run_hdbench("new", "texts", named, cwd=cwd)
    assert done.returncode == 0, done.stderr
    truths = [row["ground_truth"] for row in rows(cwd, "texts").values()]
    assert truths == [{"text": f"Zeile {number}"} for number in (1, 2, 3)]
    assert "not PAGE XML, and passed over: alto/b1.xml, alto/b2.xml, alto/b3.xml" in done.stdout
    assert "page/b1.xml (default.jpg)" in done.stdout


ALTO = """<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page><PrintSpace>
<TextBlock><TextLine><String CONTENT="{text}"/></TextLine></TextBlock></PrintSpace></Page></Layout>
</alto>"""
HOCR = """<html><body><div class="ocr_page" title="image b1.jpg">
<span class="ocr_line">{text}</span></div></body></html>"""


@pytest.mark.parametrize(
    ("ending", "form"),
    [("txt", "{text}\n"), ("gt.txt", "{text}"), ("xml", PAGE), ("xml", ALTO), ("hocr", HOCR)],
)
def test_texts_beside_the_images_are_the_ground_truth(folder, run_hdbench, ending, form):
    (folder / f"scans/b1.{ending}").write_text(form.format(name="b1.jpg", text="Rother"))
    done = run_hdbench("new", "wine", "scans", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "scans: 3 images, 1 with a ground truth" in done.stdout
    assert "compared as they are written, with their line ends and the hyphens" in done.stdout
    assert "passed over" not in done.stdout
    assert rows(folder, "wine")["b1"]["ground_truth"] == {"text": "Rother"}
    assert spec(folder, "wine")["metric"] == "text_cer"
    done = run_hdbench("new", "other", "scans", "--fields", "text", cwd=folder)
    assert "scans: 3 images, 0 with a ground truth" in done.stdout


def test_a_folder_is_an_item_or_a_box_and_it_is_said_which(folder, run_hdbench):
    for box in ("box1", "box2"):
        (folder / "boxes" / box).mkdir(parents=True)
        for number in (1, 2):
            image = Image.new("RGB", (9, 9), (number, len(box), 0))
            image.save(folder / f"boxes/{box}/000{number}.png")
            page = PAGE.format(name=f"000{number}.png", text=f"{box}, {number}")
            (folder / f"boxes/{box}/000{number}.xml").write_text(page)
    given = ("boxes", "--truth", "boxes")
    done = run_hdbench("new", "items", *given, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "each folder (box1, box2) is one item, with its images as pages" in done.stdout
    assert {name: row["ground_truth"] for name, row in rows(folder, "items").items()} == {
        box: {"pages": [{"text": f"{box}, {number}"} for number in (1, 2)]}
        for box in ("box1", "box2")
    }
    done = run_hdbench("new", "cards", *given, "--boxes", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "each folder" not in done.stdout
    assert {name: row["ground_truth"] for name, row in rows(folder, "cards").items()} == {
        f"{box}_000{number}": {"text": f"{box}, {number}"}
        for box in ("box1", "box2")
        for number in (1, 2)
    }
    assert rows(folder, "cards")["box2_0001"]["file_name"] == "images/box2_0001.png"


def test_the_pages_of_a_tiff_become_images(folder, run_hdbench):
    (folder / "books").mkdir()
    second = Image.new("L", (9, 9), 99)
    Image.new("L", (9, 9), 7).save(folder / "books/t.tif", save_all=True, append_images=[second])
    assert run_hdbench("new", "tiffs", "books", cwd=folder).returncode == 0
    names = rows(folder, "tiffs")["t"]["pages_file_names"]
    assert names == ["images/t-1.png", "images/t-2.png"]
    values = [Image.open(folder / "tiffs" / name).getpixel((0, 0)) for name in names]
    assert values == [7, 99]
    built = run_hdbench("build", "tiffs", "--accept-licence", cwd=folder)
    assert built.returncode == 0, built.stderr
