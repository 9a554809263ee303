"""A replica under a steady number of requests: first-token time, token time, throughput, and goodput under an SLO."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.physics.placement import Placement
from heterodyne.physics.profile import Profile
from heterodyne.physics.step_time import Speculation, decode_step_s, inter_token_s, prefill_s
from heterodyne.physics.terms import Terms, decode_terms, prefill_terms

CONCURRENCY_MAX = 8192


class Load(Struct, frozen=True, kw_only=True):
    """Requests of one shape; as one finishes the next begins, so `concurrency` of them are always inside."""

    concurrency: float
    prompt_tokens: float
    output_tokens: float
    cached_tokens: float = 0.0
    is_burst: bool = (
        False  # all began at the same moment, as in most published runs, and their prompts are in each other's way
    )

    @property
    def context(self) -> float:
        """Tokens a sequence holds in the middle of its answer."""
        return self.prompt_tokens + self.output_tokens / 2


class ReplicaSpec(Struct, frozen=True, kw_only=True):
    """A placement with its prices and limits."""

    placement: Placement
    profile: Profile
    kv_capacity_tokens: float | None = None  # None: memory never binds
    chunk_tokens: int = 8192
    is_prefill_apart: bool = False  # prompts are computed on other replicas
    speculation: Speculation | None = None


class ServingEstimate(Struct, frozen=True, kw_only=True):
    """What a load gets."""

    running: float  # sequences in the batch; the rest wait for memory
    ttft_s: float
    itl_s: float
    requests_per_s: float
    output_tokens_per_s: float


class Slo(Struct, frozen=True, kw_only=True):
    """Mean times to stay within."""

    ttft_s: float
    itl_s: float


class Binding(StrEnum):
    """Which limit stops goodput from growing."""

    TTFT = "ttft"
    ITL = "itl"
    CONCURRENCY = "concurrency"  # neither, up to the most we ask


class Goodput(Struct, frozen=True, kw_only=True):
    """The most a replica serves within an SLO; `served` is None when even one request misses it."""

    concurrency: int
    served: ServingEstimate | None
    binding: Binding


def serve(replica: ReplicaSpec, load: Load) -> ServingEstimate:
    """Times and throughput at a steady concurrency."""
    placement, prices = replica.placement, replica.profile.prices
    running = running_sequences(load, replica.kv_capacity_tokens)
    prompt_s = prefill_s(
        placement,
        prices,
        tokens=load.prompt_tokens,
        cached=load.cached_tokens,
        chunk_tokens=replica.chunk_tokens,
    )
    itl_s = inter_token_s(placement, prices, batch=running, context=load.context, speculation=replica.speculation)
    first = replica.profile.first_token
    step_s = itl_s
    ttft_s = first.fixed_s + prompt_s * first.prompt
    if not replica.is_prefill_apart:
        itl_s += prompts_per_token(load, running) * prompt_s
    answer_s = itl_s * load.output_tokens
    if load.is_burst:
        ttft_s += prompt_s * first.queue * (running - 1)
        if not replica.is_prefill_apart:
            ttft_s += itl_s * first.steps
    elif not replica.is_prefill_apart:
        # Steps that the engine takes to see it, half of the one that runs when the request comes, and the one that
        # others inside share with its prompt; other prompts are waited for as at any counter.
        ttft_s += first.steps_ahead * decode_step_s(placement, prices, batch=1.0, context=0.0)
        ttft_s += (itl_s / 2 + step_s) * (running - 1) / running
        busy = running * prompt_s / (ttft_s + answer_s)
        ttft_s += prompt_s * busy / (1.0 - busy) * (running - 1) / running
    # A request that finds no memory waits until others leave.
    waiting_s = (load.concurrency / running - 1) * (ttft_s + answer_s)
    requests_per_s = running / (ttft_s + answer_s)
    return ServingEstimate(
        running=running,
        ttft_s=ttft_s + waiting_s,
        itl_s=itl_s,
        requests_per_s=requests_per_s,
        output_tokens_per_s=requests_per_s * load.output_tokens,
    )


def running_sequences(load: Load, kv_capacity_tokens: float | None) -> float:
    """How many of the load's sequences the KV memory holds at once; one always runs."""
    if kv_capacity_tokens is None:
        return load.concurrency
    return min(load.concurrency, max(1.0, kv_capacity_tokens / load.context))


def prompts_per_token(load: Load, running: float) -> float:
    """Other sequences' prompts that come between two tokens of one: each answer beside it brings one prompt."""
    return max(running - 1.0, 0.0) / max(load.output_tokens - 1.0, 1.0)


def serving_terms(placement: Placement, load: Load, *, running: float, chunk_tokens: int = 8192) -> Terms:
    """The terms of one inter-token time with prompts mixed in, for fitting prices to measured serving."""
    step = decode_terms(placement, running, load.context)
    prompt = prefill_terms(placement, load.prompt_tokens, cached=load.cached_tokens, chunk_tokens=chunk_tokens)
    share = prompts_per_token(load, running)
    return Terms(*(here + share * there for here, there in zip(step, prompt, strict=True)))


def goodput(replica: ReplicaSpec, slo: Slo, *, prompt_tokens: float, output_tokens: float) -> Goodput:
    """The largest concurrency within the SLO; both times only grow with it, so halving the range finds it."""

    def served(concurrency: int) -> ServingEstimate:
        return serve(replica, Load(concurrency=concurrency, prompt_tokens=prompt_tokens, output_tokens=output_tokens))

    low, high = 0, CONCURRENCY_MAX
    while low < high:
        middle = (low + high + 1) // 2
        if _broken(served(middle), slo) is None:
            low = middle
        else:
            high = middle - 1
    beyond = None if low == CONCURRENCY_MAX else _broken(served(low + 1), slo)
    return Goodput(concurrency=low, served=served(low) if low else None, binding=beyond or Binding.CONCURRENCY)


def _broken(served: ServingEstimate, slo: Slo) -> Binding | None:
    if served.itl_s > slo.itl_s:
        return Binding.ITL
    return Binding.TTFT if served.ttft_s > slo.ttft_s else None
