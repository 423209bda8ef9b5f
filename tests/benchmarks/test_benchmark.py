"""A benchmark's folder: what it says about itself, and what a model is shown of its items."""

import json
from pathlib import Path

import pytest
from helpers.run_folders import SPEC, write_cards, write_run

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError

COMMIT = "dbe1c6531c53d883a402796a075af7c7b0bb3383"


def with_media(cards, media, key, value):
    folder = cards / "hdb/cards"
    spec = json.loads((folder / "benchmark.yaml").read_text()) | {"media": media}
    (folder / "benchmark.yaml").write_text(json.dumps(spec))
    row = {"id": "a", "ground_truth": "{}", key: value}
    (folder / "metadata.jsonl").write_text(json.dumps(row) + "\n")
    return load_benchmark(str(folder))


@pytest.mark.parametrize(
    ("media", "key", "value", "names"),
    [
        ("image", "file_name", "images/a.jpg", ["images/a.jpg"]),
        ("pdf", "file_name", "pdf/a.pdf", ["pdf/a.pdf"]),
        ("pages", "pages_file_names", ["images/a.jpg", "images/b.jpg"], None),
        ("image", "file_name", None, []),
    ],
)
def test_the_media_of_each_item(cards, media, key, value, names):
    benchmark = with_media(cards, media, key, value)
    expected = value if names is None else names
    assert benchmark.media() == {"a": [benchmark.folder / name for name in expected]}


def test_a_text_is_shown_as_it_stands_and_is_no_file(cards):
    benchmark = with_media(cards, "text", "text", "../<b>\n")
    assert benchmark.shown() == {"a": ([], "../<b>\n", {})}
    assert benchmark.media() == {"a": []}


def test_the_prompt_s_columns_are_among_what_is_shown(cards):
    columns = {"page_number": "int32", "year": "int32", "place": "string"}
    spec = {"columns": columns, "prompt_columns": ["page_number", "place"]}
    benchmark = load_benchmark(described(cards, **spec))
    row = {"id": "a", "ground_truth": "{}", "page_number": 12, "year": 1924, "place": None}
    (benchmark.folder / "metadata.jsonl").write_text(json.dumps(row) + "\n")
    assert benchmark.shown()["a"].values == {"page_number": "12", "place": ""}


def test_the_metric_has_the_options_that_each_protocol_states(cards):
    options = {"documented": {"blank": [None, "null"], "compare": {"a.b": "exact"}}}
    spec = load_benchmark(described(cards, metric="record_f1", protocols=options)).spec
    assert spec.protocols == options
    assert spec.make_metric().signed_options == options["documented"]
    assert spec.make_metric(blank=[None]).signed_options == {"compare": {"a.b": "exact"}}
    assert spec.make_metric("published").signed_options == {}
    assert load_benchmark(described(cards)).spec.protocols == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protocols": {"mine": {}}}, "protocols.mine.*: Input should be 'documented' or 'publis"),
        ({"protocols": {"published": []}}, "protocols.published: Input should be a valid dict"),
        ({"protocols": {"published": {"blank": []}}}, "zettel_f1 has no option 'blank'"),
        ({"protocols": {"documented": {"threshold": 2}}}, "threshold: 2 is not a number from 0 to"),
        ({"prompt_columns": ["page"]}, "prompt_columns: 'page' is not one of the columns"),
        ({"media": "texts"}, "media: Input should be 'image', 'pages', 'pdf' or 'text'"),
    ],
)
def test_what_does_not_fit_is_refused(cards, changes, message):
    with pytest.raises(HdbenchError, match=rf"hdb/cards/benchmark\.yaml: {message}"):
        load_benchmark(described(cards, **changes))


@pytest.mark.parametrize("name", ["../secret.jpg", "/etc/passwd", "images/../../x.jpg"])
def test_media_outside_of_the_folder_are_refused(cards, name):
    with pytest.raises(HdbenchError, match="leads out of"):
        with_media(cards, "image", "file_name", name).media()


def described(cards, **changes):
    (cards / "hdb/cards/benchmark.yaml").write_text(json.dumps(SPEC | changes))
    return str(cards / "hdb/cards")


@pytest.mark.parametrize(
    "revision", ["main", "hdbench-1.0.0", "refs/pr/1", "", COMMIT[:7], COMMIT + "0", COMMIT.upper()]
)
@pytest.mark.parametrize("place", [{"hub": "a/b"}, {"url": "https://example.org", "prompt": "p"}])
def test_a_source_is_a_commit(cards, place, revision):
    folder = described(cards, source={**place, "revision": revision})
    with pytest.raises(HdbenchError, match=r"benchmark\.yaml: source: revision: must be a commit "):
        load_benchmark(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": "zettel_f2"}, "metric: no 'zettel_f2' in hdbench .*, which has zettel_f1, "),
        (
            {"headline": "f1"},
            "headline: 'f1' is not a rate of zettel_f1: choose one of f1_micro, f1_",
        ),
        ({"headline": "true_positives"}, "headline: 'true_positives' is not a rate of zettel_f1"),
        (
            {"metric": "letters_f1", "headline": "categories"},
            "headline: 'categories' is not a rate",
        ),
        # It is null of answers that give no number of tokens.
        ({"metric": "avisblatt_cer", "headline": "ntokens_error"}, "headline: 'ntokens_error' is"),
    ],
)
def test_a_metric_and_its_headline_are_known(cards, changes, message):
    with pytest.raises(HdbenchError, match=rf"hdb/cards/benchmark\.yaml: {message}"):
        load_benchmark(described(cards, **changes))


@pytest.mark.nightly
def test_every_command_refuses_an_unknown_headline_in_one_line(cards, run_hdbench):
    folder = Path(described(cards, headline="f1"))
    (folder / "README.md").write_text("---\nlicense: cc0-1.0\n---\n")
    run = write_run(cards / "run", {"0000": {"text": "{}"}})
    for arguments in (
        ("score", "hdb/cards", run),
        ("report", run, "-o", "report"),
        ("leaderboard", run),
        ("publish", "hdb", "--dry-run"),
    ):
        done = run_hdbench(*arguments, cwd=cards)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert done.stderr.endswith("recall_micro\n"), done.stderr
        assert done.stderr.startswith(
            "error: hdb/cards/benchmark.yaml: headline: 'f1' is not a rate"
        )
        assert len(done.stderr.splitlines()) == 1
    done = run_hdbench("build", "hdb/cards", "--out", "other", cwd=cards)  # lists all that is wrong
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: headline: is not a rate of zettel_f1" in done.stderr


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (
            '"id": "0001", "ground_truth": "{}", "id": "0000"',
            "has two ids, '0001' and '0000': keep one",
        ),
        (
            '"ground_truth": "{}", "id": "0000"',
            "the id '0000' occurs twice: give each item its own",
        ),
    ],
)
def test_an_id_of_two_rows_is_refused_by_all_that_reads_items(tmp_path, second, why):
    write_cards(tmp_path)
    folder = tmp_path / "hdb/cards"
    metadata = folder / "metadata.jsonl"
    metadata.write_text(f'{{"id": "0000", "ground_truth": "{{}}"}}\n{{{second}}}\n')
    with pytest.raises(HdbenchError) as caught:
        list(load_benchmark(str(folder)).items())
    assert str(caught.value) == f"{metadata}:2: {why}"
