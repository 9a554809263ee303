"""Writes to the standard input of a child process, which may have ended."""

from asyncio import StreamWriter


async def feed(pipe: StreamWriter, line: bytes) -> None:
    """Raises `ConnectionError` where the child has ended, whichever event loop runs: uvloop has another error."""
    try:
        pipe.write(line)
        await pipe.drain()
    except RuntimeError as error:
        raise BrokenPipeError("the process has ended") from error
