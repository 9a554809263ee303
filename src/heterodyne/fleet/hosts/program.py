"""Runs one program of this machine, such as `ssh` or `sbatch`, and has what it says: bounded in time and in length."""

import asyncio
import contextlib
import os
import signal
import tempfile
from collections.abc import Sequence
from typing import IO

from msgspec import Struct

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import DriverUnavailable

SAID_BYTES_MAX = 1024 * 1024
ERROR_CHARS_MAX = 300
KILL_S = 2.0


class Ran(Struct, frozen=True, kw_only=True):
    """A program that has ended."""

    code: int
    output: str
    error: str  # the end of it

    @property
    def complaint(self) -> str:
        """What it said of its failure."""
        return " ".join((self.error or self.output).split())[-ERROR_CHARS_MAX:] or f"it ended with {self.code}"


async def run_program(words: Sequence[str], timeout_s: float, *, text: str = "") -> Ran:
    """Raises `DriverUnavailable` where it cannot be run, or does not end in time; `text` is its standard input."""
    # What an `ssh` leaves in the background for the next one keeps its standard error open: no pipe, to wait for. Its
    # input is none, either: a program that ends before it has read that closes it, and a loop's write would raise.
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as given:
        given.write(text.encode())
        given.seek(0)
        try:
            process = await _begin(words, given, errors)
        except OSError as error:
            raise DriverUnavailable(f"{words[0]}: {error.strerror}") from error
        try:
            async with deadline(timeout_s):
                output, _ = await process.communicate()
        except TimeoutError as error:
            raise DriverUnavailable(f"{words[0]}: no answer within {timeout_s:.0f} s") from error
        finally:
            if process.returncode is None:
                await _kill(process)
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - SAID_BYTES_MAX))
        said = errors.read().decode(errors="replace").strip()
    assert process.returncode is not None
    return Ran(code=process.returncode, output=output[:SAID_BYTES_MAX].decode(errors="replace"), error=said)


async def _begin(words: Sequence[str], given: IO[bytes], errors: IO[bytes]) -> asyncio.subprocess.Process:
    """Who is cancelled meanwhile ends what has just begun."""
    beginning = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *words,
            stdin=given,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # a Ctrl-C at the terminal is for the parent
        )
    )
    try:
        return await asyncio.shield(beginning)
    except asyncio.CancelledError:
        await _kill(await beginning)
        raise


async def _kill(process: asyncio.subprocess.Process) -> None:
    """With what it has started, as that has its output open."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(TimeoutError):
        async with deadline(KILL_S):
            await process.communicate()
