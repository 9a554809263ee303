"""Refuses questions that make no sense, naming the field, and buckets that nobody can serve."""

from math import isfinite

from heterodyne.domain.errors import PlanImpossible
from heterodyne.planning.mix_problem import MixProblem, ReplicaKind, TrafficBucket
from heterodyne.planning.single_kind import can_serve


def check(problem: MixProblem) -> None:
    """Raise on the first thing wrong."""
    if not problem.buckets or not problem.kinds:
        raise PlanImpossible("A mix needs at least one bucket of traffic and one kind of replica.")
    if not 0 <= problem.headroom < 1:
        raise PlanImpossible(f"headroom: {problem.headroom:g} is not a share from 0 to below 1.")
    if not 0 <= problem.spot_share_max <= 1:
        raise PlanImpossible(f"spot_share_max: {problem.spot_share_max:g} is not a share from 0 to 1.")
    for kind in problem.kinds:
        _check_kind(kind)
    for bucket in problem.buckets:
        _check_bucket(bucket, problem.kinds)


def _check_kind(kind: ReplicaKind) -> None:
    if not isfinite(kind.usd_per_hour) or kind.usd_per_hour < 0:
        raise PlanImpossible(f"kinds.{kind.name}.usd_per_hour: {kind.usd_per_hour:g} is no price.")
    if kind.minimum < 0:
        raise PlanImpossible(f"kinds.{kind.name}.minimum: {kind.minimum} is no number of replicas.")
    if kind.available is not None and kind.minimum > kind.available:
        raise PlanImpossible(f"kinds.{kind.name}: {kind.minimum} are wanted at least, {kind.available} are available.")
    for bucket, rate in kind.requests_per_s.items():
        if not isfinite(rate) or rate < 0:
            raise PlanImpossible(f"kinds.{kind.name}.requests_per_s.{bucket}: {rate:g} is no rate.")


def _check_bucket(bucket: TrafficBucket, kinds: tuple[ReplicaKind, ...]) -> None:
    if not isfinite(bucket.requests_per_s) or bucket.requests_per_s < 0:
        raise PlanImpossible(f"buckets.{bucket.name}.requests_per_s: {bucket.requests_per_s:g} is no rate.")
    if not any(can_serve(kind, bucket) for kind in kinds):
        where = " on capacity that is not spot" if bucket.is_critical else ""
        raise PlanImpossible(
            f"buckets.{bucket.name}: no kind keeps its service level{where}; relax the level or offer a faster kind."
        )
