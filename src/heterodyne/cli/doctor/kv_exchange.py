"""Whether pools of one model can really exchange KV: that they hold it alike, and that engines were started for it."""

import asyncio
from collections.abc import Iterable, Iterator
from itertools import combinations

from heterodyne.cli.doctor.engines import look_at_all
from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.config.settings import Settings
from heterodyne.control.engine_fetch import post
from heterodyne.control.replica_seen import ReplicaSeen
from heterodyne.domain.errors import EngineError
from heterodyne.domain.fleet import Replica
from heterodyne.engines.catalogue import ENGINES
from heterodyne.engines.header_lines import header_lines
from heterodyne.engines.kv_transfer.catalogue import FILES
from heterodyne.engines.replica_address import replica_address
from heterodyne.fleet.kv_layout import kv_layout_facts
from heterodyne.fleet.settings import PoolSettings
from heterodyne.supervisor.configured_replicas import remote_replicas
from heterodyne.wire.connection_pool import ConnectionPool

TOPIC = "KV exchange"
ASK_TIMEOUT_S = 5.0
NO_ACTION = "/slots/0?action=none"  # refused by all: with 501 where slots cannot be saved at all


def kv_exchange(settings: Settings) -> list[DoctorFinding]:
    """Nothing where no pool exchanges KV; what is wrong costs time, so it blocks nothing."""
    pools = {name: pool for name, pool in settings.pools.items() if pool.kv_transfer or pool.kv_store}
    if not pools:
        return []
    seen, unsaved = asyncio.run(_look(settings))
    return [*_pairs(pools), *_blocks(pools, seen), *_slots(unsaved)]


async def _look(settings: Settings) -> tuple[list[ReplicaSeen], list[Replica]]:
    """The replicas, and those that were started without a folder for slots."""
    seen = await look_at_all(settings)
    pool = ConnectionPool(asyncio.get_running_loop(), idle_max=0, connect_timeout_s=settings.gateway.connect_timeout_s)
    with_slots = [replica for replica in remote_replicas(settings) if replica.kv_transfer in FILES]
    try:
        return seen, [replica for replica in with_slots if not await _saves_slots(replica, pool)]
    finally:
        await pool.close()


async def _saves_slots(replica: Replica, pool: ConnectionPool) -> bool:
    """An engine that cannot be asked is another finding's business."""
    headers = header_lines(replica, ENGINES[replica.engine])
    path = replica.base_path + NO_ACTION
    try:
        answer = await post(pool, replica_address(replica), path, b"{}", timeout_s=ASK_TIMEOUT_S, headers=headers)
    except EngineError:
        return True
    return answer.status != 501


def _pairs(pools: dict[str, PoolSettings]) -> Iterator[DoctorFinding]:
    for (name, pool), (other, one) in combinations(pools.items(), 2):
        if pool.model != one.model:
            continue
        why = list(_differences(name, pool, other, one))
        yield DoctorFinding(
            topic=TOPIC,
            name=f"{name} and {other}",
            state=FindingState.WARNING if why else FindingState.GOOD,
            value=f"they exchange no KV: {'; '.join(why)}" if why else "they hold KV alike",
            advice="make these settings equal, if the engines are; else prompts are computed" if why else None,
        )


def _differences(name: str, pool: PoolSettings, other: str, one: PoolSettings) -> Iterator[str]:
    if pool.kv_transfer != one.kv_transfer:
        yield f"kv_transfer is {pool.kv_transfer or 'absent'} and {one.kv_transfer or 'absent'}"
    ours, theirs = kv_layout_facts(name, pool), kv_layout_facts(other, one)
    for fact, value in ours.items():
        if theirs[fact] != value:
            yield f"{fact} is {value} and {theirs[fact]}"


def _blocks(pools: dict[str, PoolSettings], seen: Iterable[ReplicaSeen]) -> Iterator[DoctorFinding]:
    """What engines say of their blocks, against what the settings take them to be."""
    for one in seen:
        pool = pools.get(one.pool)
        said = None if one.load is None else one.load.block_tokens
        if pool is None or said is None:
            continue
        meant = kv_layout_facts(one.pool, pool)["block_tokens"]
        is_right = str(said) == meant
        yield DoctorFinding(
            topic=TOPIC,
            name=str(one.id),
            state=FindingState.GOOD if is_right else FindingState.WARNING,
            value=f"blocks of {said} tokens" if is_right else f"its blocks have {said} tokens, not {meant}",
            advice=None if is_right else f"set kv_block_tokens = {said} for the pool {one.pool}",
        )


def _slots(unsaved: Iterable[Replica]) -> Iterator[DoctorFinding]:
    for replica in unsaved:
        yield DoctorFinding(
            topic=TOPIC,
            name=str(replica.id),
            state=FindingState.WARNING,
            value="its slots cannot be saved",
            advice="start it with --slot-save-path and the path of its kv_store",
        )
