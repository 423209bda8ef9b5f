"""The literal calls, from a Hub: a new process, an empty folder, an empty cache."""

import json
import shutil

import pytest
import yaml
from helpers.results import flat_of
from hub.server import EXPIRED, WRITER, serving_hub
from models.faulty_server import FaultyServer, Response, completion

from hdbench.about import __version__

pytestmark = pytest.mark.nightly

OLD, NEW = "hdbench-1.1.1+sample", "hdbench-1.2.0+sample"
NAMES = {
    "avisblatt": "avisblatt_cer",
    "rheinschifffahrt": "letters_f1",
    "sciencemetabench": "sciencemeta_accuracy",
    "zettelkatalog": "zettel_f1",
}
LOAD = """
import json
from datasets import load_dataset
found = {{}}
for name, media in {media}.items():
    [(split, rows)] = load_dataset("hdb/" + name, {options}).items()
    found[name] = [[row["id"], row["ground_truth"], type(row[media]).__name__] for row in rows]
print(json.dumps(found))
"""
MEDIA = {
    "advertxml": "text",
    "avisblatt": "image",
    "rheinschifffahrt": "pages",
    "sciencemetabench": "pdf",
    "zettelkatalog": "image",
}
KINDS = {"image": "JpegImageFile", "pages": "list", "pdf": "PDF", "text": "str"}
EVALUATE = """
import json
import evaluate
found = {{}}
for name in {names}:
    metric = evaluate.load("hdb/" + name, {options})
    reference = {{"advertisements": [{{"text": "1. Wein"}}], "send_date": [], "title": "Thesen"}}
    figures = metric.compute(predictions=[{{}}], references=[reference])
    found[metric.name] = [figures["items"], figures["protocol"]]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def filled(samples, run_hdbench):
    """A Hub on which everything was published."""
    with serving_hub() as hub:
        done = run_hdbench("publish", "hdb", "--yes", cwd=samples, **hub.environment(WRITER))
        assert done.returncode == 0, done.stderr
        yield hub


@pytest.fixture(scope="module")
def published(samples):
    """Name → id, truth and the kind of media of each item, as they were built."""
    found = {}
    for name in MEDIA:
        lines = (samples / "hdb" / name / "metadata.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        kind = KINDS[MEDIA[name]]
        found[name] = [[row["id"], json.loads(row["ground_truth"]), kind] for row in rows]
    return found


def test_load_dataset_from_the_hub_then_streaming_then_offline(filled, published, python):
    def load(options, hub=filled, **settings):
        code = LOAD.format(media=MEDIA, options=options)
        return json.loads(python(code, hub, **settings))

    assert load("") == published
    assert load(f"streaming=True, revision='{OLD}'", cache="another") == published
    asked = len(filled.requests)
    assert load("", HF_HUB_OFFLINE="1") == published
    assert len(filled.requests) == asked


def test_evaluate_load_from_the_hub_then_offline_then_pinned(filled, python):
    def load(options, **settings):
        code = EVALUATE.format(names=list(NAMES.values()), options=options)
        return json.loads(python(code, filled, **settings))

    expected = {metric: [1, "documented"] for metric in NAMES.values()}
    assert load("") == expected
    assert load("", HF_HUB_OFFLINE="1") == expected
    assert load(f"revision='hdbench-{__version__}'", cache="another") == expected


@pytest.fixture(scope="module")
def two_versions(samples, run_hdbench, tmp_path_factory):
    """A Hub with two versions of a benchmark: in the second a title of the truth is another.

    And the truths of the first.
    """
    place = shutil.copytree(samples, tmp_path_factory.mktemp("versions") / "place")
    with serving_hub() as hub:

        def publish(*arguments):
            command = ("publish", "hdb", "--yes", "--only", "zettelkatalog", *arguments)
            done = run_hdbench(*command, cwd=place, **hub.environment(WRITER))
            assert done.returncode == 0, done.stderr

        publish("--only", "zettel_f1")
        folder = place / "hdb/zettelkatalog"
        lines = [json.loads(line) for line in (folder / "metadata.jsonl").open()]
        truths = {line["id"]: json.loads(line["ground_truth"]) for line in lines}
        corrected = json.loads(lines[0]["ground_truth"])
        corrected["publication"]["title"] = "Another title"
        lines[0]["ground_truth"] = json.dumps(corrected)
        (folder / "metadata.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        spec = yaml.safe_load((folder / "benchmark.yaml").read_text())
        (folder / "benchmark.yaml").write_text(
            yaml.safe_dump(spec | {"version": NEW.removeprefix("hdbench-")})
        )
        publish()
        yield hub, truths


@pytest.fixture
def hub(two_versions):
    """This Hub, as it was."""
    hub, _ = two_versions
    hub.requests.clear()
    yield hub
    hub.faults.clear()
    hub.repositories["datasets", "hdb/zettelkatalog"].private = False


@pytest.fixture
def truths(two_versions):
    return two_versions[1]


@pytest.mark.nightly
def test_an_old_version_is_had_by_its_tag(hub, truths, python):
    code = f"""
import json
from datasets import load_dataset
import evaluate
titles = [
    load_dataset("hdb/zettelkatalog", revision=each, split="test")[0]["ground_truth"]["publication"]
    for each in ("{OLD}", "{NEW}", "main")
]
metric = evaluate.load("hdb/zettel_f1", revision="hdbench-{__version__}")
print(json.dumps([[each["title"] for each in titles], metric.name]))
"""
    before = next(iter(truths.values()))["publication"]["title"]
    titles, metric = json.loads(python(code, hub))
    assert titles == [before, "Another title", "Another title"]
    assert metric == "zettel_f1"


@pytest.fixture
def answers(truths, tmp_path):
    """Answers that are right by the first version."""
    lines = [{"id": key, "prediction": truth} for key, truth in truths.items()]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def command(hub, run_hdbench, tmp_path):
    """Run the command line in an empty folder, with an empty cache."""
    folder = tmp_path / "nothing_here"
    folder.mkdir()

    def command(*arguments, status=0, token=None):
        cache = {"HF_HOME": str(tmp_path / "cache")}
        done = run_hdbench(*arguments, cwd=folder, **hub.environment(token) | cache)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout if status == 0 else done.stderr.splitlines()[-1]

    return command


def test_score_takes_the_benchmark_but_no_media_from_the_hub(hub, answers, command, tmp_path):
    perfect = {}
    for revision in (OLD, NEW, None):
        asked = ["--revision", revision] if revision else []
        command("score", "hdb/zettelkatalog", answers, "--json", tmp_path / "result.json", *asked)
        record = flat_of(tmp_path / "result.json")
        perfect[revision] = record["items_perfect"]
        tags = hub.repositories["datasets", "hdb/zettelkatalog"].tags
        assert record["dataset_revision"] == tags[revision or NEW]
        assert record["dataset_version"] == (revision or NEW).removeprefix("hdbench-")
        assert command("verify", tmp_path / "result.json").endswith(": equal\n")
    assert perfect == {OLD: len(answers.read_text().splitlines()), NEW: 7, None: 7}
    assert not [each for each in hub.requests if each.method == "GET" and "/images/" in each.path]


def test_what_the_hub_lacks_is_said_in_a_line(hub, answers, command):
    told = command("score", "hdb/zettelkatalog", answers, "--revision", "hdbench-9.9.9", status=2)
    assert told.startswith("error: hdb/zettelkatalog, revision hdbench-9.9.9: there is no such")
    told = command("score", "hdb/nobody", answers, status=2)
    assert "build it with: hdbench build nobody), and none on the Hub: hdb/nobody: there is" in told


def test_an_expired_token_is_said_in_a_line_and_not_shown(hub, answers, command):
    hub.repositories["datasets", "hdb/zettelkatalog"].private = True
    told = command("score", "hdb/zettelkatalog", answers, status=2, token=EXPIRED)
    assert "the token is not valid, or has expired" in told
    assert EXPIRED not in told


@pytest.mark.nightly
def test_network_fault_is_reported_and_later_scoring_succeeds(hub, answers, command):
    hub.fail("GET /datasets/hdb/zettelkatalog/resolve/.*metadata", times=1_000)
    told = command("score", "hdb/zettelkatalog", answers, status=2)
    assert "check its name and the connection" in told
    hub.faults.clear()
    assert "f1_micro" in command("score", "hdb/zettelkatalog", answers)


@pytest.mark.nightly
def test_a_model_is_run_and_reported_on_a_benchmark_of_the_hub(filled, run_hdbench, tmp_path):
    def command(*arguments):
        cache = {"HF_HOME": str(tmp_path / "cache")}
        done = run_hdbench(*arguments, cwd=tmp_path, **filled.environment() | cache)
        assert done.returncode == 0, done.stderr

    with FaultyServer(lambda _: Response(completion('{"author": {}}'))) as server:
        asked = ("--model", "m", "--endpoint", server.url, "--limit", "2")
        command("run", "hdb/zettelkatalog", *asked, "-o", "run")
    command("report", "run", "-o", "report")
    lines = [json.loads(line) for line in (tmp_path / "run/answers.jsonl").open()]
    assert len(lines) == 2
    assert (tmp_path / "report/index.html").read_text().count("data:image/") >= len(lines)
