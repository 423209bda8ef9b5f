"""What the page of single values is answered: nothing that anybody else read, and what is saved."""

import json

import pytest
from annotating.checking.plans import read_by, write_plan
from annotating.checking.serving_plan import FilePlan
from annotating.pages import write_collection

from hdbench.collections.truth.event_files import ChangedError
from hdbench.collections.truth.events import ValueKey
from hdbench.collections.truth.form import typed_value
from hdbench.collections.truth.reading_page import ValueCheck
from hdbench.collections.truth.readings import ReadingStage, mark_of
from hdbench.errors import HdbenchError

LEARN = [("b1", "title"), ("b2", "year"), ("b3", "keywords"), ("b1", "imprint.place")]


@pytest.fixture
def folder(tmp_path):
    return write_collection(tmp_path / "cards", [{"title": "Fausst I", "year": 1809}, None, None])


@pytest.fixture
def plan(tmp_path):
    return write_plan(tmp_path / "plan", LEARN)


@pytest.fixture
def opened(folder, plan):
    """The check of one person, until the test ends."""
    checks = []

    def opened(annotator="anna"):
        checks.append(ValueCheck(folder, FilePlan(plan), annotator, None))
        return checks[-1]

    yield opened
    for check in checks:
        check.close()


def read(check, number, value, what="value", **more):
    body = {"what": what, "value": value, "seconds": 1.5}
    return check.read(number, body | {"after": check.value(number)["after"]} | more)


def read_all(check, value):
    """Read whatever is offered."""
    while (state := check.state())["phase"] == "reading":
        read(check, state["next"][0], value)
    return state


def test_no_answer_has_what_others_read_or_a_truth(opened):
    ben = opened("ben")
    read(ben, 0, "read by ben")
    anna = opened()
    answers = [anna.state(), *(anna.value(number) for number in range(4))]
    answers.append(read(anna, 0, "read by anna"))
    answers.append(anna.value(0))
    told = json.dumps(answers)
    assert "read by anna" in told
    for secret in ("read by ben", "ben", "Fausst", "1809", "truth"):
        assert secret not in told, secret


def test_readings_have_the_type_that_the_schema_gives(folder, plan, opened):
    anna = opened()
    read(anna, 0, "Faust I")
    read(anna, 1, "01808")
    read(anna, 2, "Diss.; Basel\n Bern \n")
    read(anna, 3, None)
    assert read_by(folder, plan) == {
        ("b1", "title"): {"anna": "Faust I"},
        ("b2", "year"): {"anna": 1808},
        ("b3", "keywords"): {"anna": ["Diss.", "Basel", "Bern"]},
        ("b1", "imprint.place"): {"anna": None},
    }
    for value, refused in (("18o8", "not a number"), ("1.5", "not a number"), (1808, "a text")):
        with pytest.raises(HdbenchError, match=refused):
            read(anna, 1, value)
    for what in ("guess", None, "unsettled"):
        with pytest.raises(HdbenchError, match="what"):
            read(anna, 1, None, what)
    for seconds in (-1, True, "1", 90_000, float("nan")):
        with pytest.raises(HdbenchError, match="seconds: "):
            read(anna, 1, "1808", seconds=seconds)
    read(anna, 1, "ignored", "damaged")
    assert read_by(folder, plan)["b2", "year"] == {"anna": "damaged"}


@pytest.mark.parametrize(
    ("entered", "field", "value"),
    [
        ("true", {"kind": "boolean"}, True),
        ("false", {"kind": "boolean"}, False),
        ("book", {"kind": "choice", "choices": ["book", "letter"]}, "book"),
        ("2", {"kind": "choice", "choices": [1, 2.5, 2]}, 2),
        ("2.5", {"kind": "choice", "choices": [1, 2.5, 2]}, 2.5),
        ("-0.50", {"kind": "number"}, -0.5),
        (" ; \n", {"kind": "list", "entry": {"kind": "text"}}, None),
        ("1; 2", {"kind": "list", "entry": {"kind": "integer"}}, [1, 2]),
        ("a;b", {"kind": "list", "entry": {"kind": "text"}}, ["a;b"]),
    ],
)
def test_entered_texts_as_values(entered, field, value):
    assert typed_value(entered, field) == value
    assert type(typed_value(entered, field)) is type(value)


def test_what_is_asked_is_described_by_the_schema(tmp_path, plan):
    folder = write_collection(tmp_path / "described")
    path = folder / "answer.schema.json"
    schema = json.loads(path.read_text())
    schema["properties"]["year"] |= {"description": "Year of printing", "pattern": "^1"}
    schema["properties"]["keywords"]["items"] = {"enum": ["a", "b"], "format": "x"}
    path.write_text(json.dumps(schema))
    check = ValueCheck(folder, FilePlan(plan), "anna", "de")
    title, year, keywords, place = (check.value(number) for number in range(4))
    assert (title["label"]["de"], title["kind"], title["description"]) == ("Titel", "text", None)
    assert (year["kind"], year["description"], year["pattern"]) == (
        *("integer", "Year of printing"),
        "^1",
    )
    assert (keywords["kind"], keywords["format"]) == ("list", "x")
    assert keywords["entry"] == {"kind": "choice", "choices": ["a", "b"]}
    assert place["label"]["en"] == "Imprint › Place"
    check.close()


def test_own_values_are_corrected_and_counted(folder, plan, opened):
    anna = opened()
    first, second = anna.state()["next"]
    assert (anna.state()["place"], anna.state()["all"], anna.state()["last"]) == (1, 4, None)
    state = read(anna, first, "1808")
    assert (state["place"], state["all"], state["last"]) == (2, 4, first)
    assert state["next"][0] == second
    state = read(anna, second, "", "unreadable")
    own = anna.value(second)
    assert (own["own"], own["before"], own["place"]) == (
        *({"what": "unreadable", "value": None}, first),
        2,
    )
    assert anna.value(first)["own"]["value"] in (1808, "1808", ["1808"])
    assert anna.value(first)["before"] is None
    read(anna, second, "1809")
    assert len((folder / "people/anna.jsonl").read_text().splitlines()) == 3
    assert [each["anna"] for each in read_by(folder, plan).values()] in (
        [["1808"], "1809"],
        ["1808", 1809],
        [1808, ["1809"]],
        ["1808", "1809"],
    )


def test_windows_and_people_who_go_on_overwrite_nothing(folder, plan, opened):
    anna, ben = opened(), opened("ben")
    read(anna, 0, "Faust")
    with pytest.raises(ChangedError):
        anna.read(0, {"what": "value", "value": "x", "seconds": 1, "after": None})
    assert anna.state()["last"] == 0
    read_all(anna, "1808")
    assert ben.go_on({"stage": 0})["stage"] == 1
    with pytest.raises(ChangedError):
        read(anna, 0, "Egmont")
    assert (anna.state()["stage"], anna.state()["next"]) == (1, [4])
    assert read_by(folder, plan)["b1", "title"] == {"anna": "Faust"}


def test_stages_follow_when_all_was_read(opened):
    anna, ben = opened(), opened("ben")
    with pytest.raises(HdbenchError, match="nobody has read"):
        anna.go_on({"stage": 0})
    assert read_all(anna, "1808")["phase"] == "ready"
    read(ben, 1, "1809")  # a second reading that nobody asked for, and differs
    state = ben.state()
    assert (state["phase"], state["all"]) == ("reading", 2)  # the tenth
    assert read_all(ben, "1809")["phase"] == "ready"  # nobody is there to settle anything
    assert opened("carl").state()["next"] == [0, 1]
    assert (anna.state()["phase"], anna.state()["waiting"]) == ("ready", 0)
    assert anna.go_on({"stage": 0})["phase"] == "reading"
    assert anna.go_on({"stage": 0})["stage"] == 1  # which is over
    assert (anna.state()["stages"], anna.state()["all"]) == (2, 1)
    assert read_all(anna, "Faust")["phase"] == "done"
    assert anna.go_on({"stage": 1})["phase"] == "done"


def test_a_stage_waits_for_those_who_took_part(opened):
    anna, ben = opened(), opened("ben")
    read(ben, 3, "Basel")
    state = read_all(anna, "1808")
    assert (state["phase"], state["waiting"]) == ("waiting", 1)
    assert anna.go_on({"stage": 0})["stage"] == 1


def test_what_does_not_fit_the_folder_is_refused(folder, tmp_path, opened):
    plan = write_plan(tmp_path / "other", [("z9", "title")])
    with pytest.raises(HdbenchError, match=r"z9: .*cards has no such item"):
        ValueCheck(folder, FilePlan(plan), "anna", None)
    with pytest.raises(HdbenchError, match="a name has"):
        opened("../anna")
    anna = opened()
    for number in (4, 99):
        with pytest.raises(HdbenchError, match=f"value {number + 1} does not exist"):
            anna.value(number)


class Contradicted:
    """A plan of two values, of which models say `Faust`."""

    hash = "1" * 64

    def stages(self):
        values = [ValueKey("b1", "title"), ValueKey("b2", "title")]
        return [ReadingStage("verify", values, "counts", [mark_of("Faust", "counts")] * 2)]

    def check_open(self):
        pass


def test_a_contradicted_value_comes_again_blind(folder):
    check = ValueCheck(folder, Contradicted(), "anna", None)

    def read(text):
        number = check.state()["next"][0]
        value = check.value(number)
        assert value["own"] is value["after"] is None
        check.read(number, {"what": "value", "value": text, "seconds": 3, "after": None})
        return number, value["item"]

    first, second = read("Fausst"), read("Faust")
    assert check.state()["all"] == 3  # it is not said before that one comes again
    again = read("Faust")
    assert again[1] == first[1]
    assert again[0] not in (first[0], second[0])
    late = {"what": "value", "value": "x", "seconds": 3, "after": check.value(first[0])["after"]}
    with pytest.raises(ChangedError):  # what was read first is not corrected any more
        check.read(first[0], late)
    assert read("Faust")[1] == first[1]
    assert check.state()["phase"] == "done"
