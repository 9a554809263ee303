"""Who is compared: ours with and without the slow loop, five rules of others, and a schedule that knows what comes."""

from collections.abc import Callable, Sequence

from benchmarks.scaling.fleet import COLD_START_S, MAXIMUM, POOL, SHARE, concurrency, curve, pool
from benchmarks.scaling.loads import Load
from heterodyne.domain.fleet import PoolName
from heterodyne.planning.scaling.limits import PoolLimits, ScalingRules
from heterodyne.planning.scaling.peers.apa import Apa
from heterodyne.planning.scaling.peers.hpa import Hpa
from heterodyne.planning.scaling.peers.kpa import Kpa
from heterodyne.planning.scaling.peers.llm_d_saturation import LlmDSaturation
from heterodyne.planning.scaling.peers.queue_depth import QueueDepth
from heterodyne.planning.scaling.peers.resize import PeerBounds
from heterodyne.planning.scaling.state import ScalingState
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.growing_fleet import Scaler
from heterodyne.simulator.own_scaler import OwnScaler

OURS, REACTIVE = "Heterodyne", "Heterodyne, no forecast"
CLAIRVOYANT, HINDSIGHT = "clairvoyant", "no foresight"
RESERVE = "no foresight, 99 %"  # without foresight, with the least reserve that keeps the promise
TOLD_BEST = "Heterodyne, cold starts known"  # what is told knows how they are spread, and not the draw
HEADROOMS = {f"Heterodyne, headroom {share:.0%}": share for share in (0.1, 0.25)}
INTERVAL_S = 60.0
AHEAD = 1.35  # cold starts before it is needed


def peers(load: Load) -> dict[str, Callable[[], Scaler]]:
    """Each with the settings that its documentation recommends, or begins with."""
    bounds = PeerBounds(pool=PoolName(POOL), minimum=load.minimum, maximum=MAXIMUM)
    return {
        "HPA, GPU use 80 %": lambda: Hpa(bounds),
        "HPA, cache use 50 %": lambda: Hpa(bounds, metric="kv_share", target=0.5),
        "KPA": lambda: Kpa(bounds, concurrency=concurrency()),
        "APA": lambda: Apa(bounds, concurrency=concurrency()),
        "queue depth": lambda: QueueDepth(bounds),
        "llm-d saturation": lambda: LlmDSaturation(bounds),
    }


def ours(load: Load, *, forecasts: bool = True, headroom: float = 0.0) -> OwnScaler:
    """With the history that the load brings along."""
    limits = PoolLimits(
        pool=PoolName(POOL),
        capacity=curve(),
        minimum=load.minimum,
        maximum=MAXIMUM,
        usd_per_hour=pool(1).replicas[0].price.usd_per_hour or 0.0,
        cold_start_s=COLD_START_S,
    )
    rules = ScalingRules(pools=(limits,), share=SHARE, forecasts=forecasts, headroom=headroom)
    return OwnScaler(rules, ScalingState(past=load.past))


def schedule(
    load: Load, log: Sequence[TraceRequest], factor: float, *, has_foresight: bool = True
) -> list[tuple[float, int]]:
    """For every interval the fewest replicas that carry `factor` times what comes in it and beside it, asked for a cold
    start ahead and kept while another start would take longer than the lull.

    Without foresight they are asked for in the very interval that needs them, and kept as long: nobody who does not
    know what comes can be sooner.
    """
    known = curve()
    last = int(log[-1].at_s // INTERVAL_S) + 1
    work = [0.0] * (last + 2)
    for one in log:
        work[int(one.at_s // INTERVAL_S)] += (
            one.prompt_tokens * known.prompt_token + one.output_tokens * known.output_token
        )
    needed = []
    for place in range(last + 1):
        beside = work[max(0, place - 1) : place + 2]
        mean = 0.5 * (work[place] + sum(beside) / len(beside)) / INTERVAL_S
        needed.append(max(load.minimum, min(MAXIMUM, known.replicas_for(factor * mean))))
    ahead = int(COLD_START_S * AHEAD / INTERVAL_S) + 1
    if not has_foresight:
        return [(place * INTERVAL_S, max(needed[max(0, place - ahead) : place + 1])) for place in range(last + 1)]
    return [(place * INTERVAL_S, max(needed[place : place + ahead + 1])) for place in range(last + 1)]
