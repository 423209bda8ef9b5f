"""What needs no server: texts, example files, limits."""

import json
import re
import shutil
import string
import subprocess
import sys

import pytest
from helpers.run_folders import SPEC, write_run

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.common.extras import install_command
from hdbench.common.texts import LANGUAGES
from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext
from hdbench.space.first_view import MADE
from hdbench.space.scoring import MAX_RUNS, Upload, score_upload, write_example
from hdbench.space.texts import translations


def places(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def test_every_language_has_every_text_with_the_same_places():
    texts = translations()
    assert tuple(texts) == LANGUAGES
    assert texts["en"].keys() == texts["de"].keys()
    for key, english in texts["en"].items():
        assert places(english) == places(texts["de"][key]), key
        assert english


def test_first_choice_prefers_runs_then_examples_then_pictures(cards):
    def first():
        return SpaceContext(cards / "hdb").first

    for name, own in (("lines", {"media": "text"}), ("pages", {})):
        other = shutil.copytree(cards / "hdb/cards", cards / "hdb" / name)
        spec = SPEC | own | {"name": name, "report_errors_at": None}
        (other / "benchmark.yaml").write_text(json.dumps(spec))
    assert first() == "cards"
    (cards / "hdb/lines/example_predictions.jsonl").touch()
    assert first() == "lines"
    (cards / "hdb/pages/example_predictions.jsonl").touch()
    assert first() == "pages"
    write_run(cards / "hdb/results/cards/one", {}, benchmark="hdb/cards")
    assert first() == "cards"


def test_benchmark_without_example_gets_one_from_its_truth(cards, tmp_path):
    path = write_example(load_benchmark(str(cards / "hdb/cards")), tmp_path)
    assert path.name == MADE
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["id"] for line in lines] == ["0000", "0001", "0002", "0003"]
    assert lines[2]["prediction"] == {"title": "Stellin", "year": 1924}
    figures = score(str(cards / "hdb/cards"), path).figures
    assert figures["items_perfect"] == 3


def test_a_benchmarks_own_example_comes_first(cards, tmp_path):
    own = cards / "hdb/cards/example_predictions.jsonl"
    own.write_text('{"id": "0000", "prediction": {}}')
    path = write_example(load_benchmark(str(cards / "hdb/cards")), tmp_path)
    assert path.read_text() == own.read_text()


def test_a_result_names_no_folder_of_the_server(cards):
    upload = cards / "somewhere/answers.jsonl"
    upload.parent.mkdir()
    upload.write_text('{"id": "0000", "prediction": {}}')  # of four: a warning names the benchmark
    context = SpaceContext(cards / "hdb")
    _, results = score_upload(context, Upload("cards", upload))
    (result,) = results.values()
    told = json.dumps(result.to_dict()) + repr(result.answers)
    assert str(cards) not in told
    assert "hdb/cards" in told
    assert result.warnings


def test_a_file_of_too_many_models_is_refused(cards):
    path = cards / "answers.jsonl"
    rows = [{"id": "0000", "model": f"m{n}", "prediction": {}} for n in range(MAX_RUNS + 1)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(HdbenchError, match=re.escape(f"answers of {MAX_RUNS + 1} models")):
        score_upload(SpaceContext(cards / "hdb"), Upload("cards", path))


def test_no_benchmark_is_one_line(cards):
    """A page that is not ours can send null for it."""
    with pytest.raises(HdbenchError, match="no benchmark 'None' here: choose one of cards"):
        SpaceContext(cards / "hdb").benchmark(None)


def test_the_help_of_the_command_line_does_not_import_gradio():
    code = "import sys, hdbench.cli; print('gradio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_without_gradio_one_line_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['gradio'] = None; sys.argv = ['hdbench', 'space'];"
        "from hdbench.cli.app import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr == (
        f"error: the web application needs gradio: install it with: {install_command('space')}\n"
    )


def test_an_empty_folder_is_one_line_at_the_command_line(tmp_path, run_hdbench):
    done = run_hdbench("space", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: hdb: no benchmark here: build them with: hdbench build NAME\n"
