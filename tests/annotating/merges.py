"""Taking in what was handed over, by somebody who says yes to whatever is shown."""

from hdbench.annotating import merging


def merge(folder, path):
    return merging.merge(folder, path, lambda _: None)
