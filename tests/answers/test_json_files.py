"""JSON Lines, a JSON list, a JSON object id → answer."""

import json
import tracemalloc

import pytest

from hdbench.answers.files import AnswersSource, open_json
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import HdbenchError

SCHEMA = AnswerSchema({"type": "object", "properties": {"title": {"type": "string"}}})
A, B = {"title": "A"}, {"title": "B"}


@pytest.fixture
def read(tmp_path):
    """Write a file, and give its answers: model → id → (place, fields)."""

    def read(content, name="answers.json"):
        path = tmp_path / name
        raw = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(raw)
        container = open_json(AnswersSource(path, name, SCHEMA))
        try:
            return {
                model: {
                    item_id: (container.where(key), container.load(key))
                    for item_id, key in ids.items()
                }
                for model, ids in container.runs.items()
            }
        finally:
            container.close()

    return read


def entry(item_id, answer=A, **more):
    return json.dumps({"id": item_id, "prediction": answer, **more})


@pytest.mark.parametrize("name", ["answers.jsonl", "answers.json", "answers.csv"])
def test_json_lines_are_known_by_their_content(read, name):
    assert read(f"\ufeff{entry('1')}\r\n \n{entry('2', B)}", name) == {
        None: {"1": (f"{name}:1", {"prediction": A}), "2": (f"{name}:3", {"prediction": B})}
    }


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_and_an_object_of_ids_on_one_line_or_many(read, indent):
    entries = [{"id": "1", "prediction": A}, {"sha256": "2", "title": "B"}, {"id": 3, "text": "C"}]
    answers = {
        "1": ('answers.json: "1"', {"prediction": A}),
        "2": ('answers.json: "2"', {"prediction": B}),
        "3": ('answers.json: "3"', {"text": "C"}),
    }
    in_list = {
        item: (f"answers.json: entry {number}", fields)
        for number, (item, (_, fields)) in enumerate(answers.items(), start=1)
    }
    assert read(json.dumps(entries, indent=indent)) == {None: in_list}
    by_id = {"1": {"prediction": A}, "2": B, "3": "C", "4": None, "5": {"odd": 1}}
    assert read(json.dumps(by_id, indent=indent)) == {
        None: answers
        | {
            "4": ('answers.json: "4"', {"prediction": None}),
            "5": ('answers.json: "5"', {"prediction": {"odd": 1}}),
        }
    }


@pytest.mark.parametrize("indent", [None, 2])
def test_one_answer_alone_is_known_by_its_id(read, indent):
    answers = read(json.dumps({"id": "1", "prediction": A}, indent=indent))
    assert [fields for _, fields in answers[None].values()] == [{"prediction": A}]


@pytest.mark.parametrize("one", [A, {"text": "{}"}, {"prediction": A}])
def test_one_answer_alone_without_an_id_is_refused(read, one):
    with pytest.raises(
        HdbenchError, match=r'answers\.json: (needs a column id|entry 1: needs an "id")'
    ):
        read(json.dumps(one))


def test_models_are_runs_with_ids_of_their_own(read):
    lines = [entry("1", A, model="x"), entry("1", B, model="y"), entry("2", B, model="x")]
    for text in ("\n".join(lines), f"[{','.join(lines)}]"):
        runs = read(text)
        assert {model: list(ids) for model, ids in runs.items()} == {"x": ["1", "2"], "y": ["1"]}
        assert runs["y"]["1"][1] == {"prediction": B}
    assert list(read(json.dumps({"1": {"prediction": A, "model": "x"}}))) == ["x"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{entry('1')}\n{entry('2')}\n{entry('1')}", ":3: a second answer for id '1', "),
        (f"[{entry('1')},{entry('1')}]", ": entry 2: a second answer for id '1', the first is"),
        ('{"1": null,\n "1": null}', ": not usable JSON: the key '1' occurs twice: keep one"),
        ('{"1": null, "1": null}', ": not usable JSON: the key '1' occurs twice: keep one"),
        (f'{entry("1")}\n{{"prediction": 1, "prediction": 2}}', ":2: not usable JSON: the key"),
        ('{"id": "2", "\\u0069d": "3"}', ": not usable JSON: the key 'id' occurs twice"),
        (f"{entry('1')}\n[1]", ":2: must be a JSON object in braces"),
        ("[1]", ": entry 1: must be a JSON object in braces, with an id"),
        ('[{"title": "A"}]', ': needs a column id'),
        ('{"1": {}, "2": [1]}', ': "2": an answer must be an object'),
        ("[]", ": no predictions in this file"),
        ("{}", ": no predictions in this file"),
        (f"[{entry('1')}", ":1: not JSON: Expecting ',' delimiter"),
        (f"[\n{entry('1')}\n{entry('2')}]", ":3: not JSON: Expecting ',' delimiter (column 1)"),
        (f'{{"id": "0"\n{entry("1")}', ":2: not JSON"),
        (f"{entry('1')}\n".encode() + '{"id": "ä"}'.encode("latin-1"), ":2: not UTF-8 (byte 9)"),
        ('[\n{"id": "ä"}]'.encode("latin-1"), ":2: not UTF-8: save as UTF-8"),
        (f"[{'[' * 100_000}", ": not usable JSON: nested more than 100 deep"),
        ('{"id": "1", "prediction": ' + "[" * 100_000, ": not usable JSON: nested more than"),
        ('{"1":\n' + '{"a":' * 100_000, ": not usable JSON: nested more than 100 deep"),
        ('{"1": ' + "9" * 5000 + "}", ": not usable JSON: a number has too many digits"),
    ],
)  # fmt: skip
def test_unusable_files_are_refused_with_the_place(read, content, message):
    with pytest.raises(HdbenchError) as caught:
        read(content)
    assert f"answers.json{message}" in str(caught.value)


def test_a_list_or_object_is_read_whole_only_up_to_a_size(read, monkeypatch):
    monkeypatch.setattr("hdbench.answers.forms.MAX_WHOLE", 2**20)
    too_large = json.dumps([{"id": "1", "text": "x" * 2**20}], indent=1)
    with pytest.raises(HdbenchError, match=r"larger than 1 MiB: write JSON Lines"):
        read(too_large)


def test_object_of_ids_may_exceed_the_line_limit_of_entries(read, monkeypatch):
    for module in ("hdbench.common.jsonio", "hdbench.answers.files"):
        monkeypatch.setattr(f"{module}.MAX_LINE", 1000)
    by_id = {str(number): "x" * 100 for number in range(50)}
    assert len(read(json.dumps(by_id))[None]) == 50
    monkeypatch.setattr("hdbench.answers.files.MAX_WHOLE", 2000)
    with pytest.raises(HdbenchError, match=r"answers\.json:1: the line is longer than"):
        read(json.dumps(by_id))


def test_of_json_lines_only_ids_and_offsets_are_kept(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(entry(str(n), {"title": "x" * 2000}) + "\n" for n in range(10_000)))
    tracemalloc.start()
    container = open_json(AnswersSource(path, "answers.jsonl", SCHEMA))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert container.load(container.runs[None]["9999"]) == {"prediction": {"title": "x" * 2000}}
    container.close()
    assert kept < 4 * 2**20  # of 20 MB


def test_a_line_without_an_answer_is_of_the_model_that_it_names(read):
    lines = [entry("1", A, model="x"), json.dumps({"id": "2", "model": "x", "text": None})]
    assert list(read("\n".join(lines))) == ["x"]
