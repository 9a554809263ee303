"""A fleet for the desks of the console: settings, replicas as an operator sees them, and requests of the books."""

from collections.abc import Iterator

from msgspec import structs

from heterodyne.config.settings import Settings
from heterodyne.console.fleet.pages import FleetPage, ReplicaCondition, ReplicaRow
from heterodyne.domain.price import Price
from heterodyne.domain.usage import UsageRecord
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from tests.support.admin_fleets import REPLICA, WORKER
from tests.support.usage_records import record

MODEL = "llama-3.1-8b"
FAST = PoolSettings(
    model=MODEL, engine="vllm", urls=("http://a:1", "http://b:1"), hardware="h100-sxm", price_usd_per_hour=3.0
)
NOBODY_KNOWS = PoolSettings(model=MODEL, engine="vllm", urls=("http://c:1",))


def settings(policy: str = "slo", **pools: PoolSettings) -> Settings:
    """One model with a promise."""
    rule = ModelSettings(policy=policy, slo_ttft_ms=500.0, slo_itl_ms=50.0)
    return Settings(pools=pools or {"fast": FAST}, models={MODEL: rule})


def row(pool: str, number: int, state: ReplicaCondition = ReplicaCondition.READY) -> ReplicaRow:
    return structs.replace(
        REPLICA, id=f"{pool}-{number}", pool=pool, model=MODEL, state=state, price=Price(usd_per_hour=3.0)
    )


def page(**replicas: int) -> FleetPage:
    """So many that take work, by pool."""
    rows = tuple(row(pool, number) for pool, count in replicas.items() for number in range(count))
    return FleetPage(version=1, is_applied=True, workers=(WORKER,), replicas=rows, reload=None)


def requests(since: float, until: float, *, each_s: float = 1.0, **fields: object) -> Iterator[UsageRecord]:
    """One after the other at an even pace, of 1000 tokens and 200."""
    usual = {"model": MODEL, "pool": "fast", "replica": "fast-0", "prompt_tokens": 1000, "completion_tokens": 200}
    said = {**usual, **fields}
    at = since
    while at < until:
        yield record(0, **{**said, "id": f"req_{at:.3f}_{said['pool']}", "at": at})
        at += each_s
