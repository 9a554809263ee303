"""`make bench-rollout`: live rollouts on an emulated fleet, of a good candidate and of bad ones."""

import argparse
import asyncio
import json
import math
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from benchmarks.emulated_fleet import EmulatedFleet, emulated_fleet
from benchmarks.rollout.page import Played, render
from heterodyne.bench.lengths import Fixed
from heterodyne.bench.plan import BenchPlan
from heterodyne.bench.run import run
from heterodyne.cli.admin_client import AdminClient
from heterodyne.console.rollouts.forms import RolloutStart
from heterodyne.rollout.machine import Rollout
from heterodyne.rollout.metric import METRICS, Metric

PAGE = Path(__file__).resolve().parents[2] / "docs" / "rollout-live.md"
EMULATED = ("--hardware", "h100-sxm", "--model", "llama-3.1-8b", "--precision", "fp8", "--served-model", "chat")
POOLS = ("old", "new")
SETTINGS = """
[pools.old]
model = "chat"
engine = "vllm"
urls = {old}

[pools.new]
model = "chat"
engine = "vllm"
urls = {new}
"""
PROMPT_TOKENS, OUTPUT_TOKENS, OUTPUT_TOKENS_MAX = 300, 8, 64
LEAK_EVERY_S, LEAK = 2.0, 0.02  # by so much of the first step the candidate gets slower, so often
LOOK_EVERY_S = 1.0


class Scenario(Struct, frozen=True, kw_only=True):
    """One candidate."""

    name: str
    faults: dict[str, Any] = {}
    is_leaking: bool = False
    output_tokens: int = OUTPUT_TOKENS  # of a usual answer


GOOD = Scenario(name="good")
SCENARIOS = (
    Scenario(name="+30 % TTFT and ITL", faults={"slowdown": 1.3}),
    Scenario(name="2 % errors", faults={"refuse_status": 500, "refuse_share": 0.02}),
    Scenario(name="degraded answers: half as long", output_tokens=OUTPUT_TOKENS // 2),
    Scenario(name="refuses one in twenty", faults={"poor": "refuse", "poor_share": 0.05}),
    Scenario(name="leaks memory: slower and slower", is_leaking=True),
    GOOD,
)


def main() -> int:
    """Play every scenario and write the page."""
    options = _options()
    played = [one for path in options.beside for one in msgspec.json.decode(path.read_bytes(), type=list[Played])]
    for scenario in SCENARIOS:
        if options.only and not any(word in scenario.name for word in options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            played.append(asyncio.run(_play(scenario, Path(folder), options)))
        print(played[-1], flush=True)
    played.sort(key=lambda one: [scenario.name for scenario in SCENARIOS].index(one.name))
    if options.json is not None:
        options.json.write_bytes(msgspec.json.encode(played))
    if not options.no_page:
        PAGE.write_text(render(played, options.rate, options.replicas))
    return 0


async def _play(scenario: Scenario, folder: Path, options: argparse.Namespace) -> Played:
    arguments = {
        f"{pool}-{number}": [*EMULATED, *_own(scenario if pool == "new" else GOOD)]
        for pool in POOLS
        for number in range(options.replicas)
    }

    def settings(urls: Any) -> str:
        by_pool = {pool: json.dumps([urls[f"{pool}-{n}"] for n in range(options.replicas)]) for pool in POOLS}
        return SETTINGS.format(**by_pool)

    with emulated_fleet(folder, arguments, settings) as fleet:
        admin = AdminClient(fleet.admin_url, None)
        began_s = time.monotonic()
        await asyncio.to_thread(admin.change_rollout, "start", RolloutStart(model="chat", candidate=("new",)))
        ended = await _drive(scenario, fleet, admin, options)
        records = await asyncio.to_thread(fleet.end)
    asked = [one for one in records if one.operation == "chat"]
    exposed = sum(one.pool == "new" for one in asked)
    return Played(
        name=scenario.name,
        status=str(ended.status),
        why=ended.steps[-1].why,
        stage=ended.steps[-1].stage,
        requests=len(asked),
        exposed=exposed,
        candidate_requests=ended.candidate_evidence.requests,
        failed=sum(one.status >= 500 for one in asked),
        seconds=round(time.monotonic() - began_s, 1),
        ttft_ratio=_ratio(ended, METRICS["ttft"]),
        itl_ratio=_ratio(ended, METRICS["itl"]),
    )


def _ratio(rollout: Rollout, metric: Metric) -> float:
    """How many times the baseline's the candidate's was."""
    one, other = rollout.candidate_evidence.of(metric), rollout.baseline_evidence.of(metric)
    return math.exp(one.total / one.count - other.total / other.count) if one.count and other.count else math.nan


def _own(scenario: Scenario) -> list[str]:
    faults = [word for name, value in scenario.faults.items() for word in ("--fault", f"{name}={json.dumps(value)}")]
    return ["--output-tokens", str(scenario.output_tokens), *faults]


async def _drive(scenario: Scenario, fleet: EmulatedFleet, admin: AdminClient, options: argparse.Namespace) -> Rollout:
    """Ask at a steady rate until the rollout ends, or for as long as it may take."""
    stop = asyncio.Event()
    plan = BenchPlan(
        url=fleet.url,
        model="chat",
        rate_requests_per_s=options.rate,
        duration_s=options.seconds_max,
        prompt_tokens=Fixed(tokens=PROMPT_TOKENS),
        output_tokens=Fixed(tokens=OUTPUT_TOKENS_MAX),
    )
    latest: list[Rollout] = []

    async def watch() -> None:
        leak, next_leak_s = 1.0, time.monotonic() + LEAK_EVERY_S
        while not stop.is_set():
            page = await asyncio.to_thread(admin.rollouts, "chat")
            latest[:] = page.rollouts[:1]
            if latest[0].is_ended:
                stop.set()
            if scenario.is_leaking and time.monotonic() > next_leak_s:
                leak, next_leak_s = leak + LEAK, next_leak_s + LEAK_EVERY_S
                for number in range(options.replicas):
                    await asyncio.to_thread(_set_faults, fleet.engine_urls[f"new-{number}"], {"slowdown": leak})
            await asyncio.sleep(LOOK_EVERY_S)

    watching = asyncio.create_task(watch())
    await run(plan, clock=time.monotonic, stop=stop)
    stop.set()
    await watching
    return latest[0]


def _set_faults(url: str, faults: dict[str, Any]) -> None:
    request = urllib.request.Request(
        f"{url}/emulator/faults", json.dumps(faults).encode(), {"content-type": "application/json"}
    )
    urllib.request.urlopen(request, timeout=10).close()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=250.0, help="requests a second")
    parser.add_argument("--seconds-max", type=float, default=900.0, help="of each scenario")
    parser.add_argument(
        "--replicas", type=int, default=8, help="of each side; a candidate that is to carry everything needs as many"
    )
    parser.add_argument("--only", nargs="*", help="scenarios whose names have one of these words")
    parser.add_argument("--json", type=Path, help="where the results go, too")
    parser.add_argument(
        "--beside", type=Path, nargs="*", default=[], help="results of earlier runs on this machine, for the page"
    )
    parser.add_argument("--no-page", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
