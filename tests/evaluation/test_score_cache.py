"""Scores of runs that were scored before: used where nothing changed, and never believed else."""

import json
import os
from dataclasses import fields
from pathlib import Path

import pytest
from helpers.run_folders import RIGHT, SPEC, write_run

from hdbench.answers import ReadAs
from hdbench.common.cache import FileCache
from hdbench.evaluation import score_cache
from hdbench.evaluation.runs import load_runs, load_runs_under
from hdbench.evaluation.score import Settings, score
from hdbench.evaluation.score_cache import ScoreCache

WRONG = {"title": "Stellingen", "year": 1942}
RUN = Path("runs/a")


@pytest.fixture
def kept(cards, monkeypatch, tmp_path_factory):
    """The folder of the cache, of its own for each test, beside a run that was scored once."""
    folder = tmp_path_factory.mktemp("assets") / "scores"
    monkeypatch.setattr(ScoreCache, "folder", folder)
    monkeypatch.chdir(cards)
    texts = (json.dumps(RIGHT), f"```json\n{json.dumps(WRONG)}\n```", "no idea")
    given = {f"000{place}": {"text": text} for place, text in enumerate(texts)}
    write_run(RUN, given, prompt={"name": "prompt.txt", "text": "Read it."}, cost_usd=0.25)
    load_runs([RUN])
    return folder


@pytest.fixture
def scored(monkeypatch):
    """The answers that are scored from now on."""
    seen = []

    def counted(benchmark, answers, settings):
        seen.append((str(answers), len(settings)))
        return score_loaded(benchmark, answers, settings)

    score_loaded = score_cache.score_loaded
    monkeypatch.setattr(score_cache, "score_loaded", counted)
    return seen


def differing(one, other):
    """The attributes in which two results differ."""

    def plain(result):
        about = (type(result.metric), result.metric.protocol, result.metric.options)
        values = {each.name: getattr(result, each.name) for each in fields(result)}
        return values | {"metric": about, "strata": list(result.strata)}

    before, after = plain(one), plain(other)
    return [name for name in before if before[name] != after[name]]


def test_a_run_is_scored_once_and_the_same_in_everything(kept, scored):
    [result] = load_runs([RUN]).values()
    assert scored == []
    assert differing(result, score("hdb/cards", RUN)) == []
    assert (len(result.worst), list(result.statuses)) == (
        4,
        ["clean", "unwrapped", "unparsable", "unanswered"],
    )


def test_a_run_with_several_models_and_settings_is_kept(kept, scored):
    lines = [{"id": "0000", "model": name, "prediction": RIGHT} for name in ("x", "y")]
    Path("both.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    under = [Settings(), Settings("published"), Settings(read_as=ReadAs(strict=True))]
    first = load_runs_under([Path("both.jsonl")], under[:2], benchmark="hdb/cards")
    assert scored == [("both.jsonl", 2)]
    again = load_runs_under([Path("both.jsonl")], under, benchmark="hdb/cards")
    assert scored == [("both.jsonl", 2), ("both.jsonl", 1)]
    assert [list(each) for each in again] == [["x", "y"]] * 3
    for before, after in zip(first, again[:2], strict=True):
        assert [differing(before[name], after[name]) for name in "xy"] == [[], []]


def write(path, text):
    Path(path).write_text(text)


CHANGES = {
    "an answer": lambda: write(RUN / "answers.jsonl", json.dumps({"id": "0000", "text": "?"})),
    "what the run says": lambda: write_run(RUN, {"0000": {"prediction": RIGHT}}, model="reader-2"),
    "a file beside it": lambda: write(RUN / "notes.txt", "who knows"),
    "its prompt": lambda: write("hdb/cards/prompt.txt", "Read the card."),
    "the schema": lambda: write("hdb/cards/answer.schema.json", '{"type": "object"}'),
    "the description": lambda: write(
        "hdb/cards/benchmark.yaml", json.dumps(SPEC | {"headline": "f1_macro"})
    ),
    "a ground truth": lambda: write(
        "hdb/cards/metadata.jsonl",
        Path("hdb/cards/metadata.jsonl").read_text().replace("1924", "1925"),
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_it_is_scored_again_if_anything_changed(what, kept, scored):
    CHANGES[what]()
    [result] = load_runs([RUN]).values()
    assert scored == [(str(RUN), 1)]
    assert differing(result, score("hdb/cards", RUN)) == []


def test_an_entry_under_the_name_of_another_run_is_not_believed(kept, scored):
    [entry] = kept.iterdir()
    write_run(Path("runs/b"), {"0000": {"prediction": RIGHT}}, run="b")
    load_runs([Path("runs/b")])
    [other] = set(kept.iterdir()) - {entry}
    other.write_bytes(entry.read_bytes())
    scored.clear()
    load_runs([Path("runs/b")])
    assert scored == [("runs/b", 1)]


def test_nobody_else_may_look_into_what_is_kept(kept):
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("what", ["_code", "_installed", "installed_versions"])
def test_it_is_scored_again_with_other_code(what, kept, scored, monkeypatch):
    monkeypatch.setattr(score_cache, what, lambda: "other")
    load_runs([RUN])
    assert scored == [(str(RUN), 1)]


@pytest.mark.parametrize(
    "settings",
    [Settings("published"), Settings(options={"threshold": 0.5}), Settings(details=True)],
)
def test_it_is_scored_again_under_other_settings(settings, kept, scored):
    load_runs([RUN], settings=settings)
    assert scored == [(str(RUN), 1)]


@pytest.mark.parametrize(
    "data",
    [b"[{}]", b"\xff", b'[{"model": [], "record": {}, "statuses": [], "worst": []}]'],
)
def test_an_unusable_entry_is_scored_again_in_silence(data, kept, scored):
    [entry] = kept.iterdir()
    before = entry.read_bytes()
    FileCache(kept, max_entry=100).add(entry.name, data)
    assert entry.read_bytes() != before
    load_runs([RUN])
    assert scored == [(str(RUN), 1)]
    assert entry.read_bytes() == before
    load_runs([RUN])
    assert len(scored) == 1


def test_what_another_user_wrote_is_not_believed(kept, scored, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: -1)
    load_runs([RUN])
    assert scored == [(str(RUN), 1)]


def test_a_run_cannot_bring_its_own_figures(kept, scored):
    [entry] = kept.iterdir()
    for folder in (RUN, RUN.parent):
        (folder / entry.name).write_bytes(entry.read_bytes())
    entry.unlink()
    load_runs([RUN.parent])
    assert scored == [(str(RUN), 1)]


def test_a_run_that_goes_on_meanwhile_is_not_kept(kept, monkeypatch):
    score_loaded = score_cache.score_loaded

    def slow(benchmark, answers, settings):
        found = score_loaded(benchmark, answers, settings)
        with (RUN / "answers.jsonl").open("a") as file:
            file.write(json.dumps({"id": "0003", "prediction": RIGHT}) + "\n")
        return found

    write_run(RUN, {"0000": {"prediction": RIGHT}})
    monkeypatch.setattr(score_cache, "score_loaded", slow)
    load_runs([RUN])
    assert len(list(kept.iterdir())) == 1


def test_the_oldest_are_deleted_if_there_is_too_much(kept, monkeypatch):
    [old] = kept.iterdir()
    os.utime(old, (0, 0))
    write_run(Path("runs/b"), {"0000": {"prediction": RIGHT}}, run="b")
    (kept / ".left-by-a-kill").mkdir()
    os.utime(kept / ".left-by-a-kill", (0, 0))
    monkeypatch.setattr(score_cache, "MAX_CACHE", old.stat().st_size + 10)
    load_runs([Path("runs/b")])
    [entry] = (each for each in kept.iterdir() if each.is_file())
    assert entry != old


def test_what_is_large_or_cannot_be_written_is_scored_each_time(kept, scored, monkeypatch):
    [entry] = kept.iterdir()
    monkeypatch.setattr(score_cache, "MAX_ENTRY", 100)
    load_runs([RUN])
    entry.unlink()
    kept.rmdir()
    kept.write_text("a file in the way")
    load_runs([RUN])
    assert len(scored) == 2
