"""Files that are made to cost much: each ends within its bounds."""

import json

import pytest
from helpers.forms import workbook
from space.servers import serving, wait_for_client
from space.visits import problem_of, scored

from hdbench.answers.files import open_container
from hdbench.errors import HdbenchError

pytestmark = pytest.mark.nightly

SERVE = """
from pathlib import Path
from hdbench.space import work
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

{settings}
serve(SpaceContext(Path("hdb")))
"""


def answer(record, item="sample-01"):
    return json.dumps({"id": item, "prediction": record}) + "\n"


def endless():
    """A file of one answer, which takes far longer than a file of ordinary ones."""
    record = ",".join(f'"{key}":1' for key in range(1_500_000))
    return f'{{"id": "sample-01", "prediction": {{{record}}}}}\n'


@pytest.mark.nightly
def test_the_bounds_hold_for_every_kind_of_file(sample):
    files = {
        "keys.jsonl": endless(),
        "list.json": "[" + "{}," * 6_000_000 + "{}]",
        "rows.xlsx": workbook([["id"], *[["1"]] * 1_000_000]),
        "rows.csv": "id,text\n" + "1,x\n" * 4_000_000,
    }
    settings = "work.MAX_SECONDS, work.MAX_MEMORY = 1, 2**29"

    with serving("-c", SERVE.format(settings=settings), cwd=sample) as url:
        wait_for_client(url)
        for name, content in files.items():
            told = problem_of(scored(url, name, content))
            assert "this takes more than" in told, name


@pytest.mark.parametrize(
    "name", [".jsonl", "..\\..\\x.jsonl", "..jsonl", "C:\\x.jsonl", "#.jsonl", "\\", "x" * 300]
)
def test_a_file_of_an_odd_name_is_scored(url, name):
    assert "download-json" in scored(url, name, answer({}))


LONG = "1" * 5_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", f'{{"id": "sample-01", "prediction": {{"year": {LONG}}}}}'),
        ("a.json", f'[{{"id": "sample-01", "prediction": {{"year": -{LONG}}}}}]'),
        ("a.json", f'{{"sample-01": {LONG}}}'),
    ],
)
def test_a_number_of_thousands_of_digits_is_one_plain_line(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(HdbenchError, match="a number has too many digits") as error:
        open_container(tmp_path / name, None)
    assert "set_int_max_str_digits" not in str(error.value)
