"""Asks for a mix from a model, a histogram of its traffic and the catalogue: rates come from the performance model."""

from collections.abc import Iterator, Mapping

from msgspec import Struct, structs

from heterodyne.domain.errors import InvalidSpec, PlanImpossible
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.physics.hardware import Accelerator, Link
from heterodyne.physics.memory import Demand, memory_budget
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import Profile
from heterodyne.physics.serving import Slo
from heterodyne.physics.step_time import Speculation
from heterodyne.planning.hardware.candidate import HardwareCandidate, candidates
from heterodyne.planning.hardware.caution import check_quantile
from heterodyne.planning.hardware.ranking import lowest_price
from heterodyne.planning.hardware.sustained import SHARE, check_share
from heterodyne.planning.launch.sizing import CONTEXT_TOKENS
from heterodyne.planning.mix.assignment import is_served
from heterodyne.planning.mix.interruptions import Interruptions
from heterodyne.planning.mix.nearest_miss import nearest_miss
from heterodyne.planning.mix.offers import Holding, Offer, offers
from heterodyne.planning.mix.problem import HEADROOM, MixProblem, ReplicaKind, Stock, TrafficBucket
from heterodyne.planning.mix.role_rate import KV_LINK, requests_per_s
from heterodyne.planning.traffic.histogram import Cell
from heterodyne.planning.traffic.request_shape import check_shape
from heterodyne.planning.workload_class import check_budget

LOST_PART = 0.5  # of the requests that may break the promise: those too long for every kind


class MixRequirements(Struct, frozen=True, kw_only=True):
    """What is to be served, how well, and on what."""

    model: ModelSpec
    precision: Precision
    kv_precision: Precision = Precision.BF16
    cells: tuple[Cell, ...]
    requests_per_s: float
    slo: Slo
    share: float = SHARE  # of requests that keep it
    accelerators: tuple[Accelerator, ...]
    stocks: tuple[Stock, ...] = ()  # named as the accelerators they hold
    holdings: tuple[Holding, ...] = ()  # chips that are there already
    interruptions: Mapping[str, Interruptions] = {}  # of spot capacity, by accelerator; none: it stays
    headroom: float = HEADROOM
    spot_share_max: float = 0.0
    survives_one_loss: bool = False
    critical_share: float = 0.0  # of every bucket's traffic
    has_roles: bool = False  # prompts and answers may go to different replicas
    kv_link: Link = KV_LINK  # between those, for each chip
    measured: tuple[Profile, ...] = ()  # the operator's own
    speculation: Speculation | None = None
    quantile: float | None = None  # of measured step times by predicted ones; None: as predicted


def mix_problem(requirements: MixRequirements) -> MixProblem:
    """The question in numbers; `PlanImpossible` when a cell is beyond every accelerator, with the nearest miss."""
    _check(requirements)
    laid_out = [one for one in _laid_out(requirements) if _offers(requirements, one)]
    if not laid_out:
        names = ", ".join(chip.name for chip in requirements.accelerators)
        raise PlanImpossible(f"None of the accelerators has both an engine and a price: {names}. Name others.")
    roles = list(ReplicaRole) if requirements.has_roles else [ReplicaRole.BOTH]
    kinds = [kind for candidate in laid_out for role in roles for kind in _kinds(requirements, candidate, role)]
    served = _served(requirements, kinds, laid_out)
    holdings = tuple(Stock(name=one.stock, available=one.chips) for one in requirements.holdings)
    return MixProblem(
        buckets=tuple(bucket for cell in served for bucket in _buckets(requirements, cell)),
        kinds=(*(_with_critical(requirements, kind) for kind in kinds), *_idle(requirements)),
        stocks=(*requirements.stocks, *holdings),
        headroom=requirements.headroom,
        spot_share_max=requirements.spot_share_max,
        survives_one_loss=requirements.survives_one_loss,
    )


def _served(
    requirements: MixRequirements, kinds: list[ReplicaKind], laid_out: list[HardwareCandidate]
) -> tuple[Cell, ...]:
    """Without the few that nobody can serve in time, where half of those that may miss the promise allow for them."""
    lost = [
        cell for cell in requirements.cells if not is_served(one for one in kinds if cell.name in one.requests_per_s)
    ]
    if sum(cell.share for cell in lost) > (1.0 - requirements.share) * LOST_PART:
        raise PlanImpossible(nearest_miss(laid_out, lost[0], requirements.slo, share=requirements.share))
    return tuple(cell for cell in requirements.cells if cell not in lost)


def _check(requirements: MixRequirements) -> None:
    check_budget(requirements.slo)
    check_share(requirements.share)
    check_quantile(requirements.quantile)
    for cell in requirements.cells:
        check_shape(cell.shape, requirements.model)
    if not requirements.requests_per_s > 0:
        raise InvalidSpec(f"rate: {requirements.requests_per_s:g} is no rate; give more than 0.")
    if not 0 <= requirements.critical_share <= 1:
        raise InvalidSpec(f"critical_share: {requirements.critical_share:g} is not a share from 0 to 1.")
    if not requirements.kv_link.pair_bytes_per_s > 0:
        raise InvalidSpec(f"kv_link: {requirements.kv_link.pair_bytes_per_s:g} is no speed; give more than 0.")


def _laid_out(requirements: MixRequirements) -> list[HardwareCandidate]:
    every = candidates(
        requirements.model,
        requirements.accelerators,
        precision=requirements.precision,
        kv_precision=requirements.kv_precision,
        measured=requirements.measured,
        speculation=requirements.speculation,
        quantile=requirements.quantile,
    )
    laid_out = [one for one in every if isinstance(one, HardwareCandidate)]
    return [one for one in laid_out if _holds_usual_sequence(one)] or laid_out


def _holds_usual_sequence(candidate: HardwareCandidate) -> bool:
    """What barely holds its weights might do for the shortest requests, and no engine is started like that."""
    context = min(CONTEXT_TOKENS, candidate.layout.model.context_tokens)
    return memory_budget(candidate.layout, Demand(context_tokens=context)).concurrency_max >= 1


def _offers(requirements: MixRequirements, candidate: HardwareCandidate) -> tuple[Offer, ...]:
    return tuple(offers(candidate.accelerator, requirements.holdings, requirements.interruptions))


def _kinds(requirements: MixRequirements, candidate: HardwareCandidate, role: ReplicaRole) -> list[ReplicaKind]:
    """One for every way to have its chips; none when it can do nothing within the promise."""
    slo, share, link = requirements.slo, requirements.share, requirements.kv_link
    rates = {
        cell.name: requests_per_s(candidate, cell.shape, slo, role=role, share=share, kv_link=link)
        for cell in requirements.cells
    }
    able = {name: rate for name, rate in rates.items() if rate > 0}
    chip = candidate.accelerator.name
    words = "" if role is ReplicaRole.BOTH else f" {role}"
    return [
        ReplicaKind(
            name=" ".join(filter(None, (f"{chip} x{candidate.tp}{words}", offer.word))),
            usd_per_hour=offer.usd_per_hour * candidate.tp,
            requests_per_s=able,
            is_spot=offer.is_spot,
            missing_share=offer.missing_share,
            seller=offer.seller,
            role=role,
            handoff="" if role is ReplicaRole.BOTH else candidate.accelerator.vendor,
            stock=offer.stock or _stock(requirements, chip),
            chips=candidate.tp,
            rests_on=candidate.found.basis,
            hardware=chip,
            engine=candidate.engine,
            slowdown=candidate.slowdown,
        )
        for offer in _offers(requirements, candidate)
        if able and not (offer.is_spot and (requirements.spot_share_max == 0 or requirements.critical_share == 1))
    ]


def _stock(requirements: MixRequirements, chip: str) -> str | None:
    return chip if any(stock.name == chip for stock in requirements.stocks) else None


def _idle(requirements: MixRequirements) -> Iterator[ReplicaKind]:
    """Chips that are wanted at least may stand idle: they cost, and make no plan impossible."""
    chips = {chip.name: chip for chip in requirements.accelerators}
    for stock in requirements.stocks:
        price = lowest_price(chips[stock.name]) if stock.minimum else None
        if price is not None:
            usd_per_hour = price.usd_per_hour
            yield ReplicaKind(name=f"{stock.name} idle", usd_per_hour=usd_per_hour, requests_per_s={}, stock=stock.name)


def _buckets(requirements: MixRequirements, cell: Cell) -> list[TrafficBucket]:
    """A cell's usual and its critical requests."""
    rate = requirements.requests_per_s * cell.share
    usual = TrafficBucket(name=cell.name, requests_per_s=rate * (1 - requirements.critical_share))
    critical = TrafficBucket(
        name=_critical_name(cell.name), requests_per_s=rate * requirements.critical_share, is_critical=True
    )
    return [bucket for bucket in (usual, critical) if bucket.requests_per_s]


def _with_critical(requirements: MixRequirements, kind: ReplicaKind) -> ReplicaKind:
    """Critical requests are as long as the others, so they go at the same rate."""
    rates: dict[str, float] = {}
    for name, rate in kind.requests_per_s.items():
        if requirements.critical_share < 1:
            rates[name] = rate
        if requirements.critical_share > 0:
            rates[_critical_name(name)] = rate
    return structs.replace(kind, requests_per_s=rates)


def _critical_name(name: str) -> str:
    return f"{name} critical"
