"""MARC records of the published cards, as programs of libraries judge them."""

import datetime
import re
import subprocess
from collections import Counter
from zlib import crc32

import pytest
from helpers.gold import rows_of
from pymarc import MARCReader

from hdbench.collections.records.marc_collection import marc_collection
from hdbench.collections.records.marc_making import Made, Process, make_record
from hdbench.collections.truth.marc_mapping import read_mapping
from hdbench.collections.truth.marc_templates import CARD_CATALOGUE

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


SUBJECT = "653$a{library_reference.subjects}"


@pytest.fixture(scope="module", params=["people", "machine"])
def written(published, tmp_path_factory, request):
    """Records as MARCXML and MARC21, whose values come from people or a machine.

    Authors and every second subject have identifiers.
    """
    text = CARD_CATALOGUE.read_text(encoding="utf-8")
    assert text.count(f" {SUBJECT}\n") == 1
    with_identifiers = (
        "650|#4|$a{library_reference.subjects}$0{library_reference.subjects: identifier}"
    )
    path = tmp_path_factory.mktemp("mapping") / "marc.yaml"
    path.write_text(text.replace(f" {SUBJECT}\n", f' "{with_identifiers}"\n'), encoding="utf-8")
    mapping = read_mapping(path).new_records
    plan = Process("hdbench trust, plan 5f", 0.95, "20260701")
    day = datetime.date(2026, 7, 1)
    folder = tmp_path_factory.mktemp(request.param)
    outcomes = Counter()
    with (folder / "records.xml").open("wb") as file, marc_collection(file) as write:
        for item, record in rows_of(published.folder / "hdb/zettelkatalog", "documented").items():
            values = flat(record)
            origins = dict.fromkeys(values, plan) if request.param == "machine" else {}
            subjects = (values["library_reference.subjects"] or "").split("/")
            known = {
                "author.last_name": ["(DE-588)118585053"],
                "library_reference.subjects": [
                    identifier_of(subject) for subject in subjects if subject.strip()
                ],
            }
            made = make_record(mapping, item, values, origins, day, identifiers=known)
            outcomes[made.why if not isinstance(made, Made) else "made"] += 1
            if isinstance(made, Made):
                assert made.left == []
                write(made.record)
    made = CARDS - REFERENCES - CONTROL_CHARACTER
    assert sorted(outcomes.values()) == [CONTROL_CHARACTER, REFERENCES, made]
    command = ("yaz-marcdump", "-i", "marcxml", "-o", "marc", "-t", "utf-8", folder / "records.xml")
    with (folder / "records.mrc").open("wb") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, check=True)
    assert done.stderr == b""
    return folder, made, request.param == "machine"


def identifier_of(subject):
    """A made-up identifier that tells its subject; every second one has none."""
    number = crc32(" ".join(subject.split()).encode())
    return f"(DE-588){number}" if number % 2 else ""


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


def test_each_subject_has_its_own_identifier(written):
    folder, made, _ = written
    fields = [field for record in records(folder) for field in record.get_fields("650")]
    assert len(fields) > 90
    assert {"0" in field for field in fields} == {True, False}
    for field in fields:
        assert field.get("0", "") == identifier_of(field["a"])
    authors = [field for record in records(folder) for field in record.get_fields("100")]
    assert sum("0" in field for field in authors) > made * 0.9


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
