"""`hdbench score`: what it prints, writes and refuses."""

import hashlib
import json
import subprocess
import sys

import pytest
from helpers.results import flat_of

RIGHT = {"title": "Stellingen", "year": 1924}
WRONG = {"title": "Stellingen", "year": 1942}
PARTIAL = {
    "kind": "partial",
    "message": "3 of 4 items have an answer, and the other one counts as a failure: complete the "
    "run, or compare it only with runs on the same items",
    "key": "partial",
    "values": {"given": 3, "items": 4, "count": 1},
    "count": 1,
    "of": 4,
    "ids": ["0002"],
}
HEAVY = ("torch", "transformers", "gradio", "evaluate", "datasets", "pandas", "pyarrow")


@pytest.fixture
def score(cards, run_hdbench):
    def run(lines, *arguments, raw=None):
        data = raw if raw is not None else "".join(json.dumps(line) + "\n" for line in lines)
        (cards / "predictions.jsonl").write_bytes(data if raw is not None else data.encode())
        return run_hdbench("score", "hdb/cards", "predictions.jsonl", *arguments, cwd=cards)

    return run


def test_the_result_as_flat_json(score, cards):
    lines = [
        {"id": "0003", "text": 'Sure:\n```json\n{"title": "Stellingen", "year": "1924"}\n```'},
        {"id": "0000", "prediction": RIGHT},
        {"id": "0001", "prediction": WRONG},
    ]
    done = score(lines, "--json", "result.json")
    assert done.returncode == 0, done.stderr
    result = json.loads((cards / "result.json").read_text())
    signature, versions = result.pop("signature"), result.pop("versions")
    assert signature.endswith(f"|hdbench:{versions['hdbench']}")
    assert list(versions) == ["hdbench", "rapidfuzz", "json_repair", "numpy", "scipy", "python"]
    assert signature.startswith(
        "zettel_f1|protocol:documented|threshold:0.92|weights:1|rules:4|reading:4|"
    )
    metadata = (cards / "hdb/cards/metadata.jsonl").read_bytes()
    # Right 2, 2 and 1, wrong 1; the fourth card is unanswered and misses 2: 5 of 6 and of 8.
    assert result.pop("fields")["year"]["f1"] == pytest.approx(2 * 2 / (2 * 2 + 1 + 2))
    assert [item["id"] for item in result.pop("worst")] == ["0002", "0001", "0000", "0003"]
    assert result == {
        "figures": {
            "f1_micro": pytest.approx(10 / 14),
            "f1_macro": pytest.approx((1 + 1 + 0.5 + 0) / 4),
            "precision_micro": 5 / 6,
            "recall_micro": 5 / 8,
            "true_positives": 5,
            "false_positives": 1,
            "false_negatives": 3,
            "items_perfect": 2,
            "items": 4,
            "answered": 3,
            "unanswered": 1,
            "unparsable": 0,
        },
        "status": {
            "clean": 2,
            "unwrapped": 1,
            "repaired": 0,
            "truncated": 0,
            "unparsable": 0,
            "unanswered": 1,
        },
        "unparsable_kinds": {},
        # Without the card in a fence: 3 of 4 and of 8.
        "strictly": {
            "f1_micro": 0.5,
            "f1_macro": (1 + 0.5) / 4,
            "precision_micro": 3 / 4,
            "recall_micro": 3 / 8,
            "true_positives": 3,
            "false_positives": 1,
            "false_negatives": 5,
            "items_perfect": 1,
        },
        "dataset": {
            "benchmark": "hdb/cards",
            "dataset_version": "1.0.0",
            "dataset_sha256": hashlib.sha256(metadata).hexdigest(),
            "headline": "f1_micro",
            "higher_is_better": True,
        },
        "reading": {
            "version": 4,
            "strict": False,
            "as_given": False,
            "notes": [],
            "schema_violations": {},
            "warnings": [PARTIAL],
        },
        # One card is unanswered, one wrong, two are right.
        "intervals": {
            "method": "bootstrap over items and one unseen item, percentile intervals",
            "level": 0.95,
            "resamples": 10_000,
            "seed": 0,
            "figures": {},
            "why": "4 items: too few for an interval",
            "item_ranges": {
                "f1_micro": [0.0, 1.0],
                "f1_macro": [0.0, 1.0],
                "precision_micro": [0.0, 1.0],
                "recall_micro": [0.0, 1.0],
            },
        },
        "effort": {"corrected": "field", "corrections": 0.75, "values": 2.0},
        "metric": {
            "name": "zettel_f1",
            "rules": 4,
            "protocol": "documented",
            "options": {"threshold": 0.92, "weights": 1},
        },
        "run": {"run": "", "benchmark": "", "model": "", "own_images": False},
        "usage": {},
        "answers": {
            "path": "predictions.jsonl",
            "sha256": hashlib.sha256((cards / "predictions.jsonl").read_bytes()).hexdigest(),
        },
        "item_set": "4-" + hashlib.sha256(b'["0000", "0001", "0002", "0003"]').hexdigest()[:12],
        "outcomes": {
            "correct": {"title": 3, "year": 2},
            "substituted": {"year": 1},
            "missing": {"title": 1, "year": 1},
            "spurious": {},
        },
        "ids": ["0000", "0001", "0002", "0003"],
        "statuses": ["clean", "clean", "unanswered", "unwrapped"],
        "kinds": {},
        "strata": [],
        "stratum_outcomes": {},
        "other_errata": {},
        "per_item": [],
        "statistics": {
            "true_positives": [2, 1, 0, 2],
            "false_positives": [0, 1, 0, 0],
            "false_negatives": [0, 1, 2, 0],
            "f1": [1.0, 0.5, 0.0, 1.0],
            "perfect": [1, 0, 0, 1],
            "corrections": [0, 1, 2, 0],
            "values": [2, 2, 2, 2],
        },
        "strict_statistics": {"0003": {"false_negatives": 2, "corrections": 2, "values": 2}},
    }
    assert "only valid JSON counted: f1_micro 0.5000 instead of 0.7143" in done.stdout
    assert "f1_micro" in done.stdout
    _, first, *lines = done.stdout.splitlines()
    assert first == (
        "2 of 4 items need no correction; on average 0.75 of 2 fields per item are wrong. 1 item "
        "without a usable answer counts as a complete failure. F1 (micro) 0.7143."
    )
    assert "4 items: 3 answered, 1 unanswered, 0 unparsable" in lines
    assert "of the answered, 1 unwrapped" in done.stdout
    assert "warning: 3 of 4 items have an answer" in done.stdout
    assert "year: 1924 → 1942" in done.stdout


def test_details_protocol_and_options(score, cards):
    done = score(
        [{"id": "0002", "prediction": WRONG}],
        *("--json", "result.json", "--details", "--protocol", "published"),
        *("--option", 'weights={"year": 3}', "--option", "threshold=0.5"),
    )
    assert done.returncode == 0, done.stderr
    result = flat_of(cards / "result.json")
    assert [item["id"] for item in result["per_item"]] == ["0000", "0001", "0002", "0003"]
    # 1924 and 1942 are alike by 0.75; weights 1 and 3.
    assert (result["true_positives"], result["false_negatives"]) == (4, 12)
    assert result["metric"]["protocol"] == "published"
    assert 'threshold:0.5|weights:{"year":3.0}' in result["signature"]
    assert result["fields"]["year"]["true_positives"] == 1


BOTH = [
    {"id": "0000", "prediction": None, "text": json.dumps(RIGHT)},
    {"id": "0001", "prediction": {"error": "timeout"}, "text": json.dumps(RIGHT)},
    {"id": "0002", "prediction": WRONG, "text": json.dumps(RIGHT)},
    {"id": "0003", "prediction": json.dumps(RIGHT)},
]


@pytest.mark.parametrize(
    ("arguments", "true_positives", "answered"),
    [
        # The text is read where there is no record beside it, and so is a text inside JSON.
        ([], 2 + 2 + 1 + 2, 4),
        # What was published was scored as it stands; an object that is only an error was answered.
        (["--protocol", "published"], 1, 2),
    ],
)
def test_which_of_prediction_and_text_is_scored(score, cards, arguments, true_positives, answered):
    assert score(BOTH, *arguments, "--json", "result.json").returncode == 0
    result = flat_of(cards / "result.json")
    assert (result["true_positives"], result["answered"]) == (true_positives, answered)


def test_details_hold_the_errors_by_class(score, cards):
    lines = [
        {"id": "0000", "prediction": {"title": "STELLINGEN", "year": 1924}},
        {"id": "0001", "prediction": {"title": "Ste11ingen", "year": 1942, "place": "Leiden"}},
        {"id": "0002", "prediction": RIGHT},
    ]
    done = score(lines, "--json", "result.json", "--details")
    assert done.returncode == 0, done.stderr
    errors = flat_of(cards / "result.json")["errors"]
    assert errors["classes"] == {"case": 1, "ocr": 1, "number_or_date": 1, "invented": 1}
    assert errors["fields"]["title"] == {"case": 1, "ocr": 1}
    [confused] = errors["confusions"]
    assert confused == {
        "reference": "l",
        "prediction": "1",
        "count": 2,
        "of": 6,
        "example": "Stellingen → Ste1lingen",
    }
    # Of eight fields of the truth two are missing; the title in capitals is right in its form.
    right, wrong, missing = 4, 3, 4
    assert errors["f1_form"] == pytest.approx(2 * right / (2 * right + wrong + missing))


TITLES = {"documented": {"texts": {"title": "always"}}}


@pytest.mark.parametrize(
    ("changed", "also", "said"),
    [
        ({"headline": "recall_micro"}, "threshold=0.5", "recall_micro, higher is better"),
        (
            {"metric": "text_cer", "headline": "wer", "higher_is_better": False}
            | {"protocols": TITLES},
            "unit=grapheme",
            "wer, lower is better",
        ),
    ],
)
def test_headline_comes_first_with_its_direction(score, cards, changed, also, said):
    spec = cards / "hdb/cards/benchmark.yaml"
    spec.write_text(json.dumps(json.loads(spec.read_text()) | changed))
    done = score([{"id": "0000", "prediction": RIGHT}], "--also", also)
    assert done.returncode == 0, done.stderr
    first = [line.split()[:1] for line in done.stdout.splitlines()]
    tables = [at for at, cells in enumerate(first) if cells == ["figure"]]
    assert [first[at + 2] for at in tables] == [[changed["headline"]]] * 2
    assert f"primary metric: {said}" in done.stdout.splitlines()


def test_what_is_unparsable_is_counted_by_kind_and_printed(score, cards):
    lines = [
        {"id": "0000", "text": "title: Stellingen\nyear: 1924\n"},
        {"id": "0001", "text": '{"message": "I see no image."}'},
        {"id": "0002", "prediction": {"error": "timeout"}},
        {"id": "0003", "prediction": {"error": "timeout"}, "text": json.dumps(RIGHT)},
    ]
    done = score(lines, "--json", "result.json")
    result = flat_of(cards / "result.json")
    assert result["unparsable_kinds"] == {"message": 2, "format": 1}
    assert (
        "unparsable: message, error or tool call (2), XML, YAML or table instead of JSON (1)"
        in done.stdout
    )
    assert (result["answered"], result["true_positives"]) == (1, 2)


def test_a_model_column_splits_a_file_into_runs(score, cards):
    lines = [
        {"id": f"000{number}", "model": model, "prediction": prediction}
        for model, prediction in (("\x1b[31ma", RIGHT), ("b", WRONG))
        for number in range(4)
    ]
    done = score(lines, "--json", "result.json")
    assert done.returncode == 0, done.stderr
    assert "\\x1b[31ma: hdb/cards 1.0.0, documented" in done.stdout
    runs = json.loads((cards / "result.json").read_text())["runs"]
    assert [(run["model"], run["figures"]["f1_micro"]) for run in runs] == [
        ("\x1b[31ma", 1.0),
        ("b", 0.5),
    ]


def test_schema_violations_are_reported_per_field_and_scored(score, cards):
    schema = {
        "type": "object",
        "required": ["title"],
        "properties": {"title": {"type": "string"}, "year": {"type": "integer"}},
    }
    (cards / "hdb/cards/answer.schema.json").write_text(json.dumps(schema))
    lines = [
        {"id": "0000", "prediction": RIGHT | {"year": "1924"}},
        {"id": "0001", "prediction": {"year": "1924"}},
        {"id": "0002", "prediction": {"answer": RIGHT}},
    ]
    done = score(lines, "--json", "result.json")
    assert done.returncode == 0, done.stderr
    result = flat_of(cards / "result.json")
    assert result["schema_violations"] == {"year": {"type": 2}, "title": {"required": 1}}
    assert result["true_positives"] == 2 + 1 + 2
    assert result["status"]["unwrapped"] == 1


def line(number):
    return json.dumps({"id": f"000{number}", "prediction": RIGHT}).encode() + b"\n"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "predictions.jsonl: no predictions in this file"),
        (b"\n \n", "predictions.jsonl: no predictions in this file"),
        (line(0) + b'{"id": "0001", "prediction"', "predictions.jsonl:2: not JSON"),
        (line(0) + b"\n[1, 2]\n", "predictions.jsonl:3: must be a JSON object"),
        (b'{"prediction": {}}', "predictions.jsonl: needs a column id"),
        (b'{"id": 17.5, "prediction": {}}', 'predictions.jsonl: entry 1: needs an "id"'),
        (b'{"id": 17, "prediction": {}}', "predictions.jsonl: entry 1: hdb/cards has no id '17'"),
        (line(0) + line(1) + line(0), ":3: a second answer for id '0000', the first is "),
        (line(0) + line(7) + line(8), ":2: hdb/cards has no id '0007': is this file for another"),
        (line(0) + '{"id": "Bär"}'.encode("latin-1"), "predictions.jsonl:2: not UTF-8"),
        (b'{"id": "0001", "prediction": ' + b"[" * 100_000, "predictions.jsonl: not usable JSON"),
        (b'{"id": "0001", "prediction": ' + b"[" * 101 + b"]" * 101 + b"}", "more than 100 deep"),
        (b'{"id": "0001", "prediction": ' + b"9" * 5000 + b"}", "predictions.jsonl: not usable"),
        (b'{"id": "\\u001b[31m", "prediction": {}}', "no id '\\x1b[31m'"),
    ],
)
def test_unusable_input_is_one_line_and_status_2(score, cards, raw, message):
    done = score([], "--json", "result.json", raw=raw)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
    assert not (cards / "result.json").exists()


def test_a_truth_that_was_spoilt_is_named_by_its_line(score, cards):
    metadata = cards / "hdb/cards/metadata.jsonl"
    rows = metadata.read_text().splitlines()
    for spoilt, told in (
        ([*rows, rows[0]], "metadata.jsonl:5: the id '0000' occurs twice"),
        (['{"id": "0000", "ground_truth": "{"}'], "metadata.jsonl:1: ground_truth is not JSON"),
        ([rows[0], '{"id": "1", "ground_truth": {"year": NaN}}'], "line 1, ground_truth.year: NaN"),
        (
            [rows[0], r'{"id": "1", "ground_truth": "{\"year\": 1e999}"}'],
            "line 1, year: the number",
        ),
        ([rows[0][:-1] + ', "id": "0001"}'], "metadata.jsonl:1: has two ids, '0000' and '0001'"),
    ):
        metadata.write_text("\n".join(spoilt))
        assert told in score([], raw=line(0)).stderr


def test_a_traceback_only_with_debug(run_hdbench, cards):
    for arguments in (["--debug", "score", "x", "y"], ["score", "x", "y", "--debug"]):
        done = run_hdbench(*arguments, cwd=cards)
        assert "Traceback" in done.stderr
        assert done.returncode == 1


def test_hostile_answers_print_and_write_harmlessly(score, cards):
    answer = {"\x1b[2J[red]x": "\x1b]0;title\x07‮\ud800[bold]", "year": float("nan")}
    done = score([{"id": "0000", "prediction": answer}], "--json", "result.json", "--details")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "‮" not in done.stdout
    text = (cards / "result.json").read_text()
    result = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the result"))
    values = {match["field"]: match["prediction"] for match in result["per_item"][0]["fields"]}
    shown = answer["\x1b[2J[red]x"].replace("\u202e", "")  # as it was compared
    assert values["\x1b[2J[red]x"] == shown
    assert values["year"] is None  # JSON has no NaN


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], [*HEAVY, "numpy", "pydantic", "rapidfuzz"]),
        (["score", "hdb/cards", "p.jsonl"], [*HEAVY, "scipy"]),
    ],
)
def test_nothing_heavy_is_imported(cards, arguments, heavy):
    (cards / "p.jsonl").write_bytes(line(0))
    script = (
        "import sys, atexit\n"
        f"atexit.register(lambda: print('HEAVY', [m for m in {heavy!r} if m in sys.modules]))\n"
        f"sys.argv = ['hdbench', *{arguments!r}]\n"
        "from hdbench.cli.app import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=cards, capture_output=True, text=True, timeout=300
    )
    assert "HEAVY []" in done.stdout, done.stderr
