"""Asks an engine's health page once, over plain HTTP."""

import asyncio
import contextlib

from heterodyne.concurrency.deadline import deadline

PROBE_TIMEOUT_S = 2.0
LINE_BYTES_MAX = 4096


async def is_healthy(host: str, port: int, path: str) -> bool:
    """Whether it answers 200 in time."""
    try:
        async with deadline(PROBE_TIMEOUT_S):
            return await _asks(host, port, path)
    except (OSError, TimeoutError, ValueError):  # a line that is too long is a ValueError
        return False


async def _asks(host: str, port: int, path: str) -> bool:
    reader, writer = await asyncio.open_connection(host, port, limit=LINE_BYTES_MAX)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\n\r\n".encode("ascii"))
        await writer.drain()
        said = (await reader.readline()).split()
        return len(said) > 1 and said[0].startswith(b"HTTP/1.") and said[1] == b"200"
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
