"""Values of the ground truth that most models contradict, read again in the home."""

import json

import pytest
import yaml
from helpers.waiting import until
from home.asking import HERE, alert, send
from home.collections import make_collection, write_run

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.home.collection import key_of, opened

MODELS = ("heron", "otter", "finch")


@pytest.fixture
def folder(tmp_path, used):
    """Twelve cards; of the first, all three models read another year."""
    folder = make_collection(tmp_path, items=12, truths=12)
    used.add(folder)
    for model in MODELS:
        write_run(tmp_path, model, items=12, wrong=1)
    opened(folder).ensure_built()
    return folder


def listed(client, at):
    """List the values, and return the page once they are there, or that says why not."""
    asked = send(client, f"{at}review/list")
    until(lambda: "data-live" not in client.get(f"{at}review").text, "the list of values")
    return client.get(f"{at}review").text if asked.status_code == 200 else asked.text


def look_again(client, at, name, year=1899):
    """Somebody reads all values as they are on the cards, and judges one."""
    opened_page = send(client, f"{at}review/read", name=name)
    assert str(opened_page.url).endswith(f"{at}look/{name}/")
    page = f"{at}look/{name}"
    start = client.get(f"{page}/start").json()
    assert start["home"].endswith(at)
    for number in range(len(start["entries"])):
        entry = client.get(f"{page}/entries/{number}").json()
        card = int(entry["item"][1:])
        is_title = entry["label"]["en"] == "Title"
        value = f"Titel {card}" if is_title else str(1900 + card if card else year)
        body = {"value": value, "after": entry["state"]["last"]}
        state = client.post(f"{page}/entries/{number}/read", json=body, headers=HERE).json()
        if not state["confirmed"]:
            verdict = {"verdict": "slip", "new": value, "evidence": "so it stands there"}
            body = verdict | {"after": state["last"]}
            client.post(f"{page}/entries/{number}/judge", json=body, headers=HERE)


def test_slip_that_all_models_contradict_is_corrected(client, at, folder):
    assert "Are the models wrong, or is the ground truth?" in client.get(f"{at}compare").text
    # The year, and a tenth of the 12 titles and 11 years on which all agree.
    assert "3 values to read again." in listed(client, at)
    look_again(client, at, "anna")
    shown = client.get(f"{at}review").text
    assert "anna has judged 3 of 3." in shown
    assert "1 slip of the ground truth was found in 3 values" in shown
    wrong = send(client, f"{at}review/record", approved="Berta Beispiel", accepted="ftp://x")
    assert wrong.status_code == 400
    assert 'value="ftp://x"' in wrong.text
    assert not (folder / "errata.yaml").exists()
    form = {"approved": "Berta Beispiel", "accepted": "anna@example.org"}
    done = send(client, f"{at}review/record", **form)
    assert "1 correction is recorded, in version 1.0.1" in done.text
    (correction,) = yaml.safe_load((folder / "errata.yaml").read_text())["corrections"]
    assert (correction["id"], correction["field"]) == ("c0", "jahr")
    assert (correction["accepted"], correction["blind"]) == ("mailto:anna@example.org", True)
    send(client, f"{at}compare/build")
    built = load_benchmark(str(folder.parent / "hdb/cards"))
    truth = {item.id: item.reference("documented") for item in built.items()}["c0"]
    assert truth == {"titel": "Titel 0", "jahr": 1899}
    assert "List the values" in client.get(f"{at}review").text  # of the new version


def test_people_who_disagree_correct_nothing(client, at):
    listed(client, at)
    look_again(client, at, "anna")
    look_again(client, at, "ben", year=1898)
    shown = client.get(f"{at}review").text
    assert "0 slips of the ground truth were found in 3 values." in shown
    assert "People disagree about 1 value" in shown
    assert "Who approves it" not in shown
    refused = send(client, f"{at}review/record", approved="Berta Beispiel", accepted="")
    assert "nobody found a slip so far" in alert(refused)


def test_list_is_made_once_for_a_version(client, at, folder):
    assert "nothing" not in listed(client, at)
    send(client, f"{at}review/list")
    (path,) = (folder.parent / "reviews").glob("*.jsonl")
    path.write_text(path.read_text().replace("1900", "1901"))
    assert "the list was changed" in alert(client.get(f"{at}review"))


def test_three_makers_are_needed(client, at, folder):
    (folder.parent / "runs/cards_finch.jsonl").unlink()
    assert "It takes models of three makers" in client.get(f"{at}review").text
    for model in MODELS:
        path = folder.parent / f"runs/cards_{model}.jsonl"
        path.unlink(missing_ok=True)
        run = folder.parent / f"runs/cards_{model}"
        run.mkdir()
        about = {"run": run.name, "benchmark": "hdb/cards", "model": f"one/{model}", "sittings": []}
        (run / "run.json").write_text(json.dumps(about))
        write_run(folder.parent, model, items=12, wrong=1).rename(run / "answers.jsonl")
    refused = listed(client, at)
    assert "come from one only: add runs from at least 3 makers" in refused


def test_nothing_is_shown_of_another_collection(client, at, folder, tmp_path):
    listed(client, at)
    other = make_collection(tmp_path / "other", items=12, truths=11)
    opened(other).ensure_built()
    (folder.parent / "reviews").rename(other.parent / "reviews")
    assert opened(other).reviews.view() is None
    assert key_of(other) != key_of(folder)
