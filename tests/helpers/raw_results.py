"""Stub of the published repository, with runs in its layout that are made of their JSONL."""

import csv
import io
import json
import tarfile
from itertools import count

from hdbench.about import installed_folder
from hdbench.benchmarks.building.recipe import load_script

SCRIPT = load_script(installed_folder("dataset_scripts") / "results/build.py")
REVISION = SCRIPT.REVISION

HEADING = (
    *("id", "name", "provider", "model", "dataclass", "temperature", "role_description"),
    *("prompt_file", "rules", "legacy_test"),
)
TESTS = "benchmarks/benchmarks_tests.csv"
TOP = f"humanities_data_benchmark-{REVISION}"


def raw_files(runs_by_benchmark, parsed_by_publisher=None, usage=None):
    """Return path → bytes of the files that the publisher has for runs.

    Args:
        runs_by_benchmark: the published name of a benchmark → its runs, as in their JSONL.
        parsed_by_publisher: text → what the publisher's program finds in it; an older answer that
            is just that has no `parsed`, as at the source.
        usage: the number of an answer → its `usage`; the answers have none if it is left out.
    """
    files, tests, number = {}, {}, count(1)
    for benchmark, runs in runs_by_benchmark.items():
        for run in runs:
            _, test = run["run"].split("/")
            about = {"provider": run["provider"], "model": run["model"]}
            tests[test] = {"id": test, "name": benchmark, "prompt_file": run["prompt"], **about}
            is_newer = any(answer.get("score") for answer in run["answers"])
            for answer in run["answers"]:
                text = {"text": answer["text"]} if "text" in answer else {}
                request = about | {"duration": 1.5, "raw_response": "x" * 50} | text
                if usage is None:
                    del request["duration"]
                else:
                    request["usage"] = usage(next(number)) | {"total_tokens": 5131}
                if is_newer or usage is not None:
                    request["score"] = answer.get("score") or {}
                    is_given = answer["answer"] is not None
                else:
                    # As texts, since the order of keys is to come out as it was.
                    found = parsed_by_publisher and parsed_by_publisher(answer.get("text") or "")
                    is_given = json.dumps(found) != json.dumps(answer["answer"])
                if is_given:
                    request["parsed"] = answer["answer"]
                # Early tests have two digits in the names of their files.
                name = f"T{int(test[1:]):02}" if run["run"] < "2025-04" else test
                path = f"results/{run['run']}/request_{name}_{answer['id']}.json"
                files[path] = json.dumps(request).encode()
            files[f"results/{run['run']}/scoring.json"] = json.dumps(run["scores"]).encode()
    table = io.StringIO()
    rows = csv.DictWriter(table, HEADING)
    rows.writeheader()
    rows.writerows(tests.values())
    return files | {TESTS: table.getvalue().encode()}


def packed(files, commit=REVISION, top=TOP):
    """Return a repository's files as GitHub packs them."""
    buffer = io.BytesIO()
    with tarfile.open(
        fileobj=buffer,
        mode="w:gz",
        format=tarfile.PAX_FORMAT,
        pax_headers={"comment": commit} if commit else {},
    ) as archive:
        folder = tarfile.TarInfo(top)
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for path, data in files.items():
            member = path if isinstance(path, tarfile.TarInfo) else tarfile.TarInfo(f"{top}/{path}")
            if not isinstance(path, tarfile.TarInfo):
                member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()
