"""The terms a step's time is made of, each in ideal seconds or a count; a profile gives each its price.

Time is linear in the prices, so the same numbers serve the prediction and the fit.
"""

from typing import NamedTuple

from heterodyne.physics.placement import Placement


class Terms(NamedTuple):
    """One number for each price of a `Profile`, in the same order."""

    weights: float
    experts: float
    kv: float
    compute: float
    expert_compute: float
    layers: float
    expert_layers: float
    hops: float
    reduce: float
    exchange: float
    sequences: float
    steps: float
    prompt_compute: float
    prompt_reduce: float
    prompt_layers: float


def decode_terms(placement: Placement, batch: float, context: float, *, tokens_per_sequence: float = 1.0) -> Terms:
    """One decode step of `batch` sequences with `context` tokens each, seen by one token through all stages."""
    work = placement.work
    parallelism = placement.parallelism
    # With stages in a row each works on its own share of the batch; less than one sequence leaves a bubble.
    running = batch / parallelism.pp if batch > parallelism.pp else min(batch, 1.0)
    tokens = running * tokens_per_sequence
    touched = work.touched_share(tokens)
    if placement.expert_imbalance:
        touched = placement.fullest_share(touched)
    return Terms(
        placement.dense_read_s,
        placement.expert_read_s * touched,
        running * work.kv_bytes(context) * placement.kv_s_per_byte,
        tokens * placement.token_flops_s,
        tokens * placement.expert_flops_s,
        work.launches,
        work.expert_launches,
        placement.hop_s + placement.stage_hop_s,
        tokens * (placement.reduce_s_per_token + placement.stage_s_per_token),
        tokens * placement.exchange_s_per_token,
        running,
        1.0,
        0.0,
        0.0,
        0.0,
    )


def prefill_terms(placement: Placement, tokens: float, *, cached: float = 0.0, chunk_tokens: int = 8192) -> Terms:
    """One prompt of which the first `cached` tokens are known already, in chunks that follow one another."""
    work = placement.work
    new = tokens - cached
    if new <= 0:
        return NOTHING
    stages = placement.parallelism.pp
    chunks = -(-new // chunk_tokens)
    last = min(new, chunk_tokens)
    # Chunks follow each other through the stages like parts on a belt: every stage works its share of each, and
    # the last chunk, the longest to attend, still passes the stages behind the first.
    passes = (chunks + stages - 1) / stages
    belt_tokens = (new + (stages - 1) * last) / stages
    attention_flops = work.attention_flops(tokens, cached)
    if stages > 1:
        attention_flops = (attention_flops + (stages - 1) * work.attention_flops(tokens, tokens - last)) / stages
    return NOTHING._replace(
        hops=passes * placement.hop_s + placement.stage_hop_s,
        exchange=belt_tokens * placement.exchange_s_per_token,
        expert_compute=belt_tokens * placement.expert_flops_s,
        prompt_compute=belt_tokens * placement.prompt_flops_s
        + attention_flops * placement.attention_s_per_flop
        + placement.head_flops_s,
        prompt_reduce=belt_tokens * placement.reduce_s_per_token + new * placement.stage_s_per_token,
        prompt_layers=passes * work.launches,
    )


NOTHING = Terms(*([0.0] * len(Terms._fields)))
