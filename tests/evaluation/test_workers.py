"""Scoring in parts and in several processes: the same bytes as in one piece."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.run_folders import SPEC
from helpers.waiting import until
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.answers.answer import Answer
from hdbench.answers.bounds import Bounds
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import HdbenchError
from hdbench.evaluation import processes
from hdbench.evaluation import score as scoring
from hdbench.evaluation.checks import Checks
from hdbench.evaluation.looks import Looks
from hdbench.evaluation.score import Settings, score_runs, score_under
from hdbench.evaluation.workers import Workers
from hdbench.results.items import ScoreCollector
from hdbench.results.record import to_record
from hdbench.scoring import make_metric

SCRIPTS = Path(__file__).parents[2] / "dataset_scripts"
SAMPLES = {
    "zettelkatalog": "zettel_f1",
    "avisblatt": "avisblatt_cer",
    "rheinschifffahrt": "letters_f1",
    "sciencemetabench": "sciencemeta_accuracy",
    "bibliography": "record_f1",
    "manuscripts": "text_cer",
}
COPIES = 4


def write_sample(name, folder):
    """A sample with each item several times, and its answers."""
    script, built = SCRIPTS / name, folder / "hdb" / name
    built.mkdir(parents=True)
    for file in (script / "benchmark.yaml", script / "answer.schema.json"):
        shutil.copy(file, built)
    for prompt in (script / "sample").glob("prompt*.txt"):
        shutil.copy(prompt, built)
    items = read(script / "sample/metadata.jsonl")
    answers = {each["id"]: each for each in read(script / "sample/predictions.jsonl")}
    rows, lines = [], []
    for copy in range(COPIES):
        for item in items:
            new = f"{item['id']}-{'abcd'[copy]}"
            truth = json.dumps(item["ground_truth"])
            rows.append({"id": new, "ground_truth": truth})
            if item["id"] in answers:
                used = {"tokens": {"input": 900 + copy, "output": 7}, "seconds": 0.1 * copy + 0.3}
                lines.append({**answers[item["id"]], **used, "id": new})
    write(built / "metadata.jsonl", rows)
    random.Random(1).shuffle(lines)
    return write(folder / "answers.jsonl", lines)


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def split(path, folder, number, ending):
    """The lines of a file in parts, each in the form that the ending says."""
    rows = read(path)
    folder.mkdir()
    for part in range(number):
        some = rows[len(rows) * part // number : len(rows) * (part + 1) // number]
        data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in some).encode()
        target = folder / f"part-{part}.{ending}"
        if ending == "parquet":
            keys = dict.fromkeys(key for row in some for key in row)
            table = [{key: as_cell(key, row) for key in keys} for row in some]
            pq.write_table(pa.Table.from_pylist(table), target)
        elif ending == "jsonl.zst":
            target.write_bytes(pa.compress(data, "zstd", asbytes=True))
        else:
            target.write_bytes(data)
    return folder


def as_cell(key, row):
    return json.dumps(row[key]) if key == "prediction" and key in row else row.get(key)


def figures(benchmark, answers, **how):
    """The bytes of a result, but for the names of files, which differ."""
    [result] = score_runs(str(benchmark), answers, Settings(**how)).values()
    record = to_record(result, details=how.get("details", False))
    del record["answers"]
    return json.dumps([record, result.worst])


@pytest.fixture
def small_parts(monkeypatch):
    """Small parts, and other processes however little they gain."""
    monkeypatch.setattr(scoring, "PART", 5)
    monkeypatch.setattr(processes, "LEAST", 1e-9)


@pytest.mark.parametrize("name", SAMPLES)
def test_figures_do_not_depend_on_the_parts(tmp_path, name, monkeypatch):
    path = write_sample(name, tmp_path)
    whole = figures(tmp_path / "hdb" / name, path, details=True)
    monkeypatch.setattr(scoring, "PART", 5)
    for number in (1, 7, 100):
        parts = split(path, tmp_path / str(number), number, "jsonl")
        assert figures(tmp_path / "hdb" / name, parts, details=True) == whole
    assert json.loads(whole)[0]["metric"] == SAMPLES[name]


@pytest.mark.parametrize("ending", ["jsonl.zst", "parquet"])
@pytest.mark.parametrize("protocol", ["documented", "published"])
def test_figures_do_not_depend_on_the_form(tmp_path, ending, protocol, small_parts):
    path = write_sample("zettelkatalog", tmp_path)
    whole = figures(tmp_path / "hdb/zettelkatalog", path, protocol=protocol)
    parts = split(path, tmp_path / "parts", 7, ending)
    assert figures(tmp_path / "hdb/zettelkatalog", parts, protocol=protocol) == whole


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["zettelkatalog", "avisblatt", "bibliography"])
def test_figures_do_not_depend_on_the_number_of_processes(tmp_path, name, small_parts):
    path = write_sample(name, tmp_path)
    benchmark = tmp_path / "hdb" / name
    whole = figures(benchmark, path, details=True)
    parts = split(path, tmp_path / "parts", 7, "jsonl")
    assert figures(benchmark, parts, details=True, workers=2) == whole


@pytest.mark.nightly
def test_all_metrics_can_be_sent_to_another_process(tmp_path, small_parts):
    for name in ("rheinschifffahrt", "sciencemetabench", "manuscripts"):
        path = write_sample(name, tmp_path / name)
        benchmark = tmp_path / name / "hdb" / name
        assert figures(benchmark, path, workers=2) == figures(benchmark, path)


@pytest.mark.nightly
def test_answers_that_only_one_process_can_load_are_sent(tmp_path, small_parts):
    path = write_sample("zettelkatalog", tmp_path)
    (tmp_path / "whole.json").write_text(json.dumps(read(path)))
    benchmark = tmp_path / "hdb/zettelkatalog"
    whole = figures(benchmark, path)
    assert figures(benchmark, tmp_path / "whole.json", workers=2) == whole


@pytest.mark.nightly
def test_several_rules_and_ways_of_reading_at_once(tmp_path, small_parts):
    path = write_sample("zettelkatalog", tmp_path)
    benchmark = str(tmp_path / "hdb/zettelkatalog")
    rules = [Settings(workers=2), Settings("published"), Settings(options={"threshold": 0.5})]
    together = score_under(benchmark, path, rules)
    for rule, [found] in zip(rules, map(dict.values, together), strict=True):
        alone_rule = Settings(rule.protocol, options=rule.options)
        [alone] = score_runs(benchmark, path, alone_rule).values()
        assert to_record(found) == to_record(alone)


def write_cards(folder, number, line=None):
    """Some cards with answers, the last of which is `line`, if it is given."""
    built = folder / "hdb/cards"
    built.mkdir(parents=True)
    (built / "benchmark.yaml").write_text(json.dumps(SPEC))
    rows = [
        {"id": f"{each:04}", "ground_truth": json.dumps({"title": f"T {each}"})}
        for each in range(number)
    ]
    write(built / "metadata.jsonl", rows)
    answers = [{"id": f"{each:04}", "prediction": {"title": f"T {each}"}} for each in range(number)]
    path = write(folder / "answers.jsonl", answers)
    if line is not None:
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines[:-1], line]) + "\n")
    return path


BROKEN = {
    '{"id": "0019", "prediction": {"title"': r"answers\.jsonl:20: not JSON: ",
    '{"id": "0019", "x": 1}': r"answers\.jsonl:20: needs \"prediction\"",
    '{"id": "0019", "text": "", "text": "{}"}': r"answers\.jsonl:20: .*'text' occurs twice",
    '{"id": "0018", "text": ""}': r"answers\.jsonl:20: a second answer for id '0018'",
    '{"id": "x", "text": ""}': r"answers\.jsonl:20: .* has no id 'x'",
}


@pytest.mark.parametrize("line", BROKEN)
def test_an_unusable_line_is_named(tmp_path, line, small_parts):
    path = write_cards(tmp_path, 20, line)
    with pytest.raises(HdbenchError, match=BROKEN[line]):
        score_runs(str(tmp_path / "hdb/cards"), path)


@pytest.mark.nightly
def test_unusable_line_has_the_same_error_in_another_process(tmp_path, small_parts):
    path = write_cards(tmp_path, 20, '{"id": "0019", "prediction": {"title"')
    said = []
    for workers in (1, 2):
        with pytest.raises(HdbenchError) as error:
            score_runs(str(tmp_path / "hdb/cards"), path, Settings(workers=workers))
        said.append(str(error.value))
    assert said[0] == said[1]


def test_a_line_of_an_item_that_is_not_scored_is_checked_too(tmp_path):
    path = write_cards(tmp_path, 20, '{"id": "0019", "prediction": ')
    metadata = tmp_path / "hdb/cards/metadata.jsonl"
    rows = read(metadata)
    write(metadata, [*rows[:-1], {"id": "0019", "ground_truth": None}])
    with pytest.raises(HdbenchError, match=r"answers\.jsonl:20: not JSON"):
        score_runs(str(tmp_path / "hdb/cards"), path)


def test_processes_are_started_only_where_they_pay(tmp_path, monkeypatch):
    path = write_cards(tmp_path, 1_500)
    numbers = []
    started = Workers.started

    def counted(number, *how):
        numbers.append(number)
        return started(number, *how)

    monkeypatch.setattr(Workers, "started", counted)
    cards = tmp_path / "hdb/cards"
    whole = figures(cards, path)
    assert figures(cards, path, workers=2) == whole
    assert numbers == []
    monkeypatch.setattr(processes, "LEAST", 1e-9)
    assert figures(cards, path, workers=2) == whole
    assert numbers == [2]


def test_the_number_of_processes_is_checked(tmp_path):
    path = write_cards(tmp_path, 20)
    with pytest.raises(HdbenchError, match="--workers: -1 is not a number from 0"):
        score_runs(str(tmp_path / "hdb/cards"), path, Settings(workers=-1))


def test_the_bound_on_values_is_for_each_model(tmp_path):
    path = write_cards(tmp_path, 20)
    lines = [each | {"model": model} for model in "ab" for each in read(path)]
    models = write(tmp_path / "models.jsonl", lines)
    cards = str(tmp_path / "hdb/cards")
    # An answer has one value, its title.
    assert len(score_runs(cards, models, Settings(bounds=Bounds(values=20)))) == 2
    with pytest.raises(HdbenchError, match="have more than 19 fields"):
        score_runs(cards, models, Settings(bounds=Bounds(values=19)))


@pytest.mark.nightly
@pytest.mark.parametrize("ended", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_behind(tmp_path, ended):
    path = write_cards(tmp_path, 200_000)
    command = [sys.executable, "-m", "hdbench", "score", "hdb/cards", path, "--workers", "2"]
    with subprocess.Popen(command, cwd=tmp_path, start_new_session=True) as main:
        try:
            workers = until(lambda: len(found := children(main.pid)) >= 2 and found)
            main.send_signal(ended)
            main.wait(300)
            until(lambda: not any(map(is_running, workers)))
        finally:
            main.kill()
    assert main.returncode != 0


def children(pid):
    """The processes that a process started."""
    found = []
    for each in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(FileNotFoundError, ProcessLookupError):
            after_name = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            if int(after_name[1]) == pid and after_name[0] != "Z":
                found.append(int(each))
    return found


def is_running(pid):
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.nightly
def test_a_killed_process_is_one_line(tmp_path, small_parts, monkeypatch):
    path = write_cards(tmp_path, 3_000)
    before = set(children(os.getpid()))
    taken = scoring._ScoredRun.taken

    def kill_first(whole, parts):
        for number, each in enumerate(taken(whole, parts)):
            if number == 20:  # the first ten items are scored in this process
                os.kill(max(set(children(os.getpid())) - before), signal.SIGKILL)
            yield each

    monkeypatch.setattr(scoring._ScoredRun, "taken", kill_first)
    with pytest.raises(HdbenchError, match="--workers: one of the processes was killed"):
        score_runs(str(tmp_path / "hdb/cards"), path, Settings(workers=2))


RECORDS = st.one_of(
    st.none(),
    st.just("no record"),
    st.fixed_dictionaries(
        {"title": st.sampled_from(["T 1", "T 2", "place"]), "year": st.sampled_from([1, "place"])}
    ),
    st.fixed_dictionaries({"other": st.just(1)}),
)
SCHEMA = AnswerSchema({"properties": {"title": {"type": "string"}, "year": {"type": "integer"}}})


@settings(max_examples=40)
@given(st.lists(RECORDS, min_size=1, max_size=60), st.lists(st.integers(0, 60), max_size=5))
def test_what_parts_saw_adds_up_to_one_pass(records, cuts):
    metric = make_metric("zettel_f1")
    cuts = sorted({0, len(records), *(cut for cut in cuts if cut < len(records))})

    def warnings(bounds):
        checks, tally = Checks(metric), ScoreCollector(metric)
        for start, end in pairwise(bounds):
            looks, part = Looks(len(records)), ScoreCollector(metric)
            for number in range(start, end):
                value = records[number]
                status = "clean" if isinstance(value, dict) else "unparsable"
                status = "unanswered" if value is None else status
                text = None if value is None else str(value)
                answer = Answer(
                    value, status, id=f"{number:03}", text=text, tokens={"input": number % 3}
                )
                truth = {"title": f"T {number % 4}", "year": number % 2}
                scored = part.add(answer, metric.prepare(truth))
                looks.add(answer, scored, SCHEMA.violations(value), truth)
            tally.take(part.collected())
            checks.take(looks)
        result = tally.result()
        return [each.to_dict() for each in checks.warnings(result)], to_record(result), result.worst

    assert warnings(cuts) == warnings([0, len(records)])


@settings(max_examples=15)
@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 12), st.randoms())
def test_any_order_in_any_parts_gives_the_same(tmp_path_factory, number, parts, size, rng):
    folder = tmp_path_factory.mktemp("cards")
    path = write_cards(folder, number)
    answers = [each for each in read(path) if rng.random() < 0.9] or read(path)
    for answer in answers:
        if rng.random() < 0.3:
            answer["prediction"] = {"title": "T 1", "year": rng.randint(1, 3)}
        answer["seconds"] = rng.random()
    whole = figures(folder / "hdb/cards", write(path, answers))
    rng.shuffle(answers)
    shuffled = split(write(path, answers), folder / "parts", parts, "jsonl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "PART", size)
        assert figures(folder / "hdb/cards", shuffled) == whole
