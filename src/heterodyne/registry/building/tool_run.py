"""A vendor's program, run to its end or to a deadline."""

import contextlib
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import BinaryIO

from heterodyne.domain.errors import WeightsUnavailable

SAID_SIGNS = 2000  # of what it printed last, that an error repeats


def run_tool(command: list[str], *, timeout_s: float) -> None:
    """Raises what it printed last where it fails; ends it and all that it started where it takes too long."""
    name = Path(command[0]).name
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - a program that the operator has installed
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise WeightsUnavailable(f"{name} was not done after {timeout_s:g} s and was ended{_last(said)}") from error
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if code != 0:
            raise WeightsUnavailable(f"{name} ended with {code}{_last(said)}")


def _last(said: BinaryIO) -> str:
    said.seek(0)
    text = said.read().decode(errors="replace").strip()
    return f"; it said: {text[-SAID_SIGNS:]}" if text else ""
