"""Three times what the fleet can do, for a few seconds: gold is served, bronze is told why not, nobody is forgotten."""

import asyncio
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random

import msgspec
from msgspec import structs

from heterodyne.domain.record import RequestRecord
from heterodyne.domain.urgency import Tier
from heterodyne.emulator.server import EmulatorServer
from heterodyne.ports.tenant_changes import KeyDraft, OrganisationDraft, ProjectDraft
from heterodyne.stores.open_store import open_database, tenants_in
from heterodyne.testing.serve_process import ServeProcess
from tests.support.emulators import order
from tests.support.raw_client import Answer, ask
from tests.support.requests import chat, get

MODEL = "llama-3.1-8b"
SLOTS, OUTPUT_TOKENS = 4, 40  # at about 5 ms a token: some 20 requests a second
ASKED_PER_S, ASKED = 60.0, 300
SHARES = {Tier.GOLD: 1, Tier.SILVER: 2, Tier.BRONZE: 3}
QUEUE_MAX = 12
EARLY = {"shed", "not_in_time", "queue_full"}
DEPTH = re.compile(r"^heterodyne_admission_queue_depth\{[^}]*\} (\S+)$", re.MULTILINE)


async def test_at_three_times_the_capacity_gold_is_served_and_bronze_is_told_why_not(tmp_path: Path) -> None:
    scheduling = structs.replace(order().scheduling, slots=SLOTS)
    keys = await _make_keys(f"sqlite:{tmp_path / 'heterodyne.db'}")
    async with EmulatorServer(order(scheduling=scheduling, speed=1.0, output_tokens_mean=OUTPUT_TOKENS)) as emulator:
        records = tmp_path / "records.jsonl"
        environment = {"HETERODYNE_TELEMETRY__RECORDS": str(records), "XDG_DATA_HOME": str(tmp_path)}
        with ServeProcess(tmp_path, config=_settings(emulator.url, tmp_path), environment=environment) as serve:
            await asyncio.to_thread(serve.wait_ready)
            port = int(serve.url.rpartition(":")[2])
            answers, depth_max = await _overrun(port, keys)
            after = await _queue_depths(port)
            await asyncio.to_thread(serve.stop)
    told = {tier: Counter(_told(answer) for answer in several) for tier, several in answers.items()}
    assert sum(map(Counter.total, told.values())) == ASKED, "everybody is answered"
    assert set().union(*told.values()) <= {"answered", *EARLY}, told
    shares = {tier: counts["answered"] / counts.total() for tier, counts in told.items()}
    assert shares[Tier.GOLD] >= 0.8, told
    assert shares[Tier.GOLD] > shares[Tier.SILVER] > shares[Tier.BRONZE], told
    assert shares[Tier.BRONZE] <= 0.5, told
    assert all(
        int(answer.headers["retry-after"]) >= 1
        for several in answers.values()
        for answer in several
        if answer.status != 200
    )
    assert 0 < depth_max <= QUEUE_MAX
    assert after == [0] * len(after), "nobody is left waiting"
    written = [msgspec.json.decode(line, type=RequestRecord) for line in records.read_bytes().splitlines()]
    # Whoever asks what the gateway still holds has no key, and is no tenant.
    by_tenant = Counter((one.tenant, one.reason or "answered") for one in written if one.tenant)
    assert by_tenant == {
        (f"acme/{tier.value}", what): count for tier, counts in told.items() for what, count in counts.items()
    }


async def _overrun(port: int, keys: Mapping[Tier, str]) -> tuple[dict[Tier, list[Answer]], int]:
    """What everybody was answered, by tier, and the longest queue seen meanwhile."""
    chance = Random(7)
    answers: dict[Tier, list[Answer]] = {tier: [] for tier in SHARES}
    depths = [0]

    async def one(tier: Tier) -> None:
        request = chat(
            f"authorization: Bearer {keys[tier]}",
            model=MODEL,
            stream=True,
            max_tokens=OUTPUT_TOKENS,
            min_tokens=OUTPUT_TOKENS,
        )
        answers[tier].append(await ask(port, request))

    async with asyncio.TaskGroup() as tasks:
        for number in range(ASKED):
            tasks.create_task(one(chance.choices(list(SHARES), list(SHARES.values()))[0]))
            if not number % 20:
                depths += await _queue_depths(port)
            await asyncio.sleep(chance.expovariate(ASKED_PER_S))
    return answers, max(depths)


async def _queue_depths(port: int) -> list[int]:
    page = (await ask(port, get("/metrics"))).body.decode()
    return [int(float(depth)) for depth in DEPTH.findall(page)]


def _told(answer: Answer) -> str:
    """Whole answers only; anything else raises."""
    if answer.status == 200:
        assert answer.events[-1] == b"[DONE]"
        return "answered"
    return str(answer.error["code"])


async def _make_keys(url: str) -> dict[Tier, str]:
    """A project of each tier; the secrets of their keys."""
    database = await open_database(url, os.environ)
    try:
        tenants, secrets = tenants_in(database), {}
        await tenants.create_organisation(OrganisationDraft(id="acme"), who="test")
        for tier in Tier:
            project = f"acme/{tier.value}"
            await tenants.create_project(ProjectDraft(id=project, tier=tier), who="test")
            secrets[tier] = (await tenants.create_key(KeyDraft(project=project), who="test")).secret
        return secrets
    finally:
        await database.close()


def _settings(engine_url: str, folder: Path) -> str:
    return f"""
[stores]
url = "sqlite:{folder / "heterodyne.db"}"

[admission]
queue_max = {QUEUE_MAX}

[pools.only]
model = "{MODEL}"
engine = "vllm"
urls = ["{engine_url}"]
hardware = "h100"
precision = "fp8"
in_flight_max = {SLOTS}

[models."{MODEL}"]
slo_ttft_ms = 1000
slo_itl_ms = 100
"""
