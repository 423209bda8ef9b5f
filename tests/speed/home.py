"""How much longer the pages of the home take with 10,000 items than one that shows none.

Run by hand: PYTHONPATH=src:tests python -m speed.home
"""

import json
import os
import statistics
import tempfile
import time
from pathlib import Path

import httpx
from annotating.pages import ServedPage
from helpers.waiting import until
from home.asking import picture
from home.collections import NAME, make_collection, read_values

from hdbench.annotating.store import Store
from hdbench.home.collection import opened
from hdbench.trust.learned_files import learn_once
from hdbench.trust.plan import PlanOptions

ITEMS = 10_000
TRUTHS = 6_000
CHANGED = 300
TIMES = 20
PAGES = (
    *("", "scans", "scans?show=left&from=3000", "fields", "truth", "agreement"),
    *("runs", "compare", "audit", "decide", "decide/page", "finish"),
)


def truth(number):
    return {"titel": f"Titel {number}", "jahr": 1900}


def said(number, place):
    """What a model reads: in every twentieth item, each model another year."""
    return truth(number) | ({"jahr": 1901 + place} if number % 20 == 0 else {})


def write_large(folder):
    """A collection of many items that somebody annotates, and what three models read on them."""
    made = make_collection(folder, items=1, truths=1)
    (picture,) = (made / "images").iterdir()
    rows = []
    for number in range(ITEMS):
        name = f"images/i{number}.png"
        (made / name).hardlink_to(picture)
        known = truth(number) if number < TRUTHS else None
        rows.append({"file_name": name, "id": f"c{number}", "ground_truth": known})
    (made / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = folder / "runs" / f"{NAME}_run"
    run.mkdir(parents=True)
    about = {"run": run.name, "benchmark": f"hdb/{NAME}", "model": "c", "sittings": []}
    (run / "run.json").write_text(json.dumps(about))
    paths = (run / "answers.jsonl", *(run.with_name(f"{NAME}_{model}.jsonl") for model in "ab"))
    for place, path in enumerate(paths):
        lines = [{"id": f"c{number}", "prediction": said(number, place)} for number in range(ITEMS)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    annotate(made, "anna", CHANGED)
    return made


def annotate(collection, name, items):
    """Somebody says that the first items are done."""
    with Store(collection, name) as store:
        for number in range(items):
            item = f"c{number}"
            after = store.state(item).head["status"]
            store.change(item, "status", "", "done", after=after, how="blind")


def decide(collection):
    """A plan whose values are read, which accepts values and leaves others to people."""
    collection.ensure_built()
    decisions, runs = collection.decisions, [run.path for run in collection.run_views()]
    decisions.make(runs, PlanOptions(learn=300, verify=600, limit=0.1))
    for _ in range(2):
        view = decisions.view()
        read_values(collection, lambda item, field: truth(int(item[1:]))[field], by=["anna"])
        if not view.is_learned:
            learn_once(view.plan, decisions.dataset(), view.plan_file)
    decisions.apply(view, 100)


def medians(client, addresses):
    """The medians of some requests in milliseconds: in turn, so that a busy moment is in all."""
    times = {address: [] for address in addresses}
    for _ in range(TIMES):
        for address, measured in times.items():
            start = time.perf_counter()
            client.get(address).raise_for_status()
            measured.append(1000 * (time.perf_counter() - start))
    return [statistics.median(measured) for measured in times.values()]


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        made = write_large(Path(folder) / "work")
        decide(opened(made))
        served = ServedPage("-m", "hdbench", "open", made, "--port", "0", cwd=folder)
        client = httpx.Client(timeout=300)
        start = time.perf_counter()
        client.get(served.url).raise_for_status()
        print(f"the first page after a start takes {time.perf_counter() - start:.1f} s")
        headers = {"origin": served.url.rsplit("/", 3)[0]}
        client.post(
            f"{served.url}finish/write",
            data={"group": "table", "form": "csv"},
            headers=headers,
        )
        added = client.post(f"{served.url}scans/add", data={"x": ""}, headers=headers)
        addition = str(httpx.URL(served.url).join(added.headers["location"]))
        client.post(f"{addition}/scans?name=new.png", content=picture(), headers=headers)
        client.post(f"{served.url}compare/report", data={"run": f"{NAME}_run"}, headers=headers)
        addresses = {page or "overview": served.url + page for page in PAGES}
        addresses |= {
            "an addition": addition,
            "a report": f"{served.url}report/{NAME}_run/",
        }
        for address in addresses.values():
            until(lambda a=address: "data-live" not in client.get(a).text, "the work behind a page")
        root = served.url.rsplit("/", 2)[0]
        empty, *others = medians(client, [f"{root}/new", *addresses.values()])
        print(f"a page without items: {empty:.1f} ms")
        for page, milliseconds in zip(addresses, others, strict=True):
            print(f"{page}: {milliseconds:.1f} ms, {milliseconds / empty:.2f} times")
        served.end()


if __name__ == "__main__":
    main()
