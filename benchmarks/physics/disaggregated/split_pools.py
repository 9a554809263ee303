"""A closed loop through a pool for prompts and a pool for answers: how full the second is, and both times."""

from msgspec import Struct

from benchmarks.physics.disaggregated.rows import SplitPoint
from heterodyne.physics.prices import Prices
from heterodyne.physics.profile import FirstToken
from heterodyne.physics.step_time import inter_token_s, prefill_s

HALVINGS = 40


class SplitTimes(Struct, frozen=True, kw_only=True):
    """What a load gets."""

    ttft_s: float
    tpot_s: float


def split_times(point: SplitPoint, prices: Prices, first: FirstToken) -> SplitTimes:
    """Times with nothing known but the setup.

    Answers flow as fast as the filled decode replicas give them and no faster than the prefill replicas admit; by
    Little's law whoever is not inside a decode replica waits for its first token.
    """
    load, replicas = point.load, point.decode_replicas
    prompt_s = prefill_s(point.prefill, prices, tokens=load.prompt_tokens)
    admitted_per_s = point.prefill_replicas / prompt_s
    in_front = max(load.concurrency / point.prefill_replicas - 1.0, 0.0)
    own_s = first.fixed_s + prompt_s * (first.prompt + first.queue * in_front)

    def rate(running: float) -> float:
        return replicas * running / (load.output_tokens * _itl_s(point, prices, running))

    def is_open(running: float) -> bool:
        flow = rate(running)
        return flow <= admitted_per_s and replicas * running + flow * own_s <= load.concurrency

    low, high = 0.0, load.concurrency / replicas
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_open(middle) else (low, middle)
    tpot_s = _itl_s(point, prices, high)
    return SplitTimes(ttft_s=load.concurrency / rate(high) - load.output_tokens * tpot_s, tpot_s=tpot_s)


def _itl_s(point: SplitPoint, prices: Prices, running: float) -> float:
    return inter_token_s(point.decode, prices, batch=running, context=point.load.context)
