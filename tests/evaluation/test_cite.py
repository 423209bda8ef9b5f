"""`hdbench cite`: BibTeX and a methods sentence."""

import hashlib
import json
import re
from pathlib import Path

import bibtexparser
import pytest

from hdbench import YEAR, __version__
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.common.translation import translated
from hdbench.evaluation.cite import methods_sentence
from hdbench.results.files import read_result
from hdbench.statistics import delta

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.parent.name for path in ROOT.glob("dataset_scripts/*/benchmark.yaml"))
RIGHT = {"title": "Stellingen", "year": 1924}
CITATION = r"""@misc{cards2025,
  title  = {{Cards} \& {Letters}},
  author = {M{\"u}ller, Gabriel and Zürcher, Anna},
}"""


def scored(cards, run_hdbench, lines, *arguments):
    spec = json.loads((cards / "hdb/cards/benchmark.yaml").read_text())
    (cards / "hdb/cards/benchmark.yaml").write_text(json.dumps(spec | {"citation": CITATION}))
    (cards / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run_hdbench("score", "hdb/cards", "p.jsonl", "--json", "r.json", *arguments, cwd=cards)
    assert done.returncode == 0, done.stderr
    done = run_hdbench("cite", "r.json", cwd=cards)
    assert done.returncode == 0, done.stderr
    return done.stdout


def bibtex(text):
    """The entries of a BibTeX file, by type; the rest has to be comments."""
    library = bibtexparser.parse_string(text)
    assert not library.failed_blocks
    return {
        entry.entry_type: {name: field.value for name, field in entry.fields_dict.items()}
        for entry in library.entries
    }


def short_hash(cards):
    return hashlib.sha256((cards / "hdb/cards/metadata.jsonl").read_bytes()).hexdigest()[:12]


def test_a_result_is_cited_with_its_benchmark_and_software(cards, run_hdbench):
    out = scored(cards, run_hdbench, [{"id": "0000", "prediction": RIGHT}])
    benchmark, software, sentence, unnamed = out.strip().split("\n\n")
    lacking, _, citation = benchmark.partition("\n")
    assert lacking == (
        "% cards: the citation in its benchmark.yaml lacks year, url: complete it there"
    )
    assert citation == CITATION
    assert unnamed == (
        "% r.json: does not name the model: score its answers again with --name MODEL"
    )
    assert software.startswith("@software{hdbench,\n")
    assert f"version = {{{__version__}}}" in software
    assert bibtex(out)["software"]["year"] == str(YEAR)
    assert software.count("{") == software.count("}")
    # All of 2 given and 2 of 8 wanted are right: F1 4 / 10.
    assert sentence == (
        f"Scored with hdbench {__version__}, metric zettel_f1 (rules 3, reading 3, protocol "
        f"documented, threshold 0.92), on cards 1.0.0 (4 items, sha256 "
        f"{short_hash(cards)}…), 1 of 4 answered; "
        # One card is right, three have no answer.
        "f1_micro 0.400 (4 items: too few for an interval; single items 0.000 to 1.000)."
    )


def test_sentence_for_enough_items_has_interval_and_method(cards, run_hdbench, monkeypatch):
    rows = [{"id": f"{n:04}", "ground_truth": json.dumps(RIGHT)} for n in range(20)]
    metadata = cards / "hdb/cards/metadata.jsonl"
    metadata.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = scored(cards, run_hdbench, [{"id": row["id"], "prediction": RIGHT} for row in rows])
    # 0.025 ** (1 / 20) is 0.832: by draws it comes near that.
    assert re.search(
        r"f1_micro 1\.000 \(95% interval 0\.8[23]\d to 1\.000, bootstrap over items\)\.\n", out
    )
    monkeypatch.setattr(delta, "LARGE", 0)
    sentence = methods_sentence(read_result(cards / "r.json"), load_benchmark(f"{cards}/hdb/cards"))
    assert "to 1.000, delta method over items)." in sentence
    assert translated(sentence, "de").startswith(
        f"Bewertet mit hdbench {__version__}, Metrik zettel_f1 (Version 3 der Regeln, Version 3 "
        "der Leseregeln, Verfahren documented, threshold 0.92), an cards 1.0.0 (20 Einträge, "
        f"sha256 {short_hash(cards)}…), 20 von 20 beantwortet; f1_micro 1,000 ("
    )
    assert translated(sentence, "de").endswith(", Delta-Methode über Einträge).")


def test_what_was_asked_for_stands_in_the_sentence(cards, run_hdbench):
    arguments = ("--protocol", "published", "--option", 'weights={"year": 3}', "--strict")
    out = scored(cards, run_hdbench, [{"id": "0000", "prediction": RIGHT}], *arguments)
    assert (
        "(rules 3, reading 3, protocol published, threshold 0.92, "
        'weights {"year": 3.0}, strict), on cards'
    ) in out


def test_each_run_has_its_sentence(cards, run_hdbench):
    lines = [
        {"id": "0000", "model": each, "prediction": RIGHT} for each in ("a\x1b[2J\n@misc{", "b")
    ]
    out = scored(cards, run_hdbench, lines)
    assert "\na\\x1b[2J\\n@misc{ was scored with hdbench " in out
    assert "\nb was scored with hdbench " in out
    # The only entry that begins a line is the benchmark's, after what it lacks.
    assert out.count("@software{") == out.count("\n@misc{") == 1


def test_a_benchmark_is_cited_by_its_folder(sample, run_hdbench):
    done = run_hdbench("cite", "hdb/zettelkatalog", cwd=sample)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("@misc{zettelkatalog2025,\n")
    assert 'M{\\"u}ller' in done.stdout
    assert (
        "metric zettel_f1 (rules 3, reading 3), on zettelkatalog 1.1.1+sample (8 items, "
        in done.stdout
    )


def test_a_benchmark_without_a_citation_says_so(cards, run_hdbench):
    done = run_hdbench("cite", "hdb/cards", cwd=cards)
    assert done.stdout.startswith("% cards: its benchmark.yaml has no citation\n\n@software{")


def test_the_year_is_that_of_the_release():
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert f"\n## [{__version__}] - {YEAR}-" in changes


@pytest.mark.parametrize("name", NAMES)
def test_the_entry_of_each_benchmark_is_complete_bibtex(samples, run_hdbench, name):
    out = run_hdbench("cite", f"hdb/{name}", cwd=samples).stdout
    assert "%" not in out
    entry = bibtex(out)["misc"]
    assert min(len(entry[field]) for field in ("title", "author", "howpublished")) > 0
    assert re.fullmatch(r"20\d\d", entry["year"])


def test_a_model_is_named_with_who_ran_it_and_when(cards, run_hdbench):
    run = {"run": "a", "benchmark": "hdb/cards", "model": "gpt-5", "provider": "openai"}
    (cards / "a").mkdir()
    (cards / "a/run.json").write_text(json.dumps(run | {"date": "2026-01-24"}))
    (cards / "a/answers.jsonl").write_text(json.dumps({"id": "0000", "prediction": RIGHT}))
    done = run_hdbench("score", "hdb/cards", "a", "--json", "r.json", cwd=cards)
    assert done.returncode == 0, done.stderr
    out = run_hdbench("cite", "r.json", cwd=cards).stdout
    assert "\ngpt-5 (openai, asked on 2026-01-24) was scored with hdbench " in out
    assert "does not name the model" not in out
    german = run_hdbench("--language", "de", "cite", "r.json", cwd=cards).stdout
    assert "\ngpt-5 (openai, abgefragt am 2026-01-24) wurde bewertet mit hdbench " in german


def test_an_address_that_the_description_has_completes_the_entry(cards, run_hdbench):
    commit = "0123456789abcdef0123456789abcdef01234567"
    source = {"hub": "library/cards", "revision": commit}
    spec = json.loads((cards / "hdb/cards/benchmark.yaml").read_text())
    spec |= {"source": source, "citation": CITATION.replace("\n}", "\n  year = 2025\n}")}
    (cards / "hdb/cards/benchmark.yaml").write_text(json.dumps(spec))
    out = run_hdbench("cite", "hdb/cards", cwd=cards).stdout
    assert "%" not in out
    entry = bibtex(out)["misc"]
    assert entry["url"] == "https://huggingface.co/datasets/library/cards"
    assert entry["year"] == "2025"


def test_a_field_without_a_value_is_lacking(cards, run_hdbench):
    spec = json.loads((cards / "hdb/cards/benchmark.yaml").read_text())
    citation = '@misc{c,\n  author = {},\n  year = "",\n  url = {https://example.org/c}\n}'
    (cards / "hdb/cards/benchmark.yaml").write_text(json.dumps(spec | {"citation": citation}))
    done = run_hdbench("--language", "de", "cite", "hdb/cards", cwd=cards)
    assert done.stdout.startswith(
        "% cards: In der Zitierangabe in benchmark.yaml fehlt: author, year; dort ergänzen\n"
        "@misc{c,"
    )


OTHER = {"metric": "avisblatt_cer", "headline": "fuzzy"}


def test_what_cannot_be_cited_is_one_line(cards, run_hdbench):
    scored(cards, run_hdbench, [{"id": "0000", "prediction": RIGHT}])
    spec = json.loads((cards / "hdb/cards/benchmark.yaml").read_text())
    (cards / "hdb/cards/benchmark.yaml").write_text(json.dumps(spec | OTHER))
    for path, message in (
        ("nowhere", "nowhere: cannot be read"),
        ("hdb", "hdb: no benchmark here"),
        ("p.jsonl", "p.jsonl: not a result with per-item statistics"),
        ("r.json", "hdb/cards: headline: 'fuzzy' is not a figure of zettel_f1"),
    ):
        done = run_hdbench("cite", path, cwd=cards)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1
    (cards / "hdb").rename(cards / "elsewhere")
    assert "hdb/cards: no benchmark here" in run_hdbench("cite", "r.json", cwd=cards).stderr
