"""What a worker says of itself on /metrics, and what the system says of it."""

import asyncio
import os
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.support.raw_client import ask
from tests.support.requests import get

SETTLE_S_MAX = 5.0
NAMES = {
    "heterodyne_gateway_client_connections": "connections",
    "heterodyne_gateway_requests_in_flight": "in_flight",
    "heterodyne_gateway_body_bytes": "body_bytes",
    "heterodyne_gateway_requests_total": "requests",
    "heterodyne_gateway_refusals_total": "refusals",
    "heterodyne_gateway_attempts_failed_total": "attempts_failed",
    "heterodyne_gateway_retries_total": "retries",
    "heterodyne_gateway_hedges_total": "hedges",
    "heterodyne_gateway_continuations_total": "continuations",
    "heterodyne_telemetry_records_dropped_total": "records_dropped",
}


async def settled(port: int) -> dict[str, float]:
    """The gateway's own figures, once the last connections have gone and no probe is under way."""
    async with asyncio.timeout(SETTLE_S_MAX):
        while True:
            found = figures((await ask(port, get("/metrics"))).body.decode())
            if found["connections"] == 1 and not found["busy"]:
                return found
            await asyncio.sleep(0.05)


def figures(text: str) -> dict[str, float]:
    """Sums over all labels; requests also by status, failed attempts by outcome, engine connections by state."""
    found = dict.fromkeys((*NAMES.values(), "200", "499", "busy", "idle"), 0.0)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name in NAMES:
                found[NAMES[sample.name]] += sample.value
            if sample.name == "heterodyne_gateway_requests_total":
                found[sample.labels["status"]] = found.get(sample.labels["status"], 0.0) + sample.value
            if sample.name == "heterodyne_gateway_attempts_failed_total":
                found[sample.labels["outcome"]] = found.get(sample.labels["outcome"], 0.0) + sample.value
            if sample.name == "heterodyne_gateway_engine_connections":
                found[sample.labels["state"]] += sample.value
    return found


def rss_kib(pid: int) -> int:
    """Memory of the process that is in RAM."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def descriptors(pid: int) -> int:
    """Files and sockets the process holds open."""
    return len(os.listdir(f"/proc/{pid}/fd"))
