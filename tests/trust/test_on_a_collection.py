"""Plan, check and decide in the folder that `hdbench new` made, before it is built."""

import json

import pytest
from trust.collection import SCHEMA, SPEC

from hdbench.annotating.editor import Editor
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.trust.decision import decide
from hdbench.trust.listed import read_listed
from hdbench.trust.plan import PlanOptions, make_plan, write_plan

IDS = [f"c{number:03}" for number in range(150)]


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "cards"
    (made / "images").mkdir(parents=True)
    (made / "images/card.png").touch()
    (made / "benchmark.yaml").write_text(json.dumps(SPEC))
    (made / "answer.schema.json").write_text(json.dumps(SCHEMA))
    row = {"file_name": "images/card.png", "ground_truth": None}
    rows = "".join(json.dumps(row | {"id": item}) + "\n" for item in IDS)
    (made / "metadata.jsonl").write_text(rows)
    return made


def test_the_sample_is_checked_and_decided_without_building(folder, tmp_path):
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for place, path in enumerate(paths):
        answers = [
            {"id": item, "seconds": place, "prediction": {"title": f"Titel {item}"}} for item in IDS
        ]
        path.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    options = PlanOptions(number=120, fields=["title", "year"])
    plan = make_plan(load_benchmark(str(folder)), paths, options)
    where = tmp_path / "plan.yaml"
    write_plan(where, plan)

    editor = Editor(folder, "me", only=read_listed(where).fields)
    for number, item in enumerate(plan.sample):
        title = f"Titel {item}" if number else "another"
        change = {"what": "ground_truth", "field": "", "to": {"title": title}, "after": None}
        editor.change(number, change)
    editor.close()

    decision = decide(plan, load_benchmark(str(folder)), where)
    assert decision.holds
    assert decision.outcome.passing == 240
    assert decision.outcome.wrong["letter"].count == 1
    later = make_plan(load_benchmark(str(folder)), paths, options)
    assert later.known == 120
