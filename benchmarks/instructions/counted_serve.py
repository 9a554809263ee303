"""Runs the `heterodyne` command with its workers under valgrind: counted_serve.py FOLDER ARGUMENTS...

The supervisor itself is left out: it loads libraries whose debug information some versions of valgrind cannot read.
"""

import shlex
import sys
from pathlib import Path

from benchmarks.instructions.callgrind import counted
from heterodyne.cli.main import main

WORKER, COUNTED_WORKER = "heterodyne.assembly.worker", "benchmarks.instructions.counted_worker"


def wrapper(folder: Path) -> Path:
    """A stand-in for the interpreter that starts workers under valgrind."""
    path = folder / "python-or-valgrind"
    worker = shlex.join(counted((sys.executable, "-m", COUNTED_WORKER), folder))
    path.write_text(f'#!/bin/sh\n[ "$2" = {WORKER} ] && exec {worker}\nexec {shlex.quote(sys.executable)} "$@"\n')
    path.chmod(0o700)
    return path


if __name__ == "__main__":
    folder = Path(sys.argv.pop(1)).resolve()
    sys.executable = str(wrapper(folder))
    main()
