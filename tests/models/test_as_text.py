"""`hdbench run --as-text`: the page's text alone is asked for, and scored like a record with it."""

import json

import pytest
from models.faulty_server import FaultyServer, Response, completion
from PIL import Image
from typer.testing import CliRunner

from hdbench.cli.app import app

TRUTHS = {"1": "Jch gebe\nzwo Meilen", "2": "Haus und Hof"}


def hdbench(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    (folder / "scans").mkdir()
    for name, text in TRUTHS.items():
        Image.new("RGB", (60, 40), "white").save(folder / f"scans/{name}.png")
        (folder / f"scans/{name}.txt").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in (
            ("new", "pages", "scans", "--licence", "cc0-1.0"),
            ("build", "pages"),
        ):
            done = hdbench(*command)
            assert done.exit_code == 0, (done.output, done.exception)
    return folder


@pytest.fixture
def here(built, tmp_path, monkeypatch):
    (tmp_path / "hdb").symlink_to(built / "hdb")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scored(run):
    done = hdbench("score", "hdb/pages", run, "--json", "result.json")
    assert done.exit_code == 0, (done.output, done.exception)
    with open("result.json") as file:
        return json.load(file)


def test_a_server_gets_two_lines_and_no_schema_and_its_text_is_the_answer(here):
    pages = iter(["Jch gebe\nzwo Meilen", "Haus und Hut"])  # 2 of 31 characters: ut for of
    with FaultyServer(lambda _: Response(completion(next(pages)))) as server:
        command = ("run", "hdb/pages", "--model", "m", "--endpoint", server.url)
        command = (*command, "--option", "concurrency=1")
        done = hdbench(*command, "--as-text")
        assert done.exit_code == 0, (done.output, done.exception)
        mixed = hdbench(*command, "-o", "runs/pages_m_as-text")
    assert len(server.requests) == 2
    for request in server.requests:
        assert len(request.images) == 1
        assert "response_format" not in request.body
        assert len(request.text.splitlines()) == 2
        assert "JSON" not in request.text
    assert "was started with other settings (" in str(mixed.exception)
    run = json.loads((here / "runs/pages_m_as-text/run.json").read_text())
    assert run["prompt"]["name"] == "as-text.txt"
    assert run["prompt"]["text"] == server.requests[0].text
    result = scored("runs/pages_m_as-text")
    assert (result["figures"]["answered"], result["figures"]["cer"]) == (2, 2 / 31)
    assert result["run"]["prompt"]["sha256"] == run["prompt"]["sha256"]


@pytest.mark.slow
def test_a_local_model_gets_the_same_prompt(here, tiny_model):
    command = ("run", "hdb/pages", "--model", tiny_model, "--option", "max_new_tokens=4")
    done = hdbench(*command, "--as-text", "-o", "runs/a")
    assert done.exit_code == 0, (done.output, done.exception)
    run = json.loads((here / "runs/a/run.json").read_text())
    assert run["prompt"]["name"] == "as-text.txt"
    assert run["settings"]["constrained_by"] is None
    assert scored("runs/a")["figures"]["items"] == 2


@pytest.mark.slow
def test_a_model_with_a_prompt_for_pages_is_asked_with_it_unless_the_user_has_another(here):
    from helpers.tiny_models import FAMILIES, save_tiny_model  # noqa: PLC0415  slow to import

    docling = next(family for family in FAMILIES if family.name == "Granite Docling")
    save_tiny_model(docling, here / docling.folder)
    command = ("run", "hdb/pages", "--model", docling.folder, "--option", "max_new_tokens=4")
    (here / "mine.txt").write_text("Read.")
    own = "Convert this page to docling."
    for folder, asked, sent in (
        ("runs/a", ("--as-text",), own),
        ("runs/b", (), own),
        ("runs/c", ("--as-text", "--prompt", "mine.txt"), None),
    ):
        done = hdbench(*command, *asked, "-o", folder)
        assert done.exit_code == 0, (done.output, done.exception)
        assert (
            json.loads((here / folder / "run.json").read_text())["settings"].get("own_prompt")
            == sent
        )
        assert ("is asked with its own prompt" in done.stderr) == (sent is not None)
        assert scored(folder)["figures"]["items"] == 2


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("hdb/cards",), "an answer to hdb/cards is a record, not one text"),
        (("hdb/pages", "--option", "schema=true"), "a text keeps no schema"),
    ],
)
def test_where_it_makes_no_sense_it_is_refused(cards, built, monkeypatch, arguments, why):
    (cards / "hdb/pages").symlink_to(built / "hdb/pages")
    monkeypatch.chdir(cards)
    for dry in ((), ("--dry-run",)):
        done = hdbench("run", *arguments, "--model", "m", "--as-text", *dry)
        assert f"--as-text: {why}" in str(done.exception)
    assert not (cards / "runs").exists()
