"""From scans and a spreadsheet to a score, as a librarian would: with what the program prints.

The cards are real, under other names; the table has the faults that such tables have.
"""

import json
import random
import re
import shutil

import pytest

HEADER = (
    "Dateiname;Verfasser;Titel;Erscheinungsjahr;Ort;Verlag;Signatur;Schlagwörter;Schrift;Bemerkung"
)
CARDS = 60


@pytest.fixture(scope="module")
def desk(shared, tmp_path_factory):
    """A folder with 60 scans and a table, and nothing of hdbench's."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "scans").mkdir()
    source = shared / "upstream/humanities_data_benchmark/benchmarks/library_cards"
    cards = [
        image
        for image in sorted((source / "images").iterdir())
        if (source / f"ground_truths/{image.stem}.json").is_file()
    ][:CARDS]
    rows = []
    for number, image in enumerate(cards, 1):
        name = f"Karte_{number:03}"
        shutil.copyfile(image, folder / f"scans/{name}.jpg")
        card = json.loads((source / f"ground_truths/{image.stem}.json").read_text())
        rows.append(row(name if number % 2 else f"{name}.JPG", card["response_text"], number))
    assert all(row[3].isdecimal() for row in (rows[6], rows[7]))
    rows[6][3] = "17.9." + rows[6][3]  # a date in the year's column
    rows[10] = rows[10][:1] + [""] * 9  # nothing yet
    rows.append(["Karte_999.jpg", "Niemand", "Nichts", "1900", "Bern", "", "", "", "", ""])
    rows += [[""] * 10] * 2  # which Excel leaves at the end
    del rows[30]  # forgotten
    text = "".join(";".join(map(quoted, row)) + "\r\n" for row in [HEADER.split(";"), *rows])
    (folder / "wahrheit.csv").write_bytes(text.encode("cp1252", "replace"))
    return folder


def row(name, card, number):
    book, reference = card["publication"], card["library_reference"]
    subjects = [each.strip() for each in (reference["subjects"] or "").split(",")]
    return [
        name,
        f"{card['author']['last_name']}, {card['author']['first_name']}",
        book["title"],
        str(book.get("year") or ""),
        book["place"],
        book["publisher"],
        reference["shelfmark"],
        " | ".join(subjects),
        "Maschine" if number <= 40 else "Hand",
        "",
    ]


def quoted(cell):
    text = cell or ""
    return '"' + text.replace('"', '""') + '"' if set(text) & set(';"\n') else text


@pytest.fixture(scope="module")
def made(desk, run_hdbench):
    """What `new` printed, after the person had looked at the mapping."""
    return run_hdbench(
        *("new", "karten", "scans", "--truth", "wahrheit.csv", "--title", "Karten"),
        *("--map", "Schrift=column:script", "--licence", "cc0-1.0"),
        cwd=desk,
    )


def next_command(said, what):
    """A command that the program named."""
    found = re.search(rf"{what}:\s+hdbench (.+)", said)
    assert found, said
    return found[1].split()


@pytest.fixture(scope="module")
def built(desk, made, run_hdbench):
    done = run_hdbench(*next_command(made.stdout, "build it"), cwd=desk)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_table_is_understood(desk, made):
    assert made.returncode == 0, made.stderr
    said = made.stdout
    assert "scans: 60 images, 58 with a ground truth" in said
    assert "read as cp1252" in said
    assert "cells read as text" in said
    assert "ground truths without an image, which are left out: 1: Karte_999.jpg" in said
    assert "images without a ground truth: 2: Karte_011, Karte_031" in said
    rows = [json.loads(line) for line in (desk / "karten/metadata.jsonl").open()]
    truths = {row["id"]: row["ground_truth"] for row in rows}
    assert list(truths["Karte_001"]) == [
        *("verfasser", "titel", "erscheinungsjahr", "ort", "verlag", "signatur", "schlagwoerter")
    ]
    assert (truths["Karte_011"], truths["Karte_031"]) == (None, None)
    assert {row["script"] for row in rows} == {"Maschine", "Hand", None}


def test_the_corrected_table_has_years_as_numbers(desk, made, run_hdbench, tmp_path):
    shutil.copytree(desk / "scans", tmp_path / "scans")
    table = (desk / "wahrheit.csv").read_bytes()
    (tmp_path / "wahrheit.csv").write_bytes(re.sub(rb";17\.9\.(\d{4});", rb";\1;", table))
    done = run_hdbench("new", "karten", "scans", "--truth", "wahrheit.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    schema = json.loads((tmp_path / "karten/answer.schema.json").read_text())
    assert schema["properties"]["erscheinungsjahr"]["type"] == ["integer", "null"]


def test_it_is_built_loaded_and_can_be_archived(desk, built, monkeypatch):
    from datasets import load_dataset  # noqa: PLC0415

    assert "hdb/karten: 60 rows, 2 without a ground truth, version 1.0.0" in built
    monkeypatch.chdir(desk)
    rows = load_dataset("hdb/karten", split="test", cache_dir=str(desk / "cache"))
    assert len(rows) == CARDS
    assert sum(truth is None for truth in rows["ground_truth"]) == 2
    assert rows[0]["image"].size[0] > 100
    there = {path.name for path in (desk / "hdb/karten").iterdir()}
    assert there >= {"SHA256SUMS", "ground_truth.csv", "CITATION.cff"}


@pytest.fixture(scope="module")
def runs(desk, built):
    """Two models' answers: a good one's, and one's that leaves the year and the subjects out."""
    rows = [json.loads(line) for line in (desk / "hdb/karten/metadata.jsonl").open()]
    truths = {row["id"]: json.loads(row["ground_truth"] or "{}") for row in rows}
    chance = random.Random(1)
    for model, keep in (("gut", 0.95), ("flau", 0.6)):
        lines = []
        for item, truth in truths.items():
            kept = {
                name: value if chance.random() < keep else None for name, value in truth.items()
            }
            lines.append(json.dumps({"id": f"{item}.jpg", "text": json.dumps(kept)}) + "\n")
        (desk / f"{model}.jsonl").write_text("".join(lines))
    return desk


def test_two_runs_are_scored_and_compared(runs, run_hdbench):
    figures = {}
    for model in ("gut", "flau"):
        done = run_hdbench(
            *("score", "hdb/karten", f"{model}.jsonl", "--name", f"Modell {model}"),
            *("--json", f"{model}.json", "--details"),
            cwd=runs,
        )
        assert done.returncode == 0, done.stderr
        assert "2 items have no ground truth, and cannot be scored" in done.stdout + done.stderr
        record = json.loads((runs / f"{model}.json").read_text())
        assert len(record["ids"]) == record["figures"]["items"] == 58
        assert record["model"] == f"Modell {model}"
        figures[model] = record["figures"]["f1_micro"]
    assert figures["gut"] > 0.95 > figures["flau"] > 0.6
    done = run_hdbench("compare", "gut.json", "flau.json", cwd=runs)
    assert done.returncode == 0, done.stderr
    assert "Modell gut" in done.stdout


def test_answers_with_the_fields_in_another_language_are_matched(runs, run_hdbench):
    def scored(record):
        lines = [
            json.dumps({"id": f"Karte_{number:03}", "prediction": record})
            for number in range(1, 20)
        ]
        (runs / "english.jsonl").write_text("\n".join(lines))
        return run_hdbench("score", "hdb/karten", "english.jsonl", cwd=runs)

    assert "keys of answers read as fields: author" in scored({"author": "Frey"}).stdout
    done = scored({"colour": "red"})
    assert done.returncode == 2
    assert "the answers share no field with the ground truth: they have colour" in done.stderr
