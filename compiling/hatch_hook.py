"""Puts the compiled hot files into a wheel where COMPILE_HETERODYNE=1 asks for it; else the wheel is pure Python."""

import os
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling for each wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files of the wheel are gathered; `editable` ones are of the source tree."""
        if os.environ.get("COMPILE_HETERODYNE") != "1" or version == "editable":
            return
        sys.path.insert(0, self.root)
        from compiling.build import BUILD, libraries_of  # noqa: PLC0415 - beside this file, and only now on the path

        folder = BUILD / "compiled"
        made = libraries_of(folder)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"] |= {str(file): str(file.relative_to(folder / "lib")) for file in made}
