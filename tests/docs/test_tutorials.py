"""The tutorials in docs/, followed block by block in an empty folder."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from time import sleep

import pytest
from helpers.forks import Forks
from helpers.invented_cards import InventedCards
from helpers.pages import blocks, commands, tutorial
from helpers.plain import PLAIN
from models.faulty_server import FaultyServer, Response, completion

from hdbench.collections.new.drawing import Population, draw
from hdbench.collections.trust.blind_reading import values_to_read
from hdbench.collections.truth.editor import Editor
from hdbench.collections.truth.reading_page import ValueCheck

DOCS = Path(__file__).parents[2] / "docs"


def printed(text):
    """The lines of an output, without those that are empty."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def shows(block, output):
    """Whether the lines of a block are among those of an output, in order; … is anything."""
    rest = iter(printed(output))
    patterns = [".*".join(map(re.escape, line.split("…"))) for line in printed(block)]
    return all(any(re.fullmatch(pattern, line) for line in rest) for pattern in patterns)


class Reader:
    """Somebody who follows a page: saves its files, runs its commands, looks at what they print.

    Attributes:
        folder: where.
        outputs: what each command of hdbench printed.
        not_printed: what the page shows as printed, and no command so far had.
    """

    def __init__(
        self,
        folder,
        run_hdbench,
        replaced=(),
        *,
        new=False,
        environment=PLAIN,
        annotate=None,
        before=(),
    ):
        self.folder, self.outputs, self.not_printed = folder, [], []
        self._annotate = annotate  # what is done at the page that hdbench annotate opens
        self._before = dict(before)  # what people do, without hdbench, before a command
        self._run_hdbench, self._replaced, self._new = run_hdbench, dict(replaced), new
        self._environment = dict(environment)

    def follow(self, page, *sections):
        for block in blocks(DOCS / page, *(sections or tutorial(DOCS / page))):
            if block.file:
                path = self.folder / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            elif block.language == "sh":
                for line in block.text.splitlines():
                    self._type(line)
            elif block.language == "text":
                if not any(shows(block.text, output) for output in self.outputs):
                    self.not_printed.append(block.text)
            else:
                assert block.text.startswith(">>>"), f"{page}: is this a file? {block.text}"
                (self.folder / "examples.txt").write_text(block.text, encoding="utf-8")
                self._python("-m", "doctest", "examples.txt")
        return self

    def _type(self, line):
        for shown, used in self._replaced.items():
            line = line.replace(shown, used)
        program, *arguments = shlex.split(line, comments=True)
        if program == "export":
            self._environment |= [arguments[0].split("=")]
        elif program == "python":
            self._python(*arguments)
        elif program == "pip":
            self._install(*arguments)
        elif self._annotate and arguments[0] == "annotate":
            self._annotate(*arguments[1:])
        else:
            assert program == "hdbench", line
            for command, do in self._before.items():
                if line.startswith(f"hdbench {command} "):
                    do()
            options = {"cwd": self.folder, "new": self._new, **self._environment}
            done = self._run_hdbench(*arguments, **options)
            assert done.returncode == 0, (line, done.stdout, done.stderr)
            self.outputs.append(done.stdout + done.stderr)

    def _python(self, *arguments):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=os.environ | self._environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)

    def _install(self, install, *what):
        """Beside the environment of the tests, not into it."""
        assert install == "install"
        alone = ("--no-deps", "--no-index", "--no-build-isolation", "--target", "installed")
        self._python("-m", "pip", "install", *alone, *what)
        path = (str(self.folder / "installed"), self._environment["PYTHONPATH"])
        self._environment["PYTHONPATH"] = os.pathsep.join(path)


@pytest.mark.parametrize("page", ["score.md", "compare.md", "transcriptions.md"])
def test_what_it_shows_is_what_happens(page, tmp_path, run_hdbench):
    reader = Reader(tmp_path, run_hdbench).follow(page)
    assert reader.not_printed == []
    shown = commands(DOCS / page, *tutorial(DOCS / page))
    typed = [line for line in shown if line.startswith("hdbench ")]
    assert len(reader.outputs) == len(typed) > 0


@pytest.mark.nightly
def test_a_metric_is_written_and_used(tmp_path, run_hdbench):
    reader = Reader(tmp_path, run_hdbench, new=True).follow("python.md", "Write a metric")
    assert reader.not_printed == []
    *_, built, scored = reader.outputs
    assert "hdb/years" in built
    assert "tolerance=10" in scored


def test_a_model_behind_an_api_reads_the_cards(tmp_path, run_hdbench):
    record = {"author": {"last_name": "Curie"}}
    answer = Response(completion(json.dumps(record)))
    with FaultyServer(lambda _: answer, models=["vision-large"]) as server:
        replaced = {"https://api.example.org/v1": server.url}
        reader = Reader(tmp_path, run_hdbench, replaced)
        reader.follow("run.md", "Get a benchmark", "Behind an API")
        assert len({b"".join(each.images) for each in server.requests}) == 8
        assert len(server.requests) == 1 + 8
        assert {each.headers["authorization"] for each in server.requests} == {"Bearer your-key"}
    assert reader.not_printed == []
    dry, *_, scored = reader.outputs[1:]
    assert "8 to ask" in dry
    assert "127.0.0.1" in dry
    assert "8 answered" in scored


LOCAL = """
helpers.tiny_llava datasets hdbench.cli hdbench.report.folder hdbench.report.plots
hdbench.models.transformers_backend
"""
"""What the commands of a local model import."""


@pytest.mark.nightly
def test_a_local_model_reads_the_cards(tmp_path):
    forks = Forks(*LOCAL.split(), OMP_NUM_THREADS="1", PYTHONPATH=str(DOCS.parent / "tests"))
    model = tmp_path / "Qwen/Qwen3-VL-4B-Instruct"  # a folder is taken before the Hub
    save = f"from helpers.tiny_llava import save_tiny_llava as save; save({str(model)!r})"

    def run(*arguments, cwd, new, **environment):
        return forks.run("-m", "hdbench", *arguments, cwd=cwd, env=os.environ | environment)

    fewer = {"-tokens 512": "-tokens 16"}
    with closing(forks):
        saved = forks.run("-c", save, cwd=tmp_path, env=dict(os.environ))
        assert saved.returncode == 0, saved.stderr
        reader = Reader(tmp_path, run, fewer, environment={"COLUMNS": "100"})
        reader.follow("run.md", "Get a benchmark", "On your own computer")
    assert reader.not_printed == []
    answers = (tmp_path / "runs/qwen/answers.jsonl").read_text().splitlines()
    assert len({json.loads(line)["id"] for line in answers}) == len(answers) == 8
    assert "runs on this machine" in reader.outputs[1]
    assert (tmp_path / "report/index.html").is_file()
    assert json.loads((tmp_path / "runs/unseen/run.json").read_text())


def read_values(folder, person, only, truths):
    """Read all values that the page offers a person, as they stand on the cards."""
    planned = values_to_read(only, folder)
    with closing(ValueCheck(folder, planned, person, None)) as check:
        state = check.state()
        while state["phase"] != "done":
            if state["phase"] == "reading":
                (number, *_) = state["next"]
                key = check.key(number)
                given = {"what": "value", "value": truths[key.item][key.field], "seconds": 9.0}
                state = check.read(number, given | {"after": None})
            else:
                check.go_on({"stage": state["stage"]})
                sleep(0.05)
                state = check.state()


def wrong_values(out, truths):
    """How many values are accepted, and how many of them are wrong."""
    taken = wrong = 0
    for line in (out / "values.jsonl").read_text().splitlines():
        item = json.loads(line)
        for field, value in item["fields"].items():
            if value["decision"] == "taken":
                taken += 1
                wrong += str(value["value"]) != truths[item["id"]][field]
    return taken, wrong


def catalogued(cards, items):
    """A spreadsheet in which somebody has typed what stands on these cards."""
    rows = ([item, *cards.truths[item].values()] for item in items)
    table = io.StringIO()
    csv.writer(table).writerows([("card", *cards.truths[items[0]]), *rows])
    return table.getvalue()


def answering(cards):
    """What a server of the three models answers: it knows a card by what stands on it."""
    by_text = {"\n".join(card.values()): item for item, card in cards.truths.items()}

    def respond(request):
        lines = request.text.rstrip().splitlines()
        item = by_text["\n".join(lines[-len(cards.truths["0000"]) :])]
        answer = cards.answers[request.body["model"]][item]
        return Response(completion(json.dumps(answer | {"year": int(answer["year"])})))

    return respond


@pytest.mark.nightly
def test_scans_become_records_in_a_catalogue(tmp_path, run_hdbench, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the plan names its runs from there
    cards = InventedCards()
    cards.write_scans(tmp_path / "scans")
    drawn = []

    def type_sheet():
        population = Population(
            "scans", sorted(path.name for path in (tmp_path / "scans").iterdir()), {}, ()
        )
        drawn.extend(Path(name).stem for name in draw(population, 60, seed=1).ids)
        text = catalogued(cards, drawn[:-2])
        (tmp_path / "sheet.csv").write_text(text, encoding="utf-8")

    def annotate(collection, *options):
        given = dict(zip(options[::2], options[1::2], strict=True))
        folder = tmp_path / collection
        if "--only" in given:
            read_values(folder, given["--as"], tmp_path / given["--only"], cards.truths)
            return
        with closing(Editor(folder, given["--as"])) as editor:
            items = [item for item, *_ in editor.start()["items"]]
            for item in drawn[-2:]:
                record = cards.truths[item] | {"year": int(cards.truths[item]["year"])}
                entered = {"what": "ground_truth", "field": "", "to": record, "after": None}
                editor.change(items.index(item), entered)

    with FaultyServer(answering(cards), models=list(cards.answers)) as server:
        replaced = {"https://api.example.org/v1": server.url}
        before = {"new": type_sheet}
        reader = Reader(tmp_path, run_hdbench, replaced, annotate=annotate, before=before)
        reader.follow("trust.md")
    assert reader.not_printed == []
    taken, wrong = wrong_values(tmp_path / "out", cards.truths)
    said = " ".join((DOCS / "trust.md").read_text().split())
    assert f"Of the {taken:,} values, {wrong} are wrong, {wrong / taken:.1%}" in said.replace(
        " %", "%"
    )
    assert (tmp_path / "decision.html").read_text().startswith("<!DOCTYPE html>")
