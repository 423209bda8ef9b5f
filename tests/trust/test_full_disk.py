"""Decisions on a full disk: each file is whole or not there, and the same command goes on."""

import json
import re

import pytest
from helpers.planned_cards import RIGHT, agreeing
from helpers.small_disk import FORMS, is_saved, small_disk
from trust.collection import Collection

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.common.jsonio import write_json
from hdbench.trust import applying
from hdbench.trust.applying import apply
from hdbench.trust.consensus import write_consensus
from hdbench.trust.control import read_control
from hdbench.trust.deciding import read_plan
from hdbench.trust.plan import write_plan

pytestmark = pytest.mark.nightly

FILES = {"applied.json", "control.yaml", "decision.json", "plan.yaml", "values.jsonl"}


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    return Collection(tmp_path_factory.mktemp("trust"))


def left_behind(folder):
    return list(folder.rglob(".*-*"))


def undated(path):
    """What a file has, without the moment at which a decision was made."""
    return re.sub(rb'"decided": "[^"]+"', b"", path.read_bytes())


@pytest.mark.parametrize("form", FORMS)
def test_full_disk_does_not_change_the_values_taken_over(collection, tmp_path, form, monkeypatch):
    monkeypatch.setattr(applying, "AT_ONCE", 7, raising=False)
    where, refused = collection.folder / "plan.yaml", 0
    plan, benchmark = read_plan(where), load_benchmark(str(collection.benchmark))
    apply(plan, benchmark, where, tmp_path / "roomy", control=20)
    whole = (tmp_path / "roomy/values.jsonl").read_bytes()
    with small_disk(tmp_path / "disk", form) as disk:
        for pages in range(0, 40, 4):
            out = disk.folder / f"out{pages}"
            disk.fill(pages=pages, counted_from=out / "values.jsonl")
            refused += not is_saved(lambda out=out: apply(plan, benchmark, where, out, control=20))
            kept = (out / "values.jsonl").read_bytes() if (out / "values.jsonl").exists() else b""
            assert whole.startswith(kept)
            assert not kept or kept.endswith(b"\n")
            assert left_behind(disk.folder) == []
            disk.make_room()
            apply(plan, benchmark, where, out, control=20)
            for name in FILES - {"applied.json"}:
                assert undated(out / name) == undated(tmp_path / "roomy" / name)
            assert read_control(out / "control.yaml").sample
    assert refused > 3


def test_plan_and_decision_and_consensus_are_complete_or_absent(collection, tmp_path):
    catalogue = agreeing(tmp_path / "catalogue", items=40)
    with small_disk(tmp_path / "disk") as disk:
        plan, decision, refused = disk.folder / "plan.yaml", disk.folder / "decision.json", 0
        for pages in range(6):
            disk.fill(pages=pages, counted_from=disk.folder / "none")
            saved = {
                plan: is_saved(write_plan, plan, collection.plan),
                decision: is_saved(write_json, decision, {"fields": ["title"] * 900}),
                disk.folder / "together": is_saved(
                    write_consensus, catalogue.benchmark, catalogue.runs, disk.folder / "together"
                ),
            }
            for path, is_there in saved.items():
                names = {each.name for each in path.glob("*")} if path.is_dir() else set()
                assert is_there == (path.is_file() or names == {"answers.jsonl", "run.json"})
                assert is_there or not names
            assert left_behind(disk.folder) == []
            refused += list(saved.values()).count(False)
            disk.make_room()
            if saved[plan]:
                assert read_plan(plan) == collection.plan
                plan.unlink()
            if saved[decision]:
                assert json.loads(decision.read_text()) == {"fields": ["title"] * 900}
                decision.unlink()
            if saved[disk.folder / "together"]:
                for each in (disk.folder / "together").iterdir():
                    each.unlink()
        write_consensus(catalogue.benchmark, catalogue.runs, disk.folder / "together")
        lines = (disk.folder / "together/answers.jsonl").read_text().splitlines()
        assert [json.loads(line)["prediction"] for line in lines] == [RIGHT] * 40
    assert refused > 4
