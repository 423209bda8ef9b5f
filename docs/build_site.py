"""Build the documentation site into build/site; it takes no arguments.

The pages are gathered in build/pages, each where it is in the repository, so that links lead to the
same file here and there. A link or an anchor that leads nowhere ends the build with an error.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build/pages"

SHOWN = (
    *("docs/**/*.md", "metrics/*/README.md", "spaces/scorer/README.md"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
)
LINKED = (
    *("docs/*.css", "docs/*.csv", "docs/*.json", "docs/*.svg", "dataset_scripts/*/sample/**/*.jpg"),
    *("dataset_scripts/*/sample/report.png", "docs/pictures/*.png", "tests/speed/*.py"),
)
AT_THE_ROOT = """<!doctype html>
<meta charset="utf-8"><meta http-equiv="refresh" content="0; url=docs/index.html">
<link rel="icon" href="data:,">
"""


def gather() -> None:
    """Copy the pages and what they link to."""
    shutil.rmtree(PAGES, ignore_errors=True)
    for path in (path for pattern in SHOWN + LINKED for path in ROOT.glob(pattern)):
        place = PAGES / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    (PAGES / "index.html").write_text(AT_THE_ROOT, encoding="utf-8")


def write_commands() -> None:
    """Write the reference of the command line, from the commands themselves."""
    make = ("typer", "hdbench.cli", "utils", "docs", "--name", "hdbench", "--title", "Command line")
    done = subprocess.run([sys.executable, "-m", *make], check=True, capture_output=True)
    # In the list of commands, what each of them does is cut off after a few words.
    text = re.sub(r"(?m)^\* (`[a-z-]+`): .*\.\.\.$", r"* \1", done.stdout.decode())
    (PAGES / "docs/reference/cli.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    gather()
    write_commands()
    zensical = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    sys.exit(subprocess.run(zensical, cwd=ROOT, check=False).returncode)
