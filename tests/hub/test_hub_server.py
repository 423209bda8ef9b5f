"""The Hub for tests, asked by the real clients."""

import json
import os

import pytest
from helpers.plain import PLAIN
from hub.server import EXPIRED, READER, WRITER, serving_hub
from hub.validation import refused

pytestmark = pytest.mark.nightly

BINARY = bytes(range(256)) * 40


@pytest.fixture
def hub():
    with serving_hub() as hub:
        yield hub


@pytest.fixture
def client(hub, bare_forks, tmp_path):
    """Run Python with the real clients in a process of its own, and read what it prints as JSON."""

    def run(code, *, token=WRITER, fails=False):
        done = bare_forks.run(
            *("-c", f"import json\nfrom huggingface_hub import *\napi = HfApi()\n{code}"),
            cwd=tmp_path,
            env=os.environ | PLAIN | hub.environment(token) | {"HF_HOME": str(tmp_path / "home")},
        )
        assert bool(done.returncode) == fails, done.stderr
        return done.stderr if fails else json.loads(done.stdout or "null")

    return run


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "here"
    (place / "images").mkdir(parents=True)
    (place / "README.md").write_text("---\nlicense: cc0-1.0\n---\n# Über Karten\n")
    (place / "images/ä 1.bin").write_bytes(BINARY)
    (place / "empty.txt").touch()
    return place


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".cache" not in path.parts
    }


UPLOAD = """
api.create_repo("hdb/cards", repo_type="dataset", exist_ok=True)
info = api.upload_folder(repo_id="hdb/cards", repo_type="dataset", folder_path="here")
print(json.dumps(info.oid))
"""


def test_a_folder_comes_back_as_it_was_uploaded(hub, client, folder, tmp_path):
    oid = client(UPLOAD)
    repository = hub.repositories["datasets", "hdb/cards"]
    assert repository.files() == tree(folder)
    assert {path for path, file in repository.commits[oid].files.items() if file.lfs} == {
        "images/ä 1.bin"
    }
    client('snapshot_download("hdb/cards", repo_type="dataset", local_dir="there")')
    there = tree(tmp_path / "there")
    assert there.pop(".gitattributes")
    assert there == tree(folder)
    sizes = client(
        'files = api.list_repo_tree("hdb/cards", repo_type="dataset", recursive=True)\n'
        "print(json.dumps({each.path: [each.size, bool(each.lfs)] for each in files"
        " if isinstance(each, RepoFile)}))"
    )
    assert sizes["images/ä 1.bin"] == [len(BINARY), True]
    assert sizes["empty.txt"] == [0, False]


def test_repeated_upload_makes_no_commit_but_a_deletion_does(hub, client, folder):
    first = client(UPLOAD)
    assert client(UPLOAD) == first
    client(
        'api.delete_file("empty.txt", "hdb/cards", repo_type="dataset")\n'
        'api.delete_folder("images", "hdb/cards", repo_type="dataset")'
    )
    assert list(hub.repositories["datasets", "hdb/cards"].files()) == ["README.md"]


def test_listing_has_pages_and_names_only_files_of_its_folder(hub, client):
    hub.page_size = 2
    files = {f"runs/{number}/run.json": b"{}" for number in range(5)}
    hub.add("datasets", "hdb/results", files | {"runs.txt": b""})
    listed = client(
        'tree = api.list_repo_tree("hdb/results", "runs", repo_type="dataset")\n'
        "print(json.dumps([each.path for each in tree]))"
    )
    assert listed == [f"runs/{number}" for number in range(5)]
    assert "EntryNotFound" in client(
        'list(api.list_repo_tree("hdb/results", "else", repo_type="dataset"))', fails=True
    )


def test_datasets_and_evaluate_load_what_repositories_hold(hub, client):
    hub.add("datasets", "hdb/cards", {"data.jsonl": b'{"id": "1"}\n{"id": "2"}\n'})
    module = (
        "import evaluate\nimport datasets\n\n\n"
        "class Count(evaluate.Metric):\n"
        "    def _info(self):\n"
        "        features = datasets.Features({'predictions': datasets.Value('string')})\n"
        "        return evaluate.MetricInfo(description='', citation='', features=features)\n\n"
        "    def _compute(self, predictions):\n"
        "        return {'count': len(predictions)}\n"
    )
    hub.add("spaces", "hdb/count", {"count.py": module.encode()})
    loaded = client(
        "from datasets import load_dataset\nimport evaluate\n"
        'whole = load_dataset("hdb/cards", split="train")\n'
        'streamed = load_dataset("hdb/cards", split="train", streaming=True)\n'
        'count = evaluate.load("hdb/count").compute(predictions=whole["id"])\n'
        'print(json.dumps([whole["id"][:], [row["id"] for row in streamed], count]))',
        token=None,
    )
    assert loaded == [["1", "2"], ["1", "2"], {"count": 2}]


def test_a_tag_is_made_once_and_can_be_downloaded_later(hub, client):
    hub.add("datasets", "hdb/cards", {"a.txt": b"one"})
    found = client(
        'where = {"repo_id": "hdb/cards", "repo_type": "dataset"}\n'
        'api.create_tag(tag="hdbench-1.0.0", **where)\n'
        'api.create_tag(tag="hdbench-1.0.0", exist_ok=True, **where)\n'
        'api.upload_file(path_or_fileobj=b"two", path_in_repo="a.txt", **where)\n'
        'path = hf_hub_download(filename="a.txt", revision="hdbench-1.0.0", **where)\n'
        "refs = api.list_repo_refs(**where)\n"
        "print(json.dumps([open(path).read(), [each.name for each in refs.tags]]))"
    )
    assert found == ["one", ["hdbench-1.0.0"]]
    again = 'api.create_tag("hdb/cards", repo_type="dataset", tag="hdbench-1.0.0")'
    assert "409" in client(again, fails=True)


def test_a_commit_after_another_one_is_refused(hub, client):
    repository = hub.add("datasets", "hdb/cards", {"a.txt": b"a"})
    before = repository.commits[repository.oid("main")].parent
    told = client(
        'api.upload_file(path_or_fileobj=b"b", path_in_repo="b.txt", repo_id="hdb/cards",\n'
        f'    repo_type="dataset", parent_commit="{before}")',
        fails=True,
    )
    assert "412" in told
    assert list(repository.files()) == ["a.txt"]


LOOK = 'print(json.dumps(api.dataset_info("hdb/secret").private))'
WRITE = (
    'api.upload_file(path_or_fileobj=b"", path_in_repo="a", repo_id="hdb/open",'
    ' repo_type="dataset")'
)


def test_a_private_repository_is_seen_by_its_members_alone(hub, client):
    hub.add("datasets", "hdb/secret", private=True)
    hub.add("datasets", "hdb/open")
    assert client(LOOK) is True
    assert "RepositoryNotFoundError" in client(LOOK, token=None, fails=True)
    assert "RepositoryNotFoundError" in client(LOOK, token=READER, fails=True)
    names = 'print(json.dumps([each.id for each in api.list_datasets(author="hdb")]))'
    assert client(names) == ["hdb/open", "hdb/secret"]
    assert client(names, token=READER) == ["hdb/open"]


def test_a_gated_file_wants_more_than_any_token(hub, client):
    hub.add("datasets", "hdb/gated", {"a.txt": b"a"}, gated=True)
    load = 'hf_hub_download("hdb/gated", "a.txt", repo_type="dataset")'
    assert "GatedRepoError" in client(load, token=READER, fails=True)
    client(load)


@pytest.mark.parametrize(("token", "status"), [(READER, "403"), (EXPIRED, "401"), (None, "401")])
def test_who_may_not_write_does_not(hub, client, token, status):
    repository = hub.add("datasets", "hdb/open", {"a.txt": b"a"})
    assert status in client(WRITE, token=token, fails=True)
    assert repository.files() == {"a.txt": b"a"}


def test_whose_a_token_is(client):
    who = 'print(json.dumps([whoami()["name"], whoami()["auth"]["accessToken"]["role"]]))'
    assert client(who) == ["hdb-operator", "write"]
    assert client(who, token=READER) == ["visitor", "read"]
    assert "401" in client("whoami()", token=EXPIRED, fails=True)


def test_a_card_with_broken_yaml_is_refused(hub, client):
    hub.add("datasets", "hdb/open")
    told = client(
        'api.upload_file(path_or_fileobj=b"---\\nlicense: [\\n---\\n", path_in_repo="README.md",'
        ' repo_id="hdb/open", repo_type="dataset")',
        fails=True,
    )
    assert "Invalid metadata in README.md" in told


def test_download_resumes_after_the_connection_is_cut(hub, client):
    hub.add("datasets", "hdb/cards", {"a.bin": BINARY})
    hub.cut("GET /lfs/", times=2)
    path = client('print(json.dumps(hf_hub_download("hdb/cards", "a.bin", repo_type="dataset")))')
    with open(path, "rb") as file:
        assert file.read() == BINARY
    assert sum(each.method == "GET" and "/lfs/" in each.path for each in hub.requests) == 3


def test_a_failure_is_seen_as_often_as_it_was_ordered(hub, client):
    hub.add("datasets", "hdb/cards")
    hub.fail("GET /api/datasets/hdb/cards$", times=1, status=503)
    assert "503" in client('api.dataset_info("hdb/cards")', fails=True)
    client('api.dataset_info("hdb/cards")')
    asked = [each.token for each in hub.requests if each.path == "/api/datasets/hdb/cards"]
    assert asked == [WRITER] * 2


EVAL = {
    "name": "Cards",
    "description": "",
    "evaluation_framework": "mteb",
    "tasks": [{"id": "documented"}],
}
TASK = {"field_spec": {"input": "q", "target": "a"}, "solvers": [{"name": "generate"}]}


@pytest.mark.parametrize(
    ("path", "content", "why"),
    [
        ("README.md", "---\nlicense: [\n---\n", "is not YAML"),
        ("README.md", "---\n- cc0-1.0\n---\n", "is no YAML mapping"),
        ("eval.yaml", "name: [", "is not YAML"),
        ("eval.yaml", json.dumps(EVAL | {"tasks": []}), "tasks"),
        ("eval.yaml", json.dumps(EVAL | {"tasks": [{"id": "x"}, {"id": "x"}]}), "tasks"),
        ("eval.yaml", json.dumps(EVAL | {"tasks": [{"split": "test"}]}), "tasks.0.id"),
        ("eval.yaml", json.dumps({"tasks": [{"id": "x"}]}), "name: Field required"),
        ("eval.yaml", json.dumps(EVAL | {"evaluation_framework": None}), "evaluation_framework"),
        ("eval.yaml", json.dumps(EVAL | {"evaluation_framework": "hdbench"}), "must be one of"),
        ("eval.yaml", json.dumps(EVAL | {"evaluation_framework": "inspect-ai"}), "field_spec"),
    ],
)
def test_what_the_hub_validates_is_refused_with_the_reason(path, content, why):
    assert why in refused(path, content.encode())


@pytest.mark.parametrize(
    "declaration",
    [
        EVAL,
        EVAL
        | {
            "evaluation_framework": "inspect-ai",
            "tasks": [{"id": "documented", **TASK, "scorers": [{"name": "exact"}]}],
        },
    ],
)
def test_a_declaration_of_a_benchmark_that_is_valid_is_taken(declaration):
    assert refused("eval.yaml", json.dumps(declaration).encode()) is None


def test_one_file_that_is_refused_refuses_the_whole_commit(hub, client, folder):
    (folder / "eval.yaml").write_text(json.dumps(EVAL | {"evaluation_framework": "inspect-ai"}))
    client('api.create_repo("hdb/cards", repo_type="dataset")')
    told = client(UPLOAD, fails=True)
    assert "400" in told
    assert "Invalid eval.yaml: field_spec: Field required" in told
    assert hub.repositories["datasets", "hdb/cards"].files() == {}
    (folder / "README.md").write_text("---\nlicense: [\n---\n")
    assert "is not YAML" in client(UPLOAD, fails=True)  # what the client asks before a commit
