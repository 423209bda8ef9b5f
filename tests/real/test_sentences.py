"""Sentences with figures in the documentation and the cards, by the published data."""

import json
import re
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest

from hdbench.api import score

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def text_of(path: str) -> str:
    return " ".join((ROOT / path).read_text().split())


def rows(published, name: str) -> list[dict]:
    lines = (published.folder / "hdb" / name / "metadata.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def runs(published, name="*") -> dict[Path, dict]:
    paths = sorted((published.folder / "hdb/results").glob(f"{name}/*/run.json"))
    return {path.parent: json.loads(path.read_text()) for path in paths}


def test_how_many_published_runs_are_reproduced(published):
    """That these are, and the others not, is what the tests of each benchmark show."""
    marked = [run.get("reproducible") is False for run in runs(published).values()]
    readme = text_of("README.md")
    assert f"published a score for each of {len(marked)} *runs*" in readme
    assert f"From the answers of {marked.count(False)} of them, hdbench computes exactly" in readme
    assert f"Those of the other {marked.count(True)} come from" in readme
    assert (
        f"Of the {len(marked)} published runs that the project has, {marked.count(False)} are "
        f"reproduced in every figure. The figures of the {marked.count(True)} others"
    ) in text_of("docs/metrics.md")
    _, *listed = (ROOT / "docs/data/not-reproduced.csv").read_text().splitlines()
    assert len(listed) == marked.count(True)


@pytest.fixture(scope="module")
def pages_by_model(published):
    """Protocol → model → the mean of its headlines on all pages, with the prompt that most had."""
    means = {}
    for protocol in ("documented", "published"):
        found = defaultdict(list)
        for folder, run in runs(published, "avisblatt").items():
            if run["prompt"]["name"] == "prompt_optimized.txt" and len(run["items"]) == 5:
                result = score(str(published.folder / "hdb/avisblatt"), folder, protocol=protocol)
                found[run["model"]].append(result.figures["fuzzy"])
        means[protocol] = {model: mean(figures) for model, figures in found.items()}
    return means


def test_what_the_rules_for_pages_change(published, pages_by_model):
    documented, as_published = pages_by_model["documented"], pages_by_model["published"]
    best = max(documented, key=documented.__getitem__)
    place = sorted(as_published, key=as_published.__getitem__, reverse=True).index(best) + 1
    assert (best, place) == ("gemini-3-pro-preview", 6)
    shares = f"{documented[best]:.3f}".lstrip("0"), f"{as_published[best]:.3f}".lstrip("0")
    sentence = f"{best}, the best with {shares[0]}, falls to sixth with {shares[1]}"
    assert sentence in text_of("docs/metrics.md")
    numbered = [
        sum(bool(re.match(r"\d+\.", ad["text"])) for ad in truth["advertisements"])
        for truth in (json.loads(row["ground_truth"]) for row in rows(published, "avisblatt"))
    ]
    fewest, most = min(numbered), max(numbered)
    assert f"a page with {fewest} numbered ads counts as much as one with {most}" in text_of(
        "docs/metrics.md"
    )


def test_the_years_of_the_letters(published):
    years = [row["year"] for row in rows(published, "rheinschifffahrt")]
    span = f"{min(years)} to {max(years)}"
    assert f"{len(years)} letters from {span}:" in text_of("README.md")
    assert f"{len(years)} business letters of {span} " in text_of("docs/metrics.md")
    card = text_of("dataset_scripts/rheinschifffahrt/README.md")
    assert f"Rheinschifffahrt-Aktiengesellschaft, {span}, in German" in card
    late = sorted({year for year in years if year > 1932})
    assert (sum(year > 1932 for year in years), late) == (4, [1933, 1935])
    assert "four of the 57 are from 1933 and 1935" in card


@pytest.mark.parametrize(
    ("run", "page", "language"),
    [
        ("2026-01-24_T0252", "docs/metrics.md", "en"),
        ("2026-01-24_T0252", "docs/de/score.md", "de"),
        ("2026-01-24_T0208", "docs/score.md", "en"),
    ],
)
def test_the_first_sentence_of_a_run_on_the_cards(published, run_hdbench, run, page, language):
    answers = f"hdb/results/zettelkatalog/{run}"
    done = run_hdbench(
        *("--language", language, "score", "hdb/zettelkatalog", answers), cwd=published.folder
    )
    assert done.returncode == 0, done.stderr
    _, sentence, *_ = done.stdout.splitlines()
    assert re.fullmatch(r"\d+ (of|von) 263 .* F1 \(mi[ck]ro\) 0[.,]\d{4}\.", sentence)
    assert sentence in text_of(page)


def test_the_counts_of_the_other_benchmarks(published):
    truths = {
        name: [json.loads(row["ground_truth"]) for row in rows(published, name)]
        for name in ("avisblatt", "bibliography", "companylists")
    }
    ads, entries, companies = (
        sum(len(truth[of]) for truth in truths[name])
        for name, of in (
            ("avisblatt", "advertisements"),
            ("bibliography", "entries"),
            ("companylists", "entries"),
        )
    )
    readme = text_of("README.md")
    for sentence in (
        f"{len(rows(published, 'zettelkatalog'))} library index cards",
        f"{len(truths['avisblatt'])} newspaper pages in Fraktur, {ads} advertisements from 1731",
        f"{len(truths['companylists'])} pages of a trade index, {companies} companies",
        f"{len(rows(published, 'blacklist'))} index cards of companies; "
        f"{len(truths['bibliography'])} pages of a bibliography, {entries} entries",
        f"{len(rows(published, 'manuscripts'))} pages of a German manuscript; "
        f"{len(rows(published, 'advertxml'))} texts with broken XML",
    ):
        assert sentence in readme
