"""Requests per second that one replica serves within a latency budget, in each role it may have."""

from math import exp, inf, sqrt
from statistics import NormalDist

from msgspec import structs

from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.physics.hardware import Link
from heterodyne.physics.kv import transfer_s
from heterodyne.physics.memory import kv_sequence_share_bytes
from heterodyne.physics.serving import ReplicaSpec, Slo, goodput
from heterodyne.physics.step_time import prefill_s
from heterodyne.planning.hardware.candidate import HardwareCandidate, load_of, try_replica
from heterodyne.planning.hardware.sustained import SHARE, Shortfall
from heterodyne.planning.traffic.request_shape import RequestShape

HALVINGS = 24
# What the transfer engine of Mooncake moves over each of four 200 Gb/s adapters: 87 GB/s in all (FAST'25).
KV_LINK = Link(name="200 Gb/s", bytes_per_s=21.75e9, pair_bytes_per_s=21.75e9)


def requests_per_s(
    candidate: HardwareCandidate,
    shape: RequestShape,
    slo: Slo,
    *,
    role: ReplicaRole,
    share: float = SHARE,
    kv_link: Link = KV_LINK,
) -> float:
    """0 when it does not fit or cannot keep the promise. `kv_link` joins replicas of different roles."""
    if role is ReplicaRole.BOTH:
        load = load_of(candidate, shape, slo, share=share)
        return 0.0 if isinstance(load, Shortfall) else load.requests_per_s
    replica = try_replica(candidate, shape)
    if replica is None:
        return 0.0
    # A slower replica under a promise is a usual one under a shorter promise, and all of it takes so much longer.
    slower = candidate.slowdown
    slo = structs.replace(slo, ttft_s=slo.ttft_s / slower, itl_s=slo.itl_s / slower)
    move_s = _move_s(candidate, shape, kv_link) / slower
    if role is ReplicaRole.PREFILL:
        return _prefill(replica, shape, slo, share, move_s) / slower
    return _decode(replica, shape, slo, share, move_s) / slower


def _prefill(replica: ReplicaSpec, shape: RequestShape, slo: Slo, share: float, move_s: float) -> float:
    """Prompts come by chance and one is computed at a time: an M/D/1 queue whose wait ends as an exponential does."""
    prompt_s = prefill_s(
        replica.placement, replica.profile.prices, tokens=shape.prompt_tokens, chunk_tokens=replica.chunk_tokens
    )
    first = replica.profile.first_token
    wait_s = slo.ttft_s - first.fixed_s - first.prompt * prompt_s - move_s
    if wait_s <= 0:
        return 0.0
    # One prompt is computed while the keys and values of another are under way; the slower of the two sets the pace.
    turn_s = max(prompt_s, move_s)
    low, high = 0.0, 1.0  # of the time it is busy
    for _ in range(HALVINGS):
        busy = (low + high) / 2
        if busy * exp(-2 * (1 - busy) * wait_s / turn_s) <= 1 - share:
            low = busy
        else:
            high = busy
    return low / turn_s


def _decode(replica: ReplicaSpec, shape: RequestShape, slo: Slo, share: float, move_s: float) -> float:
    """As many answers at once as the token time and the memory allow; a place is taken while its KV arrives."""
    apart = structs.replace(replica, is_prefill_apart=True)
    budget = structs.replace(slo, ttft_s=inf)
    most = goodput(apart, budget, prompt_tokens=shape.prompt_tokens, output_tokens=shape.output_tokens)
    if most.served is None:
        return 0.0
    # So many may be inside at the worst: by chance there are more than the mean by some of its square root.
    some = NormalDist().inv_cdf(share)
    inside = (sqrt(some * some / 4 + most.served.running) - some / 2) ** 2
    return inside / (move_s + most.served.itl_s * shape.output_tokens)


def _move_s(candidate: HardwareCandidate, shape: RequestShape, kv_link: Link) -> float:
    """Every chip sends its part at once, over the slower of its own link and the one between replicas."""
    link = min(candidate.accelerator.link, kv_link, key=lambda one: one.pair_bytes_per_s)
    return transfer_s(kv_sequence_share_bytes(candidate.layout, round(shape.prompt_tokens)), link)
