"""What a run says about a fleet and a policy. Two runs of one seed give the same report, byte for byte."""

from collections.abc import Sequence

from msgspec import Struct

from heterodyne.simulator.replica import SimulatedReplica
from heterodyne.simulator.tally import SimulationTally
from heterodyne.simulator.trial import Trial


class LatencyQuantiles(Struct, frozen=True, kw_only=True):
    """A time over all requests that were answered."""

    mean_s: float
    p50_s: float
    p90_s: float
    p99_s: float
    max_s: float


class PoolShare(Struct, frozen=True, kw_only=True):
    """What one pool did."""

    pool: str
    replicas: int
    requests: int
    output_tokens: int
    prefix_hit_share: float
    busy_share: float  # of the time of all its replicas
    usd: float | None  # None: it has no price


class SimulationReport(Struct, frozen=True, kw_only=True):
    """One policy on one fleet under one trace."""

    policy: str
    seed: int
    replicas: int
    requests: int  # that came
    refused: int  # of those, too long for every replica
    arrivals_s: float  # from the first arrival to the last
    simulated_s: float  # from the first arrival to the last answer
    requests_per_s: float
    slo_ttft_s: float
    slo_itl_s: float
    attainment: float  # share of requests within both limits, the mean time between tokens of each counting as its ITL
    attainment_ttft: float
    attainment_itl: float
    ttft: LatencyQuantiles
    itl: LatencyQuantiles  # of the requests' means
    total: LatencyQuantiles
    output_tokens: int
    output_tokens_within_slo: int
    usd: float | None  # the whole fleet for the whole time, and hosted tokens; None: a pool has no price
    usd_busy: float | None  # only while a replica computes
    usd_per_million_output_tokens_within_slo: float | None  # by the whole fleet; None: no price, or none within
    prefix_hit_share: float  # of prompt tokens, found in memory
    inside_mean: float  # requests in a replica at once, over time
    inside_hottest: float  # the same of the replica that had most
    preemptions: int
    pools: tuple[PoolShare, ...]


def report(tally: SimulationTally, trial: Trial) -> SimulationReport:
    """The figures of a finished run."""
    slo, answered = trial.slo, len(tally.ttft_s)
    came = answered + tally.refused
    span_s = tally.ended_at_s
    within = [
        ttft_s <= slo.ttft_s and itl_s <= slo.itl_s for ttft_s, itl_s in zip(tally.ttft_s, tally.itl_s, strict=True)
    ]
    good_tokens = sum(tokens for tokens, is_good in zip(tally.output_tokens, within, strict=True) if is_good)
    usd = _sum([_usd(replica, span_s) for replica in tally.replicas])
    inside = [replica.inside_s / span_s if span_s else 0.0 for replica in tally.replicas]
    return SimulationReport(
        policy=trial.policy,
        seed=trial.seed,
        replicas=len(tally.replicas),
        requests=came,
        refused=tally.refused,
        arrivals_s=tally.last_came_at_s,
        simulated_s=span_s,
        requests_per_s=came / span_s if span_s else 0.0,
        slo_ttft_s=slo.ttft_s,
        slo_itl_s=slo.itl_s,
        attainment=sum(within) / came,
        attainment_ttft=_share(tally.ttft_s, slo.ttft_s, came),
        attainment_itl=_share(tally.itl_s, slo.itl_s, came),
        ttft=_spread(tally.ttft_s),
        itl=_spread(tally.itl_s),
        total=_spread(tally.total_s),
        output_tokens=sum(tally.output_tokens),
        output_tokens_within_slo=good_tokens,
        usd=usd,
        usd_busy=_sum([_usd(replica, replica.busy_s) for replica in tally.replicas]),
        usd_per_million_output_tokens_within_slo=usd / good_tokens * 1e6 if usd is not None and good_tokens else None,
        prefix_hit_share=tally.cached_tokens / tally.prompt_tokens if tally.prompt_tokens else 0.0,
        inside_mean=sum(inside) / len(inside),
        inside_hottest=max(inside),
        preemptions=sum(replica.machine.counters.preemptions for replica in tally.replicas),
        pools=_pools(tally.replicas, span_s),
    )


def _share(times_s: Sequence[float], limit_s: float, came: int) -> float:
    return sum(one <= limit_s for one in times_s) / came


def _spread(times_s: Sequence[float]) -> LatencyQuantiles:
    if not times_s:
        return LatencyQuantiles(mean_s=0.0, p50_s=0.0, p90_s=0.0, p99_s=0.0, max_s=0.0)
    ordered = sorted(times_s)
    p50, p90, p99 = (ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.9, 0.99))
    return LatencyQuantiles(mean_s=sum(ordered) / len(ordered), p50_s=p50, p90_s=p90, p99_s=p99, max_s=ordered[-1])


def _usd(replica: SimulatedReplica, seconds: float) -> float | None:
    """Own capacity is paid by the hour, hosted by the token."""
    price = replica.listed.price
    if price.is_by_token:
        return replica.token_usd
    return None if price.usd_per_hour is None else price.usd_per_hour * seconds / 3600


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _pools(replicas: Sequence[SimulatedReplica], span_s: float) -> tuple[PoolShare, ...]:
    pools: dict[str, list[SimulatedReplica]] = {}
    for replica in replicas:
        pools.setdefault(replica.listed.pool, []).append(replica)
    return tuple(_pool(name, those, span_s) for name, those in pools.items())


def _pool(name: str, replicas: Sequence[SimulatedReplica], span_s: float) -> PoolShare:
    counters = [replica.machine.counters for replica in replicas]
    prompts = sum(one.prompt_tokens for one in counters)
    time_s = span_s * len(replicas)
    return PoolShare(
        pool=name,
        replicas=len(replicas),
        requests=sum(replica.requests for replica in replicas),
        output_tokens=sum(replica.output_tokens for replica in replicas),
        prefix_hit_share=sum(one.cached_tokens for one in counters) / prompts if prompts else 0.0,
        busy_share=sum(replica.busy_s for replica in replicas) / time_s if time_s else 0.0,
        usd=_sum([_usd(replica, span_s) for replica in replicas]),
    )
