"""Refuses questions that make no sense, naming the field, and buckets that no kind can serve."""

from collections.abc import Iterable
from math import isfinite

from heterodyne.domain.errors import PlanImpossible
from heterodyne.domain.nearest import unknown_name
from heterodyne.planning.mix.assignment import is_served
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind, Stock, TrafficBucket
from heterodyne.planning.mix.single_kind import can_serve


def check(problem: MixProblem) -> None:
    """Raise on the first thing wrong."""
    if not problem.buckets or not problem.kinds:
        raise PlanImpossible("A mix needs at least one bucket of traffic and one kind of replica.")
    if not 0 <= problem.headroom < 1:
        raise PlanImpossible(f"headroom: {problem.headroom:g} is not a share from 0 to below 1.")
    if not 0 <= problem.spot_share_max <= 1:
        raise PlanImpossible(f"spot_share_max: {problem.spot_share_max:g} is not a share from 0 to 1.")
    _check_names("buckets", [bucket.name for bucket in problem.buckets])
    _check_names("kinds", [kind.name for kind in problem.kinds])
    _check_names("stocks", [stock.name for stock in problem.stocks])
    for stock in problem.stocks:
        _check_numbers(f"stocks.{stock.name}", stock, "chips")
    for kind in problem.kinds:
        _check_kind(kind, problem)
    for bucket in problem.buckets:
        _check_bucket(bucket, problem.kinds)


def _check_names(path: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise PlanImpossible(f'{path}: two are named "{name}"; give each its own name.')
        seen.add(name)


def _check_numbers(path: str, limited: Stock | ReplicaKind, what: str) -> None:
    if limited.minimum < 0:
        raise PlanImpossible(f"{path}.minimum: {limited.minimum} is no number of {what}.")
    if limited.available is not None and limited.minimum > limited.available:
        raise PlanImpossible(f"{path}: {limited.minimum} are wanted at least, {limited.available} are available.")


def _check_kind(kind: ReplicaKind, problem: MixProblem) -> None:
    path = f"kinds.{kind.name}"
    if not 0 <= kind.missing_share < 1:
        raise PlanImpossible(f"{path}.missing_share: {kind.missing_share:g} is not a share from 0 to below 1.")
    if not isfinite(kind.usd_per_hour) or kind.usd_per_hour < 0:
        raise PlanImpossible(f"{path}.usd_per_hour: {kind.usd_per_hour:g} is no price.")
    if kind.chips < 1:
        raise PlanImpossible(f"{path}.chips: {kind.chips} is no number of chips.")
    _check_numbers(path, kind, "replicas")
    stocks = [stock.name for stock in problem.stocks]
    if kind.stock is not None and kind.stock not in stocks:
        raise unknown_name("stock", kind.stock, stocks)
    for bucket, rate in kind.requests_per_s.items():
        if not isfinite(rate) or rate < 0:
            raise PlanImpossible(f"{path}.requests_per_s.{bucket}: {rate:g} is no rate.")


def _check_bucket(bucket: TrafficBucket, kinds: tuple[ReplicaKind, ...]) -> None:
    if not isfinite(bucket.requests_per_s) or bucket.requests_per_s < 0:
        raise PlanImpossible(f"buckets.{bucket.name}.requests_per_s: {bucket.requests_per_s:g} is no rate.")
    if not is_served(kind for kind in kinds if can_serve(kind, bucket)):
        where = " on capacity that is not spot" if bucket.is_critical else ""
        raise PlanImpossible(
            f"buckets.{bucket.name}: no kind keeps its service level{where}; relax the level or offer a faster kind."
        )
