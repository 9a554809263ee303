"""What the planner says of roles: how many replicas of each, and what they sustain together."""

from functools import lru_cache

from msgspec import Struct

from benchmarks.kv.fleets import EIGHT, KvNetwork, Shape, model_from
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.hardware import Link
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.candidate import HardwareCandidate, candidates
from heterodyne.planning.mix.role_rate import requests_per_s
from heterodyne.planning.traffic.request_shape import RequestShape

SHARE = 0.9  # of requests that keep the SLO, as the published comparisons count


class RoleAdvice(Struct, frozen=True, kw_only=True):
    """Of so many replicas."""

    prefilling: int  # of the best split
    split_requests_per_s: float  # 0: a split cannot keep the SLO
    mixed_requests_per_s: float


def advice(lengths: RequestShape, slo: Slo, network: KvNetwork, shape: Shape = EIGHT) -> RoleAdvice:
    """By the rates that `plan mix` counts with."""
    candidate = _candidate(shape.model, shape.chip, shape.tp, shape.precision)
    rates = rates_of(candidate, lengths, slo, network)
    replicas = shape.replicas
    best = max(range(1, replicas), key=lambda count: _together(rates, prefilling=count, answering=replicas - count))
    return RoleAdvice(
        prefilling=best,
        split_requests_per_s=_together(rates, prefilling=best, answering=replicas - best),
        mixed_requests_per_s=replicas * rates[ReplicaRole.BOTH],
    )


def rates_of(
    candidate: HardwareCandidate, lengths: RequestShape, slo: Slo, network: KvNetwork
) -> dict[ReplicaRole, float]:
    """Of one replica in each role; the network is that of a replica, whatever its width."""
    each = network.gb_per_s * 1e9 / candidate.tp
    link = Link(name=network.name, bytes_per_s=each, pair_bytes_per_s=each, latency_s=network.latency_ms / 1e3)
    return {role: requests_per_s(candidate, lengths, slo, role=role, share=SHARE, kv_link=link) for role in ReplicaRole}


def advised_prefilling(lengths: RequestShape, slo: Slo, network: KvNetwork) -> int:
    """Replicas that compute prompts only, in the best split; 0: none keeps the SLO."""
    found = advice(lengths, slo, network)
    return found.prefilling if found.split_requests_per_s > 0.0 else 0


def _together(rates: dict[ReplicaRole, float], *, prefilling: int, answering: int) -> float:
    return min(prefilling * rates[ReplicaRole.PREFILL], answering * rates[ReplicaRole.DECODE])


def _candidate(model: str, chip: str, tp: int, precision: Precision | None) -> HardwareCandidate:
    return next(one for one in at_widths(model, chip, precision) if one.tp == tp)


@lru_cache
def at_widths(model: str, chip: str, precision: Precision | None) -> tuple[HardwareCandidate, ...]:
    """The model on this chip at every width, from the narrowest on; where it does not fit its rates are 0."""
    spec = model_from(model)
    laid_out = candidates(
        spec,
        [accelerator(chip)],
        precision=precision or spec.checkpoint_precision,
        kv_precision=Precision.BF16,
    )
    return tuple(one for one in laid_out if isinstance(one, HardwareCandidate))
