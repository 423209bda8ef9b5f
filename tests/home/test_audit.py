"""Values of the ground truth that most models contradict, corrected from the home."""

import json

import pytest
from helpers.waiting import until
from home.asking import HERE, alert, send
from home.collections import make_collection, write_run

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.collections.home.collection import opened

MODELS = ("heron", "otter", "finch")


@pytest.fixture
def folder(tmp_path, recent):
    """Twelve cards; of the first, all three models read another year."""
    folder = make_collection(tmp_path, items=12, truths=12)
    recent.add(folder)
    for model in MODELS:
        write_run(tmp_path, model, items=12, wrong=1)
    opened(folder).ensure_built()
    return folder


def audited(client, at):
    """The page once the values are found, or that says why not."""
    until(lambda: "data-live" not in client.get(f"{at}audit").text, "the audit")
    return client.get(f"{at}audit")


def test_value_that_all_models_contradict_is_corrected(client, at, folder):
    until(lambda: f'{at}audit"' in client.get(f"{at}compare").text, "the comparison")
    shown = audited(client, at).text
    assert "Most good models contradict 1 value of the ground truth." in shown
    assert all(text in shown for text in ("c0", "1900", "1899", "3/3"))
    looks = send(client, f"{at}audit/correct", name="anna").url
    assert str(looks).endswith(f"{at}audited/anna/")
    value = client.get(f"{at}audited/anna/values/0").json()
    assert (value["item"], value["reason"]) == ("c0", "audited")
    assert [each["names"] for each in value["candidates"]] == [
        [""],
        ["3/3: finch, heron, otter"],
    ]
    body = {"what": "value", "place": 1, "after": value["after"]}
    done = client.post(f"{at}audited/anna/values/0/read", json=body, headers=HERE)
    assert done.json()["phase"] == "done"
    client.get(f"{at}audited/anna/")  # opened again, which writes the ground truths
    send(client, f"{at}compare/build")
    built = load_benchmark(str(folder.parent / "hdb/cards"))
    truths = {item.id: item.reference("documented") for item in built.items()}
    assert truths["c0"] == {"titel": "Titel 0", "jahr": 1899}
    assert built.spec.version == "1.0.1"
    assert "contradict no value" in audited(client, at).text


def test_three_makers_are_needed(client, at, folder):
    (folder.parent / "runs/cards_finch.jsonl").unlink()
    assert "It takes models of three makers" in client.get(f"{at}audit").text
    for model in MODELS:
        path = folder.parent / f"runs/cards_{model}.jsonl"
        path.unlink(missing_ok=True)
        run = folder.parent / f"runs/cards_{model}"
        run.mkdir()
        about = {"run": run.name, "benchmark": "hdb/cards", "model": f"one/{model}", "sittings": []}
        (run / "run.json").write_text(json.dumps(about))
        write_run(folder.parent, model, items=12, wrong=1).rename(run / "answers.jsonl")
    refused = audited(client, at)
    assert "(one) are too few: add runs from at least 3 makers" in alert(refused)
