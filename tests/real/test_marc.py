"""MARC records of the published cards, as programs of libraries judge them."""

import datetime
import re
import subprocess
from collections import Counter

import pytest
from helpers.gold import rows_of
from pymarc import MARCReader

from hdbench.benchmarks.authority_files import AuthorityLine, AuthorityTable, Identifiers
from hdbench.collections.records.finished_records import FinishedRecord
from hdbench.collections.records.mapping import CARDS as CARD_MAPPING
from hdbench.collections.records.mapping import read_mapping
from hdbench.collections.records.marc_writing import (
    Process,
    made_of,
    marc_collection,
    record_element,
    why_none,
)

pytestmark = [pytest.mark.slow, pytest.mark.needs("marc")]

CARDS, REFERENCES, CONTROL_CHARACTER = 263, 10, 1
"""The title of one dissertation has a control character, which XML cannot have."""

DIE = "245: First word, die, does not appear to be an article, check 2nd indicator (4)."
"""What marclint says of each German "Die", as its list of articles leaves out English words."""

LINK = "245: First subfield must be _a, but it is _8"
"""What marclint says of each title with a link to field 883, as it knows links ($8) nowhere."""


def flat(record, before=""):
    """Field → value, such as `publication.title`."""
    values = {}
    for name, value in record.items():
        nested = isinstance(value, dict)
        values |= flat(value, f"{before}{name}.") if nested else {before + name: value}
    return values


@pytest.fixture(scope="module", params=["people", "machine"])
def written(published, tmp_path_factory, request):
    """Records as MARCXML and MARC21, whose values come from people or a machine.

    Authors have identifiers.
    """
    plan = Process("hdbench trust, plan 5f", 0.95, "20260701")
    day = datetime.date(2026, 7, 1)
    folder = tmp_path_factory.mktemp(request.param)
    outcomes = Counter()
    rows = rows_of(published.folder / "hdb/zettelkatalog", "documented")
    items = {item: flat(record) for item, record in rows.items()}
    names = {values["author.last_name"] for values in items.values()} - {None}
    table = AuthorityTable([AuthorityLine(name, "118585053") for name in names])
    known = Identifiers({"author.last_name": table})
    origin = "accepted" if request.param == "machine" else "checked"
    with (folder / "records.xml").open("wb") as file, marc_collection(file) as write:
        for item, values in items.items():
            states = {name: {"origin": origin, "value": value} for name, value in values.items()}
            record = FinishedRecord(item, states)
            mapping = read_mapping(CARD_MAPPING, "marc", values)
            parts = made_of(record, mapping, plan, known)
            why = parts if isinstance(parts, str) else why_none(parts, record, mapping)
            outcomes[why or "made"] += 1
            if not why:
                assert parts.left == {}
                write(record_element(parts, item, day))
    made = CARDS - REFERENCES - CONTROL_CHARACTER
    assert sorted(outcomes.values()) == [CONTROL_CHARACTER, REFERENCES, made]
    command = ("yaz-marcdump", "-i", "marcxml", "-o", "marc", "-t", "utf-8", folder / "records.xml")
    with (folder / "records.mrc").open("wb") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, check=True)
    assert done.stderr == b""
    return folder, made, request.param == "machine"


def said(*command):
    """What a program says of the records, each line of its two outputs."""
    done = subprocess.run(command, capture_output=True, check=True)
    return (done.stdout + done.stderr).decode("utf-8", "replace").splitlines()


def test_yaz_reads_every_record_without_a_complaint(written):
    folder, made, _ = written
    assert said("yaz-marcdump", "-n", folder / "records.mrc") == []
    lines = said("yaz-marcdump", folder / "records.mrc")
    assert sum(line.startswith("035 ") for line in lines) == made
    assert not [line for line in lines if line.startswith(("<!--", "(")) or "rror" in line[:10]]


def test_marcvalidate_knows_every_field_and_subfield(written):
    folder, _, _ = written
    assert said("marcvalidate", folder / "records.mrc") == []
    assert said("marcvalidate", "--type", "XML", folder / "records.xml") == []


def test_marclint_complains_only_of_what_it_does_not_know(written):
    folder, made, by_machine = written
    lines = said("marclint", folder / "records.mrc")
    complaints = Counter(line for line in lines if re.match(r"(\d{3}|1XX): ", line))
    titles = [record.get_fields("245")[0]["a"] for record in records(folder)]
    expected = {DIE: sum(title.startswith("Die ") for title in titles)}
    assert expected[DIE] > 0
    assert complaints == expected | ({LINK: made} if by_machine else {})
    (counts,) = re.findall(r"^ *(\d+) +(\d+) .*records\.mrc$", "\n".join(lines), re.MULTILINE)
    assert counts == (str(made), str(made if by_machine else expected[DIE]))


def records(folder):
    with (folder / "records.mrc").open("rb") as file:
        yield from MARCReader(file)
