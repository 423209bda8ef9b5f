"""Serve the page of a work list that is a file of JSON; only for tests, run by its path."""

import json
import sys
from pathlib import Path

from hdbench.annotating.server import serve
from hdbench.annotating.working.work_page import WorkPage

sys.path.append(str(Path(__file__).parents[2]))


def main(folder, out, work_list, annotator, language=None):
    from annotating.working.lists import WorkInMemory  # noqa: PLC0415  beside the other tests

    work = WorkInMemory(**json.loads(Path(work_list).read_text()))
    page = WorkPage(Path(folder), Path(out), work, annotator, language)
    serve(page, port=0, started=lambda url: print(url, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
