"""The decision about a collection's values, from the plan to the records, in files."""

import json
import re
import shutil
from urllib.parse import quote, urlencode
from uuid import uuid4

import pytest
from helpers.invented_cards import MODELS
from helpers.people_files import add_events
from helpers.waiting import until
from home.collections import NAME, Cards, make_collection, read_values, write_scans
from starlette.testclient import TestClient

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.collections.home.app import build_app, said
from hdbench.collections.home.collection import opened
from hdbench.collections.home.folder import key_of
from hdbench.collections.home.page import Home
from hdbench.collections.home.pages.compare import report_page
from hdbench.collections.home.recent import Recent
from hdbench.collections.trust.folder import WORK_LIST
from hdbench.collections.trust.plan import PlanOptions, make_plan, write_plan
from hdbench.collections.trust.work_list import AppliedWorkList
from hdbench.collections.truth.events import WorkedValue
from hdbench.errors import HdbenchError

HERE = {"origin": "http://127.0.0.1", "content-type": "application/x-www-form-urlencoded"}
PLAN = {"limit": "10", "learn": "20", "verify": "40", "right": "letter"}


class Opened:
    """A collection of cards in the home, and people who read what stands on them."""

    def __init__(self, cards, state):
        self.cards, self.folder = cards, cards.folder
        recent = Recent(state)
        recent.add(self.folder)
        self.home = Home(recent)
        self.key = key_of(self.folder)
        self.client = TestClient(build_app(self.home), base_url="http://127.0.0.1" + self.home.root)
        self.collection = self.home.collection(self.key)

    def get(self, page, **options):
        return self.client.get(f"/{self.key}/{page}", **options)

    def send(self, form, /, **fields):
        content = urlencode(fields)
        return self.client.post(f"/{self.key}/{form}", content=content, headers=HERE)

    def accept(self):
        """Accept values, all that is needed before it included."""
        self.plan()
        self.read()
        self.send("decide/learn")
        self.page("decide")
        self.read()
        self.send("decide/apply", control="10")
        self.page("decide")

    def upload(self, kind, content):
        address = f"/{self.key}/finish/upload/{kind}?name=a.xml"
        return self.client.post(address, content=content, headers=HERE).json()

    def page(self, name):
        """A page once nothing goes on in the background."""
        until(lambda: "data-live" not in self.get(name).text, "the work behind a page")
        return self.get(name).text

    def plan(self, **changed):
        runs = {f"run:{NAME}_{model}.jsonl": "on" for model in MODELS}
        fields = {f"field:{field.path}": "on" for field in self.collection.fields}
        return self.send("decide/plan", **(runs | fields | PLAN | changed))

    def read(self, by=("anna", "ben")):
        """Two people read the values that come next, a tenth of them both; return which."""
        return read_values(self.collection, lambda item, field: self.cards.truth(item)[field], by)

    def work_off(self):
        """Somebody decides all doubtful values: what stands there."""
        seal = self.collection.decisions.view().applied.values_sha256
        lines = []
        for item in list(self.cards.cards.truths)[-2:]:
            for field, value in self.cards.truth(item).items():
                made = {"how": "typed", "value": value, "by": "anna"}
                at = "2026-11-27T12:00:00.000Z"
                key = {"list": seal, "id": uuid4().hex, "item": item, "field": field}
                lines.append(WorkedValue(**key, at=at, **made))
        add_events(self.collection.built, lines)

    def step(self):
        return self.collection.standing().next_step

    def button(self):
        return said(self.step().button, "en")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A collection of cards whose dataset is built."""
    folder = tmp_path_factory.mktemp("cards")
    cards = Cards(folder, cards=80)
    opened(cards.folder).ensure_built()
    return cards


@pytest.fixture
def cards(built, tmp_path):
    """It as a copy, in the home."""
    shutil.copytree(built.folder.parent, tmp_path / "place")
    page = Opened(built.at(tmp_path / "place"), tmp_path / "state")
    yield page
    page.home.close()


def alert(page):
    return page.text.partition('role="alert">')[2].partition("</p>")[0]


@pytest.mark.slow
def test_from_the_comparison_to_the_records(cards):
    compared = cards.page("compare")
    assert "finch, heron, and otter cannot be told apart." in compared
    assert compared.count('class="hdb-mark-value"') == 3
    assert "Draw the values" in cards.get("decide").text
    planned = cards.plan()
    assert "people have read 0 of 20 values" in planned.text
    assert cards.button() == "Read the sample"
    cards.read()
    assert cards.button() == "Learn from them"
    cards.send("decide/learn")
    assert "0 of 40 values to check what was learned are read" in cards.page("decide")
    cards.read()
    decided = cards.page("decide")
    # Two cards have ten values that no model answered; 20 and 40 of the others are read.
    assert "330 of the 400 values in 80 items (82.5%) can be accepted" in decided
    assert "82,5\N{NO-BREAK SPACE}%" in cards.get("decide", headers={"accept-language": "de"}).text
    signed = cards.get("decide/page?language=de")
    assert "330 von 400" in signed.text
    assert "330 of 400" in cards.get("decide/page?language=en").text
    assert "sandbox" in signed.headers["content-security-policy"]
    cards.send("decide/apply", control="20")
    assert "330 of 400 values are accepted; 10 doubtful ones are left." in cards.page("decide")
    assert cards.button() == "Read the control sample"
    cards.read()
    assert "20 were drawn at random" in cards.page("decide")
    assert cards.button() == "Decide them"
    cards.send("finish/write", group="table", form="csv")
    assert "10 values of the work list are still open." in cards.page("finish")
    cards.work_off()
    assert cards.button() == "Write the records"  # those that are there lack them
    cards.send("finish/write", group="table", form="csv")
    finished = cards.page("finish")
    assert "80 records, 80 of them complete. No value is open." in finished
    assert "2, 20" in finished
    assert "2 records are new or have changed" in finished
    assert cards.button() == "Look at the records"
    table = cards.get("finish/files/records.csv")
    assert table.headers["content-disposition"] == 'attachment; filename="records.csv"'
    last = cards.cards.truth("0079")
    assert f"0079,{last['title']},worked" in table.text
    # Somebody reads something else in the whole control sample: that is not on the work list.
    read = read_values(cards.collection, lambda *_: "other", by=("cleo",))
    disputed = sum(int(item) >= 30 for item, _ in read)  # the others have a ground truth
    cards.send("finish/write", group="table", form="csv")
    finished = cards.page("finish")
    assert f"On {disputed} other values people do not agree" in finished
    assert "work list" not in finished.partition("verdict")[2].partition("</p>")[0]


def test_reports_of_two_versions_of_a_model_are_apart(tmp_path):
    collection = opened(make_collection(tmp_path))
    runs = [tmp_path / f"runs/{NAME}_heron-{version}" for version in ("4.1", "4.5")]
    assert report_page(collection, runs[0]) != report_page(collection, runs[1])


@pytest.mark.slow
def test_report_is_called_as_its_answers_say(cards):
    path = cards.folder.parent / f"runs/{NAME}_heron.jsonl"
    lines = [json.loads(line) | {"model": "Heron 2.5"} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    cards.page("compare")
    cards.send("compare/report", run=path.name)
    assert "Open the report" in cards.page("compare")
    assert "<bdi>Heron 2.5</bdi>" in cards.get(f"report/{path.name}/").text


@pytest.mark.slow
def test_report_of_a_run_is_made_and_shown_alone(cards):
    cards.page("compare")
    cards.send("compare/report", run=f"{NAME}_heron.jsonl")
    assert "Open the report" in cards.page("compare")
    report = cards.get(f"report/{NAME}_heron.jsonl/")
    assert report.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "<bdi>heron</bdi>" in report.text
    assert cards.get(f"report/{NAME}_heron.jsonl/fields.csv").status_code == 200
    for path in ("none.csv", quote("../../scans/0000.png", safe=""), quote("/etc/passwd", safe="")):
        assert cards.get(f"report/{NAME}_heron.jsonl/{path}").status_code in (400, 404)
    (cards.folder.parent / f"reports/{NAME}_heron.jsonl/link").symlink_to("/etc/passwd")
    assert cards.get(f"report/{NAME}_heron.jsonl/link").status_code == 400
    assert cards.get("report/none/").json() == {"error": "none: there is no such run"}
    elsewhere = (cards.folder.parent / "reports").rename(cards.folder.parent / "elsewhere")
    (cards.folder.parent / "reports").symlink_to(elsewhere)
    assert cards.get(f"report/{NAME}_heron.jsonl/").status_code == 400


def test_runs_are_planned_in_the_order_of_their_ranks(cards):
    worst = cards.folder.parent / f"runs/{NAME}_finch.jsonl"
    lines = map(json.loads, worst.read_text().splitlines())
    worst.write_text("".join(json.dumps(line | {"prediction": {}}) + "\n" for line in lines))
    choices = [f'name="run:{NAME}_{model}.jsonl"' for model in ("finch", "heron", "otter")]
    shown = cards.get("decide").text
    assert sorted(choices, key=shown.index) == choices  # by their names
    cards.page("compare")
    shown = cards.get("decide").text
    assert max(choices, key=shown.index) == choices[0]
    cards.plan()
    assert "finch" in cards.collection.planned().plan.runs[-1].name


def test_items_that_come_after_a_plan_are_not_part_of_it(cards, tmp_path):
    cards.plan()
    addition = f"/new/{cards.send('scans/add', x='').url.path.rpartition('/')[2]}"
    assert "What you add is not part of it" in cards.client.get(addition).text
    write_scans(tmp_path / "more", 1)
    form = urlencode({"images": str(tmp_path / "more")})
    cards.client.post(f"{addition}/folder", content=form, headers=HERE)
    cards.client.post(f"{addition}/write", content="x=", headers=HERE)
    assert len(cards.collection.progress().items) == 81
    cards.collection.ensure_built()
    assert len((cards.collection.built / "metadata.jsonl").read_text().splitlines()) == 80
    assert "0 of 20 values to learn from" in cards.get("decide").text


def test_plan_that_a_command_made_counts_and_folder_moves(cards, tmp_path):
    collection = cards.collection
    runs = [collection.runs.folder / f"{NAME}_{model}.jsonl" for model in MODELS]
    loaded = load_benchmark(str(collection.built))
    plan = make_plan(loaded, runs, PlanOptions(learn=30, verify=50))
    write_plan(cards.folder.parent / "plan.yaml", plan, loaded.folder)
    assert cards.button() == "Read the sample"
    assert "0 of 30 values to learn from" in cards.get("decide").text
    (cards.folder.parent / "plan.yaml").unlink()
    cards.plan()
    cards.read()
    shutil.copytree(cards.folder.parent, tmp_path / "moved")
    moved = Opened(cards.cards.at(tmp_path / "moved"), tmp_path / "other")
    moved.send("decide/learn")
    assert "0 of 40 values to check" in moved.page("decide")
    assert "hdb/cards" in (tmp_path / f"moved/decisions/{NAME}/plan.yaml").read_text()
    moved.home.close()


def test_second_plan_has_a_folder_of_its_own(cards):
    cards.plan()
    cards.plan(learn="25")
    assert cards.collection.planned().plan.learn == 25
    folders = cards.folder.parent / "decisions"
    assert sorted(each.name for each in folders.iterdir()) == [NAME, f"{NAME}-2"]


def test_changed_plan_is_said_and_other_pages_are_shown(cards):
    cards.plan()
    file = cards.collection.planned().file
    file.write_text(file.read_text().replace("limit: 0.1", "limit: 0.5"))
    page = cards.get("decide")
    assert page.status_code == 200
    assert "was changed" in alert(page)
    assert cards.button() == "See why"
    assert cards.get("runs").status_code == 200


def test_dataset_stays_while_a_plan_rests_on_it(cards):
    cards.plan()
    rows = (cards.folder / "metadata.jsonl").read_text()
    (cards.folder / "metadata.jsonl").write_text(rows.replace("Basel", "Bern"))
    before = (cards.collection.built / "metadata.jsonl").read_bytes()
    cards.collection.ensure_built()
    assert (cards.collection.built / "metadata.jsonl").read_bytes() == before


@pytest.mark.slow
def test_where_nothing_can_be_accepted_reading_is_kept(cards):
    cards.plan(limit="5", learn="20", verify="45")
    read = [*cards.read()]
    cards.send("decide/learn")
    cards.page("decide")
    # Somebody reads something else than all models in every value.
    cards.cards.truth = lambda item: dict.fromkeys(cards.cards.cards.truths[item], "other")
    read += cards.read()
    cards.read(by=["carl"])  # as each reading contradicts the models
    decided = cards.page("decide")
    assert "Nothing can be accepted unseen" in decided
    assert "List the values to decide" in decided
    assert "Accept the values" not in decided
    cards.send("decide/apply", control="10")
    # 30 of the 80 cards have a ground truth; of the others, which have five values, some are read.
    left = 50 * 5 - sum(int(item) >= 30 for item, _ in read)
    assert 0 < left < 250
    listed = cards.page("decide")
    assert f"0 of 400 values are accepted; {left} doubtful ones are left." in listed
    work = AppliedWorkList(cards.collection.planned().out / WORK_LIST, cards.collection.built)
    assert min(map(int, work.items)) == 30
    assert sum(len(work.doubtful(item)) for item in work.items) == left
    work.close()
    assert "there is nothing to control" in listed
    assert "there is nothing to control" in alert(cards.send("decide/read", name="anna"))
    assert (cards.step().stage, cards.button()) == ("decide", "Decide them")
    cards.send("finish/write", group="jsonl", form="jsonl")
    assert f"{left} values of the work list are still open." in cards.page("finish")
    records = cards.get("finish/files/records.jsonl").text.splitlines()
    values = [value for line in records for value in json.loads(line)["fields"].values()]
    assert sum(value == {"origin": "checked", "value": "other"} for value in values) == 45


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"learn": "many"}, "many: must be a number of values, from 1 to 100,000"),
        ({"limit": "five"}, "five: must be a percentage"),
        ({"limit": "0"}, "0: must be a percentage above 0 and at most 50"),
        ({"limit": "nan"}, "nan: must be a percentage"),
        ({"learn": "395"}, "of 400 values"),
    ],
)
def test_plan_that_cannot_be_is_refused(cards, changed, why):
    refused = cards.plan(**changed)
    assert refused.status_code == 400
    assert why in alert(refused)
    assert not (cards.folder.parent / "decisions").exists()
    (typed,) = changed.values()
    assert f'value="{typed}"' in refused.text


def test_what_comes_too_early_is_refused(cards):
    assert "choose at least one run" in alert(cards.send("decide/plan", **PLAN))
    for form in ("decide/read", "decide/learn", "decide/apply", "decide/work"):
        assert "nothing is planned yet" in alert(cards.send(form, name="anna", control="10"))
    assert "decide first" in alert(cards.send("finish/write", group="table", form="csv"))
    assert "no such run" in alert(cards.send("compare/report", run="../runs"))
    assert cards.get("finish/files/records.csv").status_code == 400
    assert cards.get("decide/page").status_code == 400
    cards.plan()
    assert "are not read yet" in alert(cards.send("decide/learn"))
    with pytest.raises(HdbenchError, match="nothing is learned yet"):
        cards.collection.decisions.apply(cards.collection.planned(), 10)


def put_into_own_records(cards, finished):
    """Put values into one record of a library; then nothing is said in green after a failure."""
    into = {"group": "into", "form": "marcxml", "replace:245": "on", "match": "bib"}
    assert "drop your records first" in alert(cards.send("finish/write", **into))
    own = (
        "<collection><record><leader>00000cam a2200000 c 4500</leader>"
        "<controlfield tag='001'>b0000</controlfield><datafield tag='245' ind1=' ' ind2=' '>"
        "<subfield code='a'>Alt</subfield></datafield></record></collection>"
    )
    assert cards.upload("records", own) == {}
    cards.send("finish/write", **into)
    page = cards.page("finish")
    assert "1 of your 1 records changed" in page.partition('class="note"')[2]
    assert "0000,b0000,245,## $aAlt" in cards.get("finish/files/changed_fields.csv").text
    assert " · Title" in page.partition('name="replace:245" checked')[2][:20]
    (finished / "records.xml").write_text("mine")
    refused = cards.send("finish/write", **into)
    assert "records.xml: was edited after it was delivered" in alert(refused)
    assert 'class="note" role="status"' not in refused.text + cards.page("finish")
    (finished / "records.xml").unlink()


def add_column(folder):
    """Give each card the number that its record has in a library."""
    with (folder / "benchmark.yaml").open("a") as file:
        file.write("columns: {bib: string}\n")
    metadata = folder / "metadata.jsonl"
    rows = map(json.loads, metadata.read_text().splitlines())
    lines = [json.dumps(row | {"bib": f"b{row['id']}"}) + "\n" for row in rows]
    metadata.write_text("".join(lines))


def test_mapping_is_chosen_and_files_are_plain_ones(cards):
    add_column(cards.folder)
    cards.accept()
    assert "no such form" in alert(cards.send("finish/write", group="table", form="marcxml"))
    truth = cards.cards.truth("0000")
    chosen = {
        "goes:title": "title",
        "goes:author": "description",
        "goes:year": "",
        "goes:place": "title",
    }
    query = urlencode(chosen | {"group": "dublin-core"})
    preview = cards.get(f"finish?{query}").text.partition('id="preview-dublin-core"')[2]
    assert (
        f"<dt><code>description</code></dt><dd>{truth['author']}</dd>"
        in preview.partition("0001")[0]
    )
    assert "Year (no place in the mapping)" in preview.partition("0001")[0]
    mapping = cards.folder / "mapping.yaml"
    assert not mapping.exists()
    assert (
        cards.send("finish/write", group="dublin-core", form="dublin-core", **chosen).status_code
        == 200
    )
    cards.page("finish")
    written = cards.get("finish/files/records.dc.xml").text.partition("</oai_dc:dc>")[0]
    assert f"<dc:title>{truth['title']}</dc:title>" in written
    assert f"<dc:title>{truth['place']}</dc:title>" in written
    left = cards.get("finish/files/not_in_records.dc.xml.csv").text
    assert f"0000,year,{truth['year']},no place in the mapping" in left
    finished = cards.collection.planned().out / "finished"
    put_into_own_records(cards, finished)
    kept = mapping.read_text()
    assert "description: '{author}'" in kept  # what was chosen for another form stays
    assert "cannot become 999z" in alert(
        cards.send("finish/keep", group="marc", **{"goes:title": "999z"})
    )
    bad = "dublin-core: {titel: x}"
    assert "titel: must be one of title" in cards.upload("mapping", bad)["error"]
    assert "mapping.yaml: the file" in cards.upload("mapping", "#" * 2**21)["error"]
    assert mapping.read_text() == kept
    mapping.write_text(bad)
    assert "titel: must be one of title" in cards.get("finish").text
    mapping.unlink()
    assert not mapping.exists()
    own = 'dublin-core: {title: {text: "{title}", when: {place: [Basel]}}}'
    assert cards.upload("mapping", own) == {}
    cards.send("finish/keep", group="dublin-core", **{"goes:title": "title", "goes:year": "date"})
    assert "place:\n      - Basel" in mapping.read_text()
    (finished / "link.txt").symlink_to("/etc/passwd")
    assert cards.get("finish/files/link.txt").status_code == 400
    assert "link.txt" not in cards.get("finish").text


def test_runs_are_of_the_items_that_a_plan_is_for(cards):
    cards.plan()
    with (cards.folder / "metadata.jsonl").open("a") as file:
        file.write('{"file_name": "images/new.png", "id": "new", "ground_truth": null}\n')
    runs = opened(cards.folder).runs.views()  # as after another start of the server
    assert {(run.answered, run.items) for run in runs} == {(78, 80)}
    name, path = runs[0].path.name.removeprefix("cards_"), runs[0].path
    with pytest.raises(HdbenchError, match="is here already"):
        cards.collection.runs.add(path, name)
    assert path.is_file()


def test_plan_that_another_window_made_is_not_replaced(cards):
    (seen,) = re.findall(r'name="plan" value="(.*?)"', cards.get("decide").text)
    assert "0 of 20 values" in cards.plan(plan=seen).text
    refused = cards.plan(plan=seen, learn="30")
    assert "has drawn values meanwhile" in alert(refused)
    assert 'value="30"' in refused.text
    (seen,) = re.findall(r'name="plan" value="(.*?)"', refused.text)
    assert "0 of 30 values" in cards.plan(plan=seen, learn="30").text
