"""Asks for a mix from a model, a histogram of its traffic and the catalogue: rates come from the performance model."""

from msgspec import Struct, structs

from heterodyne.domain.errors import InvalidSpec, PlanImpossible
from heterodyne.physics.hardware import Accelerator, Link
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import Profile
from heterodyne.physics.serving import Slo
from heterodyne.planning.candidate import Candidate, candidates, check_shape
from heterodyne.planning.hardware_choice import lowest_price
from heterodyne.planning.histogram import Cell
from heterodyne.planning.mix_assignment import is_served
from heterodyne.planning.mix_problem import MixProblem, ReplicaKind, Role, Stock, TrafficBucket
from heterodyne.planning.nearest_miss import nearest_miss
from heterodyne.planning.role_rate import KV_LINK, requests_per_s
from heterodyne.planning.workload_class import check_budget


class MixWish(Struct, frozen=True, kw_only=True):
    """What is to be served, how well, and on what."""

    model: ModelSpec
    precision: Precision
    kv_precision: Precision = Precision.BF16
    cells: tuple[Cell, ...]
    requests_per_s: float
    slo: Slo
    accelerators: tuple[Accelerator, ...]
    stocks: tuple[Stock, ...] = ()  # named as the accelerators they hold
    headroom: float = 0.1
    spot_share_max: float = 0.0
    survives_one_loss: bool = False
    critical_share: float = 0.0  # of every bucket's traffic
    has_roles: bool = False  # prompts and answers may go to different replicas
    kv_link: Link = KV_LINK  # between those, for each chip
    measured: tuple[Profile, ...] = ()  # the operator's own


def mix_problem(wish: MixWish) -> MixProblem:
    """The question in numbers; `PlanImpossible` when a cell is beyond every accelerator, with the nearest miss."""
    _check(wish)
    laid_out = [one for one in _laid_out(wish) if _prices(one)]
    if not laid_out:
        names = ", ".join(chip.name for chip in wish.accelerators)
        raise PlanImpossible(f"None of the accelerators has both an engine and a price: {names}. Name others.")
    roles = list(Role) if wish.has_roles else [Role.BOTH]
    kinds = [kind for candidate in laid_out for role in roles for kind in _kinds(wish, candidate, role)]
    for cell in wish.cells:
        if not is_served(kind for kind in kinds if cell.name in kind.requests_per_s):
            raise PlanImpossible(nearest_miss(laid_out, cell, wish.slo))
    return MixProblem(
        buckets=tuple(bucket for cell in wish.cells for bucket in _buckets(wish, cell)),
        kinds=tuple(_with_critical(wish, kind) for kind in kinds),
        stocks=wish.stocks,
        headroom=wish.headroom,
        spot_share_max=wish.spot_share_max,
        survives_one_loss=wish.survives_one_loss,
    )


def _check(wish: MixWish) -> None:
    check_budget(wish.slo)
    for cell in wish.cells:
        check_shape(cell.shape, wish.model)
    if not wish.requests_per_s > 0:
        raise InvalidSpec(f"rate: {wish.requests_per_s:g} is no rate; give more than 0.")
    if not 0 <= wish.critical_share <= 1:
        raise InvalidSpec(f"critical_share: {wish.critical_share:g} is not a share from 0 to 1.")
    if not wish.kv_link.pair_bytes_per_s > 0:
        raise InvalidSpec(f"kv_link: {wish.kv_link.pair_bytes_per_s:g} is no speed; give more than 0.")


def _laid_out(wish: MixWish) -> list[Candidate]:
    every = candidates(
        wish.model,
        wish.accelerators,
        precision=wish.precision,
        kv_precision=wish.kv_precision,
        measured=wish.measured,
    )
    return [one for one in every if isinstance(one, Candidate)]


def _prices(candidate: Candidate) -> dict[bool, float]:
    """Dollars per hour of one replica, by whether it is spot."""
    found = {is_spot: lowest_price(candidate.accelerator, is_spot=is_spot) for is_spot in (False, True)}
    return {is_spot: price.usd_per_hour * candidate.tp for is_spot, price in found.items() if price is not None}


def _kinds(wish: MixWish, candidate: Candidate, role: Role) -> list[ReplicaKind]:
    """On demand and spot; none when it can do nothing within the budget."""
    rates = {
        cell.name: requests_per_s(candidate, cell.shape, wish.slo, role=role, kv_link=wish.kv_link)
        for cell in wish.cells
    }
    able = {name: rate for name, rate in rates.items() if rate > 0}
    chip = candidate.accelerator.name
    words = "" if role is Role.BOTH else f" {role}"
    return [
        ReplicaKind(
            name=f"{chip} x{candidate.tp}{words}{' spot' if is_spot else ''}",
            usd_per_hour=usd_per_hour,
            requests_per_s=able,
            is_spot=is_spot,
            role=role,
            handoff="" if role is Role.BOTH else candidate.accelerator.vendor,
            stock=chip if any(stock.name == chip for stock in wish.stocks) else None,
            chips=candidate.tp,
            rests_on=candidate.found.basis,
        )
        for is_spot, usd_per_hour in _prices(candidate).items()
        if able and not (is_spot and (wish.spot_share_max == 0 or wish.critical_share == 1))
    ]


def _buckets(wish: MixWish, cell: Cell) -> list[TrafficBucket]:
    """A cell's usual and its critical requests."""
    rate = wish.requests_per_s * cell.share
    usual = TrafficBucket(name=cell.name, requests_per_s=rate * (1 - wish.critical_share))
    critical = TrafficBucket(
        name=_critical_name(cell.name), requests_per_s=rate * wish.critical_share, is_critical=True
    )
    return [bucket for bucket in (usual, critical) if bucket.requests_per_s]


def _with_critical(wish: MixWish, kind: ReplicaKind) -> ReplicaKind:
    """Critical requests are as long as the others, so they go at the same rate."""
    rates: dict[str, float] = {}
    for name, rate in kind.requests_per_s.items():
        if wish.critical_share < 1:
            rates[name] = rate
        if wish.critical_share > 0:
            rates[_critical_name(name)] = rate
    return structs.replace(kind, requests_per_s=rates)


def _critical_name(name: str) -> str:
    return f"{name} critical"
