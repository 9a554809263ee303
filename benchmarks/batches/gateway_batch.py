"""One batch of a running gateway: sent, watched until it or the time is over, and its output counted."""

import asyncio
import json
import time
import urllib.request
from typing import Any

from msgspec import Struct

from benchmarks.batches.lines import BatchShape

ENDS = ("completed", "failed", "expired", "cancelled")
BOUNDARY = "batch-boundary"


class WorkedOff(Struct, frozen=True, kw_only=True):
    """What became of it."""

    status: str
    lines: int  # in its output
    twice: int  # of them, those that are there before
    lost: int  # of a batch that is complete, those that are in no file
    lines_per_s: float  # from when it is warm until it or the time is over


async def work_off(
    url: str, model: str, shape: BatchShape, *, seed: int, begin_s: float, warm_s: float, seconds: float
) -> WorkedOff:
    """It comes after `begin_s`; what is not answered after so many seconds is cancelled."""
    content = await asyncio.to_thread(shape.write, model, seed)
    await asyncio.sleep(begin_s)
    batch = await asyncio.to_thread(_submit, url, content)
    batch, pace = await _watch(f"{url}/v1/batches/{batch['id']}", warm_s=warm_s, seconds=seconds)
    ids = await asyncio.to_thread(_answered, url, batch)
    different = len(set(ids))
    return WorkedOff(
        status=batch["status"],
        lines=len(ids),
        twice=len(ids) - different,
        lost=shape.lines - different if batch["status"] == "completed" else 0,
        lines_per_s=pace,
    )


async def _watch(url: str, *, warm_s: float, seconds: float) -> tuple[Any, float]:
    began_s = time.monotonic()
    first: tuple[float, int] | None = None
    last = (began_s, 0)
    while True:
        batch = await asyncio.to_thread(_get, url)
        done, now_s = batch["request_counts"]["completed"], time.monotonic()
        if done > last[1]:
            last = (now_s, done)
        if first is None and done and now_s - began_s >= warm_s:
            first = (now_s, done)
        if batch["status"] in ENDS or now_s - began_s > seconds:
            break
        await asyncio.sleep(0.5)
    if batch["status"] not in ENDS:
        await asyncio.to_thread(_post, f"{url}/cancel", b"{}", "application/json")
        while batch["status"] not in ENDS:
            await asyncio.sleep(0.5)
            batch = await asyncio.to_thread(_get, url)
    pace = 0.0 if first is None or last[0] <= first[0] else (last[1] - first[1]) / (last[0] - first[0])
    return batch, pace


def _submit(url: str, content: bytes) -> Any:
    body = (
        (
            f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="in.jsonl"\r\n\r\n'
        ).encode()
        + content
        + f"\r\n--{BOUNDARY}--\r\n".encode()
    )
    file = _post(f"{url}/v1/files", body, f"multipart/form-data; boundary={BOUNDARY}")
    asked = {"input_file_id": file["id"], "endpoint": "/v1/completions", "completion_window": "24h"}
    return _post(f"{url}/v1/batches", json.dumps(asked).encode(), "application/json")


def _answered(url: str, batch: Any) -> list[str]:
    """The ids in its output, in their order."""
    if not batch["output_file_id"]:
        return []
    with urllib.request.urlopen(f"{url}/v1/files/{batch['output_file_id']}/content", timeout=300) as answer:
        return [json.loads(line)["custom_id"] for line in answer]


def _get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)


def _post(url: str, body: bytes, media_type: str) -> Any:
    request = urllib.request.Request(url, body, {"content-type": media_type})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)
