"""PICA is read and written as npm's `pica-data` does it, but for what is named here."""

import io
import json
import re

import pytest
from helpers.pica_data import RECORDED

from hdbench.errors import HdbenchError
from hdbench.ground_truth.pica import to_plain
from hdbench.ground_truth.pica_files import read_records

SAID = [json.loads(line) for line in RECORDED.read_text("utf-8").split("\n") if line]


def as_theirs(record):
    """A record as `pica-data` has it, which drops an occurrence of zeros."""
    return [
        [
            field.tag,
            field.occurrence if field.occurrence.strip("0") else "",
            *(part for subfield in field.subfields for part in subfield),
        ]
        for field in record
    ]


def ours(case):
    """The records that we read in a text."""
    return list(read_records(io.BytesIO(case["text"].encode()), "a.pica"))


def is_known_refusal(case):
    """Whether `pica-data` refuses what PICA may have: `5 $$` at the end, or an occurrence 00.

    A line separator, U+2028, is an end, too.
    """
    ends = case["error"] == "Expected subfield code"
    zeros = case["error"] == "Missing occurrence on level 2"
    last_dollar = re.search(r"\$[^\n]+\$\$(?:[\n\u2028]|\Z)", case["text"])
    return bool((ends and last_dollar) or (zeros and "/00" in case["text"]))


def test_what_pica_data_reads_is_read_in_the_same_way():
    read = [case for case in SAID if "records" in case]
    assert len(read) > 100
    for case in read:
        assert [as_theirs(record) for record in ours(case)] == case["records"], case["text"]


def test_what_pica_data_refuses_is_refused():
    refused = [case for case in SAID if "error" in case and not is_known_refusal(case)]
    assert len(refused) > 50
    for case in refused:
        with pytest.raises(HdbenchError):
            ours(case)


def test_what_pica_data_refuses_wrongly_is_read():
    refused = [case for case in SAID if "error" in case and is_known_refusal(case)]
    assert {case["error"] for case in refused} == {
        "Expected subfield code",
        "Missing occurrence on level 2",
    }
    for case in refused:
        assert ours(case), case["text"]


def test_records_are_written_as_pica_data_writes_them():
    written = [case for case in SAID if "records" in case]
    for case in written:
        records = [
            [
                field._replace(occurrence=field.occurrence if field.occurrence.strip("0") else "")
                for field in record
            ]
            for record in ours(case)
        ]
        assert [to_plain(record).decode() for record in records] == [
            f"{text}\n" for text in case["plain"]
        ]
