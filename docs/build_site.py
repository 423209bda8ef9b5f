"""Build the documentation site into build/site.

The notebooks are run, and shown with their outputs, unless `--without-outputs` is given. The pages
are gathered in build/pages, each where it is in the repository, so that links lead to the same file
here and there, and those to notebooks to their pages. A link or an anchor that leads nowhere ends
the build with an error. Beside the site stands llms.txt, a list of the pages for programs that
read, with each page as Markdown.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import notebook_pages

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build/pages"

SHOWN = (
    *("docs/**/*.md", "metrics/*/README.md", "spaces/scorer/README.md"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
)
LINKED = (
    *("docs/*.css", "docs/*.js", "docs/data/*"),
    "dataset_scripts/*/sample/**/*.jpg",
    "docs/notebooks/*.ipynb",
    *("docs/pictures/*", "tests/speed/*.py"),
)
SEARCH = (
    *(sys.executable, "-m", "pagefind", "--quiet", "--site", "build/site", "--keep-index-url"),
    *("--root-selector", "article", "--exclude-selectors", ".headerlink"),
)
AT_THE_ROOT = """<!doctype html>
<meta charset="utf-8"><meta http-equiv="refresh" content="0; url=docs/first-look.html">
<link rel="icon" href="data:,">
"""


def gather() -> None:
    """Copy the pages and what they link to."""
    shutil.rmtree(PAGES, ignore_errors=True)
    for path in (path for pattern in SHOWN + LINKED for path in ROOT.glob(pattern)):
        place = PAGES / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text = notebook_pages.linking_to_pages(path.read_text(encoding="utf-8"))
            place.write_text(text, encoding="utf-8")
        else:
            shutil.copyfile(path, place)
    shutil.copyfile(ROOT / "src/hdbench/common/display/tokens.css", PAGES / "docs/tokens.css")
    (PAGES / "index.html").write_text(AT_THE_ROOT, encoding="utf-8")


def write_notebooks(*, with_outputs: bool) -> None:
    """Write the notebooks as pages, with what their cells show if that is asked for."""
    paths = [*PAGES.glob("docs/notebooks/*.ipynb")]
    notebooks = [notebook_pages.read(path) for path in paths]
    if with_outputs:
        with ThreadPoolExecutor() as pool:
            notebooks = [*pool.map(notebook_pages.run, notebooks)]
    for path, notebook in zip(paths, notebooks, strict=True):
        notebook_pages.write_page(notebook, path.with_suffix(".md"))


def write_commands() -> None:
    """Write the reference of the command line, from the commands themselves."""
    make = (
        "typer",
        "hdbench.cli.app",
        "utils",
        "docs",
        "--name",
        "hdbench",
        "--title",
        "Command line",
    )
    done = subprocess.run([sys.executable, "-m", *make], check=True, capture_output=True)
    # In the list of commands, what each of them does is cut off after a few words.
    text = re.sub(r"(?m)^\* (`[a-z-]+`): .*\.\.\.$", r"* \1", done.stdout.decode())
    (PAGES / "docs/reference/cli.md").write_text(text, encoding="utf-8")


def write_list_for_programs() -> None:
    """Write llms.txt beside the site, and the pages that it names as Markdown."""
    site = ROOT / "build/site"
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    lines = [f"# {project['site_name']}", "", f"> {project['site_description']}", ""]
    for path in map(Path, re.findall(r"docs/[\w-]+\.md", str(project["nav"]))):
        text = (PAGES / path).read_text(encoding="utf-8")
        [title], parts = re.findall(r"^# (.*)", text), re.findall(r"(?m)^##+ (?:\d+\. )?(.*)", text)
        lines.append(f"- [{title}]({path}): {'; '.join(parts)}")
        shutil.copyfile(PAGES / path, site / path)
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--without-outputs", action="store_true", help="do not run the notebooks")
    gather()
    write_notebooks(with_outputs=not parser.parse_args().without_outputs)
    write_commands()
    zensical = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    if failed := subprocess.run(zensical, cwd=ROOT, check=False).returncode:
        sys.exit(failed)
    write_list_for_programs()
    sys.exit(subprocess.run(SEARCH, cwd=ROOT, check=False).returncode)
