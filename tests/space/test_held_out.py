"""Held-out totals in the Space: totals only, three times a day, on a real server."""

import datetime
import io
import json
import re
import zipfile
from dataclasses import replace

import httpx
import openpyxl
import pytest
import yaml
from helpers.run_folders import SPEC
from space.servers import APP, serving, wait_for_client
from space.visitors import Visitor, run

from hdbench.datasets.collecting.held_out import hold_out
from hdbench.errors import HdbenchError
from hdbench.space.app import build_app
from hdbench.space.context import SpaceContext
from hdbench.space.jobs import scoring
from hdbench.space.jobs.scoring import (
    MAX_LOOKS,
    MIN_ANSWERED,
    HeldOutAccess,
    HeldOutQuota,
    Upload,
    View,
    view,
)
from hdbench.space.jobs.working import sending
from hdbench.space.views.example import write_example
from hdbench.space.views.first_look import FirstLooks

CARDS = 60
TRUTHS = {
    f"card {number:02}": {"title": f"Secret {number:02}", "year": 1900 + number}
    for number in range(CARDS)
}


def write_namespace(folder):
    """Sixty cards, 24 of them held out in a folder of its own; their ids."""
    cards = folder / "hdb/cards"
    cards.mkdir(parents=True)
    (folder / "held").mkdir()
    (cards / "benchmark.yaml").write_text(yaml.safe_dump(SPEC))
    rows = [{"id": item, "ground_truth": truth} for item, truth in TRUTHS.items()]
    (cards / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = hold_out(cards, 0.4, seed=1)
    path.rename(folder / "held" / path.name)
    lines = []
    for line in (cards / "metadata.jsonl").read_text().splitlines():  # as `hdbench build` does
        row = json.loads(line)
        truth = row["ground_truth"] and json.dumps(row["ground_truth"])
        lines.append(json.dumps(row | {"ground_truth": truth}) + "\n")
    (cards / "metadata.jsonl").write_text("".join(lines))
    held = (folder / "held" / path.name).read_text().splitlines()
    return [json.loads(line)["id"] for line in held]


@pytest.fixture
def held(tmp_path):
    return write_namespace(tmp_path)


@pytest.fixture
def context(tmp_path, held):
    assert len(held) == 24
    return SpaceContext(tmp_path / "hdb", held_out=tmp_path / "held")


def answers(held):
    """The public cards by heart, and of the others the title alone."""
    lines = []
    for item, truth in TRUTHS.items():
        year = {"year": 3000} if item in held else {}
        title = {"title": "Secret"} if item in held else {}
        lines.append(json.dumps({"id": item, "prediction": truth | year | title}) + "\n")
    return "".join(lines).encode()


async def look(url, content, address="192.0.2.1", language="en"):
    """All that comes of a scored upload: what is told, and the files."""
    async with Visitor(url, address, language) as visitor:
        file = await visitor.upload("mine.jsonl", content)
        messages = await visitor.press("score", benchmark="cards", file=file)
        told = json.dumps(messages, ensure_ascii=False)
        files = [await visitor.fetch(re.search(r"report/[\w-]+", told).group())]
        for path in sorted(set(re.findall(r'"path": "([^"]+/hdbench-cards[^"]+)"', told))):
            files.append(await visitor.fetch(f"gradio_api/file={path}"))
        return told, files


def text_of(file):
    """What is in a download, unpacked."""
    if not file.startswith(b"PK"):
        return file.decode()
    with zipfile.ZipFile(io.BytesIO(file)) as packed:
        return "\n".join(packed.read(name).decode() for name in packed.namelist())


@pytest.mark.nightly
def test_totals_are_shown_three_times_a_day_and_never_an_item(tmp_path, held):
    content = answers(held)
    folder = {"HDBENCH_HELD_OUT": str(tmp_path / "held"), "FORWARDED_ALLOW_IPS": "127.0.0.1"}
    with serving(APP, cwd=tmp_path, **folder) as url:
        wait_for_client(url)

        async def failing():
            async with Visitor(url) as visitor:
                file = await visitor.upload("bad.jsonl", b'{"id": "none", "text": ""}\n')
                return json.dumps(await visitor.press("score", benchmark="cards", file=file))

        async def program():
            async with Visitor(url) as visitor:
                file = await visitor.upload("mine.jsonl", content)
                return await visitor.call("score", "cards", file, "documented")

        assert "has no id" in run(failing())  # which takes no look
        looks = [run(look(url, content)) for _ in range(MAX_LOOKS)]
        more, its_files = run(look(url, content, language="de"))
        other, _ = run(look(url, content, address="192.0.2.2"))
        _, record = run(program())
        secret = f"{url}gradio_api/file={tmp_path / 'held/cards.held-out.jsonl'}"
        assert httpx.get(secret).status_code in (403, 404)

    for told, files in looks:
        assert "F1 (micro) 0.0000 on 24 items whose ground truth is not public" in told
        assert "24 answered, 0 without an answer, 0 unreadable" in told
        assert "Public minus held out: +1.0000" in told
        assert len(files) == 5
    assert "Die zurückgehaltenen Einträge werden nicht gezeigt" in more
    assert "deren Referenz nicht öffentlich ist" not in more
    assert "on 24 items whose ground truth is not public" in other
    assert "held_out" not in json.dumps(record)
    own = content.decode()
    for told, files in [*looks, (more, its_files)]:
        shown = [told, *map(text_of, files)]
        for item in held:
            assert item in own
            assert not any(item in each for each in shown)
            assert not any(TRUTHS[item]["title"] in each for each in shown)
        assert "Secret 0" in "".join(shown)  # the public ones are there
    book = openpyxl.load_workbook(io.BytesIO(next(f for f in files if b"xl/workbook" in f)))
    assert book["Einträge"].max_row == 1 + CARDS - len(held)


def test_each_address_and_benchmark_has_its_looks_a_day(context, monkeypatch):
    looks = HeldOutQuota(context)
    path = (context.held_out / "cards.held-out.jsonl").resolve()
    given, used_up = HeldOutAccess(path), HeldOutAccess(None)
    assert [looks.take("a", "cards") for _ in range(4)] == [given] * 3 + [used_up]
    assert looks.take("b", "cards") == given
    looks.give_back("a", "cards")
    assert [looks.take("a", "cards") for _ in range(2)] == [given, used_up]
    assert looks.take("a", "other") is None
    tomorrow = scoring._today() + datetime.timedelta(days=1)
    monkeypatch.setattr(scoring, "_today", lambda: tomorrow)
    assert looks.take("a", "cards") == HeldOutAccess(path)


def test_only_so_many_addresses_are_counted(context, monkeypatch):
    monkeypatch.setattr(scoring, "MAX_COUNTED", 5)
    looks = HeldOutQuota(context)
    found = [looks.take(f"address {number}", "cards").path is not None for number in range(8)]
    assert found == [True] * 5 + [False] * 3
    assert looks.take("address 1", "cards").path is not None
    assert len(looks._counts) == 5


def test_without_a_folder_or_a_file_there_is_nothing_to_look_at(context):
    assert HeldOutQuota(replace(context, held_out=None)).take("a", "cards") is None
    (context.held_out / "cards.held-out.jsonl").unlink()
    assert HeldOutQuota(context).take("a", "cards") is None


def test_another_file_is_said_to_the_operator_at_the_start(context):
    with (context.held_out / "cards.held-out.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(HdbenchError, match=r"is not what .*cards holds out"):
        build_app(context, FirstLooks(context))


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        (
            "en",
            (
                "F1 (micro) 0.0000 on 24 items whose ground truth is not public",
                "Public minus held out: +1.0000; 95% interval: +0.",
            ),
        ),
        (
            "de",
            (
                "F1 (mikro) 0,0000 für 24 Einträge, deren Referenz nicht öffentlich ist",
                "Öffentlich minus zurückgehalten: +1,0000; 95-%-Intervall: +0,",
            ),
        ),
    ],
)
def test_what_is_shown_and_what_is_written(context, held, tmp_path, language, texts):
    upload, looks, told = _uploaded(tmp_path, answers(held)), HeldOutQuota(context), []
    files = (tmp_path, tmp_path / "thumbnails")
    with sending(told.append):
        shown = view(context, upload, language, *files, looks.take("a", "cards"))
    assert shown.looked
    first = next(each for each in told if isinstance(each, View))
    for page in (first.first, shown.first):
        assert all(text in page for text in texts)
    for path in shown.files:
        written = text_of(path.read_bytes())
        assert not any(item in written or TRUTHS[item]["title"] in written for item in held)
        assert "held_out" not in written
    used_up = view(context, upload, language, *files, HeldOutAccess(None))
    assert not used_up.looked
    assert not any(text in used_up.first for text in texts)
    assert {"en": "three times a day", "de": "dreimal"}[language] in used_up.first


def test_answers_to_none_of_them_take_no_look(context, held, tmp_path):
    shown = _with_answers_to(context, _public(held), tmp_path)
    assert not shown.looked
    assert "not public" not in shown.first


@pytest.mark.parametrize(
    "case",
    [
        ("en", 1, "readable answers to 1 of them, and their totals are given from 20 on"),
        ("en", 19, "readable answers to 19 of them, and their totals are given from 20 on"),
        ("de", 1, "Lesbare Antworten in der Datei: 1. Summen gibt es erst ab 20"),
    ],
)
def test_the_totals_of_a_few_answers_are_refused(context, held, tmp_path, case):
    language, answered, said = case
    shown = _with_answers_to(context, _public(held) + held[:answered], tmp_path, language)
    assert said in shown.first
    assert not shown.looked  # so that no look is taken
    for figure in ("not public", "nicht öffentlich", "Public minus", "Öffentlich minus"):
        assert figure not in shown.first


def test_with_enough_answers_the_totals_are_shown(context, held, tmp_path):
    shown = _with_answers_to(context, _public(held) + held[:MIN_ANSWERED], tmp_path)
    assert shown.looked
    assert "20 answered, 4 without an answer" in shown.first


def test_with_few_held_out_items_all_must_be_answered(context, held, tmp_path, monkeypatch):
    monkeypatch.setattr(scoring, "MIN_ANSWERED", 100)
    assert _with_answers_to(context, TRUTHS, tmp_path).looked
    one_less = _with_answers_to(context, TRUTHS.keys() - {held[0]}, tmp_path)
    assert not one_less.looked
    assert "answers to 23 of them, and their totals are given from 24 on" in one_less.first


def test_example_with_public_items_only_takes_no_look(context, tmp_path):
    path = write_example(context.benchmark("cards"), tmp_path)
    look = HeldOutQuota(context).take("a", "cards")
    upload = Upload("cards", path)
    shown = view(context, upload, "en", tmp_path, tmp_path / "thumbnails", look)
    assert not shown.looked
    assert "not public" not in shown.first


def _public(held):
    return [each for each in TRUTHS if each not in held]


def _with_answers_to(context, items, folder, language="en"):
    """The view of the right answers to these items."""
    lines = (json.dumps({"id": each, "prediction": TRUTHS[each]}) for each in items)
    upload = _uploaded(folder, "\n".join(lines).encode())
    look = HeldOutQuota(context).take("a", "cards")
    return view(context, upload, language, folder, folder / "thumbnails", look)


def _uploaded(folder, content, name="mine.jsonl"):
    (folder / name).write_bytes(content)
    return Upload("cards", folder / name)
