"""Compiles the catalogues of translations when the package is built."""

import os
from pathlib import Path
from typing import Any

from babel.messages import mofile, pofile
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CatalogueHook(BuildHookInterface[Any]):
    """Makes `hdbench.mo` from each `hdbench.po`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile all catalogues before the files of the package are collected."""
        for source in Path(self.root, "src/hdbench/locale").glob("*/LC_MESSAGES/*.po"):
            compiled = source.with_suffix(".mo")
            # Where the package is editable, other processes may read the one that is there.
            part = compiled.with_suffix(f".{os.getpid()}")
            with source.open("rb") as catalog, part.open("wb") as file:
                mofile.write_mo(file, pofile.read_po(catalog, abort_invalid=True))
            part.replace(compiled)
            build_data["artifacts"].append(str(compiled.relative_to(self.root)))
