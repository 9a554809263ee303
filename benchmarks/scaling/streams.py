"""One streamed chat over a connection of its own, and whether it came whole."""

import asyncio
import json
import time
from urllib.parse import urlsplit

from msgspec import Struct

from heterodyne.concurrency.deadline import deadline

LIMIT_BYTES = 1 << 20


class Stream(Struct, frozen=True, kw_only=True):
    """What came of it."""

    problem: str  # empty: it came whole
    ttft_s: float | None  # None: nothing came
    total_s: float


async def stream(url: str, model: str, tokens: int, within_s: float) -> Stream:
    """Ask, and read to the end."""
    began_s, ttft_s, problem = time.monotonic(), None, ""
    try:
        async with deadline(within_s):
            status, ttft_s, text = await _asked(url, model, tokens, began_s)
        if status != 200:  # as HTTP has it
            problem = f"status {status}: {text[:200]!r}"
        elif b"data: [DONE]" not in text or b'"error"' in text:
            problem = f"broken: {text[-200:]!r}"
    except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
        problem = f"{type(error).__name__}: {error}"
    return Stream(problem=problem, ttft_s=ttft_s, total_s=time.monotonic() - began_s)


async def _asked(url: str, model: str, tokens: int, began_s: float) -> tuple[int, float | None, bytes]:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=LIMIT_BYTES)
    try:
        body = json.dumps(
            {
                "model": model,
                "messages": [{"role": "user", "content": "Tell me in a few words why the sky is blue."}],
                "max_tokens": tokens,
                "stream": True,
            }
        ).encode()
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nhost: {parts.netloc}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        status = int((await reader.readline()).split()[1])
        while (await reader.readline()).strip():
            pass
        first = await reader.read(1 << 14)
        ttft_s = time.monotonic() - began_s if first else None
        return status, ttft_s, first + await reader.read()
    finally:
        writer.close()
