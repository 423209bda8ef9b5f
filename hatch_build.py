"""Compiles the inner loop of `hdbench.scoring.sequence_ratio` while the package is built."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from Cython.Build import cythonize
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from setuptools import Distribution, Extension

MODULE = "hdbench.scoring._gestalt"


class CompileHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the compiled module to a wheel; without a compiler the wheel goes without it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile it into `src/`, where an editable install finds it too."""
        if self.target_name != "wheel":
            return
        source = Path(self.root, "src", *MODULE.split(".")).with_suffix(".pyx")
        with tempfile.TemporaryDirectory() as folder:
            extensions = cythonize([Extension(MODULE, [str(source)])], build_dir=folder, quiet=True)
            extensions[0].optional = True  # that there is no compiler is no error
            command = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
            command.build_lib, command.build_temp = folder, folder
            command.ensure_finalized()
            command.run()
            built = Path(command.get_ext_fullpath(MODULE))
            module = source.with_name(built.name)
            module.unlink(missing_ok=True)  # of an earlier build
            if not built.exists():
                self.app.display_warning("not compiled: comparing long texts will be slower")
                return
            shutil.copy(built, module)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"].append(str(module.relative_to(self.root)))
