"""Plans in files, and the pages of several people for them."""

import json
from pathlib import Path

from annotating.checking.serving_plan import FilePlan
from annotating.pages import ServedPage, ended

from hdbench.collections.truth.event_files import People

SCRIPT = Path(__file__).with_name("serving_plan.py")


def write_plan(folder, learn, verify=(("b3", "title"),), *, learned=True):
    """A plan in a new folder, or a control sample if nothing is to `verify`.

    Unless something was `learned`, what is made of the first stage takes for ever.
    """
    folder.mkdir(exist_ok=True)
    path = folder / "plan.json"
    stages = [list(values) for values in (learn, verify) if values]
    path.write_text(json.dumps({"stages": stages}))
    if learned:
        (folder / "learned").touch()
    return path


class ServedCheck(ServedPage):
    """The page of one person."""

    def __init__(self, folder, plan, *options):
        super().__init__(SCRIPT, folder, plan, *options, cwd=folder)


def serving_check(folder, plan, annotator="anna", *language):
    return ended(ServedCheck(folder, plan, annotator, *language))


def read_by(folder, plan):
    """Item and field → what each person read of it, or could not read."""
    readings = People(folder).readings(FilePlan(plan).hash)
    return {
        tuple(key): {
            each.by: each.value if each.what == "value" else each.what for each in by_person
        }
        for key, by_person in readings.items()
    }
