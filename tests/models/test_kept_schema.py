"""How many answers keep the schema that a server was to hold them to."""

import itertools
import json

import pytest
from models.faulty_server import FaultyServer, Response, completion
from models.many_texts import Run, write_texts

pytestmark = pytest.mark.nightly

SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "year": {"type": "integer"}},
    "required": ["year"],
}


def test_how_many_answers_keep_the_schema_is_recorded_and_said(tmp_path):
    write_texts(tmp_path, 8)
    (tmp_path / "hdb/texts/answer.schema.json").write_text(json.dumps(SCHEMA))
    texts = itertools.cycle(['{"year": 1924}', '{"year": "1924"}'])
    with FaultyServer(lambda _: Response(completion(next(texts))), models=["m"]) as server:
        run = Run(tmp_path, server.url)
        done = run.run("--option", "concurrency=1")
    assert done.returncode == 0, done.stderr
    line = "answers that were to keep the answer schema: 4 do, 4 do not"
    assert line in done.stdout
    answers = run.folder / "answers.jsonl"
    old = [json.loads(line) for line in answers.read_text().splitlines()]
    assert all(answer["constrained"] for answer in old)
    assert [answer.pop("keeps_schema") for answer in old].count(True) == 4
    answers.write_text("".join(json.dumps(answer) + "\n" for answer in old))
    assert run.hdbench("score", "hdb/texts", "runs/a").returncode == 0
