"""Taking in what was handed over, by somebody who says yes to whatever is shown."""

from hdbench.annotating import merging


def merge(folder, path, merger="me"):
    return merging.merge(folder, path, merger, lambda _: None)
