"""Fields that are added, renamed, retyped and removed: schema, ground truths, rules and prompt."""

import json
import re

import yaml
from annotating.pages import truths
from home.asking import alert, send
from home.collections import make_collection

from hdbench.collections.home.collection import opened
from hdbench.collections.truth.double import read_double
from hdbench.collections.truth.store import Store


def schema(folder):
    return json.loads((folder / "answer.schema.json").read_text())


def rules(folder):
    return yaml.safe_load((folder / "benchmark.yaml").read_text())["protocols"]["documented"]


def test_field_is_renamed_wherever_it_stands(client, at, folder):
    shown = send(client, f"{at}fields/change", field="jahr", name="year", kind="").text
    assert "in the ground truths and the prompt, too" in shown
    assert list(schema(folder)["properties"]) == schema(folder)["required"] == ["titel", "year"]
    assert schema(folder)["properties"]["year"]["title"] == "Jahr"
    assert truths(folder)["c0"] == {"titel": "Titel 0", "year": 1900}
    assert truths(folder)["c2"] is None
    assert '"year": whole number' in (folder / "prompt.txt").read_text()
    assert rules(folder)["compare"] == {"year": "number"}
    with Store(folder, "Ben") as store:
        assert store.state("c0").made.how == "imported"
    opened(folder).ensure_built()


def test_kind_is_changed_only_if_all_values_are_of_it(client, at, folder):
    assert send(client, f"{at}fields/change", field="jahr", name="jahr", kind="text").is_success
    assert truths(folder)["c0"]["jahr"] == "1900"
    assert rules(folder)["compare"] == {}
    before = [path.read_bytes() for path in sorted(folder.glob("*.*"))]
    told = alert(send(client, f"{at}fields/change", field="titel", name="titel", kind="integer"))
    assert "c0: &#39;Titel 0&#39; is not of the kind integer" in told
    assert [path.read_bytes() for path in sorted(folder.glob("*.*"))] == before
    send(client, f"{at}fields/change", field="titel", name="titles", kind="list")
    assert truths(folder)["c1"] == {"titles": ["Titel 1"], "jahr": "1901"}
    opened(folder).ensure_built()


def test_field_is_added_and_removed(client, at, folder):
    (folder / "prompt.txt").write_text("Read title and year.")
    shown = send(client, f"{at}fields/change", name="ort", kind="text").text
    assert "change the prompt yourself" in shown
    assert "ort" not in schema(folder)["required"]
    assert schema(folder)["properties"]["ort"]["titles"]["en"] == "Place"
    again = send(client, f"{at}fields/change", name="ort", kind="text")
    assert "there is a field of that name already" in alert(again)
    assert "no dot or bracket" in alert(send(client, f"{at}fields/change", name="a.b", kind="text"))
    send(client, f"{at}fields/remove", field="jahr", name="jahr")
    assert list(schema(folder)["properties"]) == ["titel", "ort"]
    assert truths(folder)["c0"] == {"titel": "Titel 0"}
    assert rules(folder)["compare"] == {}
    opened(folder).ensure_built()


def test_fields_stay_while_several_people_read(client, at, folder):
    read_double(folder, "Ben", 1)
    told = alert(send(client, f"{at}fields/change", field="jahr", name="year", kind=""))
    assert "each alone: change fields when they are done" in told
    assert "jahr" in schema(folder)["properties"]


def test_fields_in_objects_are_changed(tmp_path, client, recent):
    folder = make_collection(tmp_path / "nested", truths=0, fields=("author.name", "year"))
    recent.add(folder)
    with Store(folder, "Ben") as store:
        store.change(
            "c0",
            "ground_truth",
            "",
            {"author": {"name": "Ott"}, "year": "1"},
            after=None,
            how="blind",
        )
    at = f"/{opened(folder).key}/"
    send(client, f"{at}fields/change", field="author.name", name="family", kind="")
    assert truths(folder)["c0"] == {"author": {"family": "Ott"}, "year": "1"}
    assert list(schema(folder)["properties"]["author"]["properties"]) == ["family"]


def test_titles_and_prompts_changed_in_two_windows(client, at, folder):
    shown = client.get(f"{at}fields").text
    seen = dict(re.findall(r'name="((?:title|was):\w+)"[^>]* value="(.*?)"', shown))
    assert len(seen) == 4
    send(client, f"{at}fields/titles", **seen | {"title:titel": "Heading"})
    send(client, f"{at}fields/titles", **seen | {"title:jahr": "Of printing"})
    refused = send(client, f"{at}fields/titles", **seen | {"title:titel": "Caption"})
    assert "has changed the title to &#39;Heading&#39; meanwhile" in alert(refused)
    assert 'value="Caption"' in refused.text
    titles = {name: each.get("titles") for name, each in schema(folder)["properties"].items()}
    assert titles["jahr"]["en"] == "Of printing"
    (was,) = re.findall(r'name="was" value="(.*?)"', client.get(f"{at}fields").text)
    send(client, f"{at}fields/prompt", was=was, prompt="Read all.")
    refused = send(client, f"{at}fields/prompt", was=was, prompt="Read the year.")
    assert "has changed the prompt meanwhile" in alert(refused)
    assert (folder / "prompt.txt").read_text() == "Read all.\n"
