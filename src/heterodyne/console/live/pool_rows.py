"""Pure: pools and replicas as the console shows them, from the fleet's page and the sums of what has just happened."""

from collections.abc import Iterable, Sequence

from heterodyne.console.fleet.pages import FleetPage, ReplicaCondition, ReplicaRow
from heterodyne.console.history.figures import figures_of
from heterodyne.console.live.pages import PoolRow, ReplicaLine
from heterodyne.console.live.recent_activity import SPARK_MINUTES, WINDOW_S, RecentWindow, Spark, Sparks
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.history import MINUTE_S, Sums

IDLE = Spark(ttft_p50_ms=(None,) * SPARK_MINUTES, tokens_per_s=(0.0,) * SPARK_MINUTES)
NOTHING = Sums()
OUT = (ReplicaCondition.DRAINING, ReplicaCondition.DRAINED)
GAUGE_AGE_MAX_S = 15.0  # an older reading of an engine's gauges is out of date


def pool_rows(page: FleetPage, window: RecentWindow, sparks: Sparks, limit_unknown: int) -> tuple[PoolRow, ...]:
    """Every pool that has replicas; a worker that holds a replica to `limit_unknown` knows nothing of its limit."""
    by_pool: dict[str, list[ReplicaRow]] = {}
    for row in page.replicas:
        by_pool.setdefault(row.pool, []).append(row)
    return tuple(
        _pool_row(
            rows,
            window.by_pool.get(pool, NOTHING),
            sparks.by_pool.get(pool, IDLE),
            sparks.at,
            _in_flight_max(rows, limit_unknown),
        )
        for pool, rows in by_pool.items()
    )


def replica_lines(page: FleetPage) -> tuple[ReplicaLine, ...]:
    """One short line for every replica."""
    return tuple(map(_replica_line, page.replicas))


def usd_per_hour(rows: Iterable[ReplicaRow]) -> float | None:
    """Of all of them together; None: none is paid by the hour."""
    prices = [row.price.usd_per_hour for row in rows if row.price.usd_per_hour is not None]
    return sum(prices) if prices else None


def _pool_row(
    rows: Sequence[ReplicaRow], sums: Sums, spark: Spark, spark_at: int, in_flight_max: int | None
) -> PoolRow:
    first = rows[0]
    states = [row.state for row in rows]
    loads = [load for row in rows if (load := _load_now(row)) is not None]
    in_flight = sum(row.in_flight for row in rows)
    kv_share = _mean([load.kv_share for load in loads if load.kv_share is not None])
    return PoolRow(
        pool=first.pool,
        model=first.model,
        hardware=first.hardware,
        engine=first.engine,
        tp=first.tp,
        purpose=first.purpose,
        replicas=len(rows),
        local=sum(row.is_local for row in rows),
        ready=states.count(ReplicaCondition.READY),
        drained=sum(state in OUT for state in states),
        down=states.count(ReplicaCondition.DOWN),
        in_flight=in_flight,
        in_flight_max=in_flight_max,
        running=_total([load.running for load in loads]),
        waiting=_total([load.waiting for load in loads]),
        load=in_flight / in_flight_max if in_flight_max else kv_share,
        kv_share=kv_share,
        prefix_hit_share=_prefix_hit_share(loads),
        usd_per_hour=usd_per_hour(rows),
        usd_per_million_prompt_tokens=first.price.usd_per_million_prompt_tokens,
        usd_per_million_completion_tokens=first.price.usd_per_million_completion_tokens,
        problems=tuple(dict.fromkeys(problem for row in rows for problem in row.problems)),
        last_minute=figures_of(sums, WINDOW_S),
        spark_at=spark_at,
        spark_step_s=MINUTE_S,
        spark_ttft_p50_ms=spark.ttft_p50_ms,
        spark_tokens_per_s=spark.tokens_per_s,
    )


def _in_flight_max(rows: Iterable[ReplicaRow], limit_unknown: int) -> int | None:
    """What all workers together allow on the replicas that take work; None: that of one is not known."""
    most = 0
    for row in rows:
        if row.state is not ReplicaCondition.READY:
            continue
        limits = [opinion.in_flight_limit for opinion in row.workers]
        if not limits or any(limit is None or limit >= limit_unknown for limit in limits):
            return None
        most += sum(limit for limit in limits if limit is not None)
    return most or None


def _replica_line(row: ReplicaRow) -> ReplicaLine:
    load = _load_now(row)
    return ReplicaLine(
        id=row.id,
        pool=row.pool,
        state=row.state,
        in_flight=row.in_flight,
        running=None if load is None else load.running,
        waiting=None if load is None else load.waiting,
        kv_share=None if load is None else load.kv_share,
        problems=row.problems,
        is_ejected=any(opinion.ejected_for_s is not None for opinion in row.workers),
        is_local=row.is_local,
    )


def _load_now(row: ReplicaRow) -> EngineLoad | None:
    """The latest gauges of its engine; None for one that is down, or whose gauges are old."""
    if row.state is ReplicaCondition.DOWN or (row.load_age_s is not None and row.load_age_s > GAUGE_AGE_MAX_S):
        return None
    return row.load


def _prefix_hit_share(loads: Iterable[EngineLoad]) -> float | None:
    asked = found = 0.0
    for load in loads:
        if load.prefix_query_tokens is not None and load.prefix_hit_tokens is not None:
            asked += load.prefix_query_tokens
            found += load.prefix_hit_tokens
    return found / asked if asked else None


def _total(amounts: Iterable[int | None]) -> int | None:
    known = [one for one in amounts if one is not None]
    return sum(known) if known else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
