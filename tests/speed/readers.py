"""How time and memory grow with a file, for every form that is read: python -m speed.readers

Run as PYTHONPATH=tests python -m speed.readers [FORM …]; each form in its first dimension, or with
--all in every one. Not a test: tests/answers/test_growth.py is. Prints a table in Markdown.
"""

import sys

from helpers.forms import FORMS
from helpers.growing import measured

TIMES = (1, 2, 4, 8)


def main() -> None:
    """Measure the forms that are named, or all."""
    named = [form for form in sys.argv[1:] if form != "--all"]
    print("| form | dimension | " + " | ".join(f"{times} ×" for times in TIMES) + " |")
    print("|---|---|" + "---:|" * len(TIMES))
    for form in named or FORMS:
        dimensions = FORMS[form].dimensions
        for name in dimensions if "--all" in sys.argv else list(dimensions)[:1]:
            n, write = dimensions[name]
            figures = [measured(form, write, n * times) for times in TIMES]
            cells = (
                f"{each.seconds * 1e3:,.0f} ms, {each.memory / 2**20:.0f} MiB"
                + (", refused" if each.is_refused else "")
                for each in figures
            )
            print(f"| {form} | {n:,} {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
