"""What to rent beside what there is: the planner's question about a model's forecast, in the words of the planner."""

from collections.abc import Sequence

from msgspec import Struct, structs

from heterodyne.console.capacity.pages import Purchase
from heterodyne.physics.hardware import Accelerator, ChipPrice
from heterodyne.planning.hardware.pool_capacity import capacity_of
from heterodyne.planning.hardware.ranking import lowest_price
from heterodyne.planning.hardware.replica_price import replica_price
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.problem import ReplicaKind
from heterodyne.planning.mix.requirements import MixRequirements, mix_problem
from heterodyne.planning.traffic.histogram import Cell
from heterodyne.planning.traffic.request_shape import RequestShape
from heterodyne.supervisor.physics_facts import PhysicsFacts
from heterodyne.supervisor.services.capacity.pool_rooms import KnownPool, ModelRooms

CELL = "requests as they are"
HELD = "held: "  # before the name of a pool, which no kind of the catalogue begins with
HEADROOM = 0.1  # of every replica, kept free


class ExistingPool(Struct, frozen=True, kw_only=True):
    """Replicas that there are."""

    pool: str
    replicas: int
    requests_per_s: float
    usd_per_hour: float


class PurchaseOrder(Struct, frozen=True, kw_only=True, tag="purchase"):
    """For the child that works it out."""

    wish: MixRequirements
    held: tuple[ExistingPool, ...]


def is_enough(rooms: ModelRooms, requests_per_s: float) -> bool:
    """Whether what there is carries so much, with some to spare and with any one replica lost."""
    measures = [one.measure for one in rooms.pools if one.measure.replicas]
    most = max((one.replica_requests_per_s or 0.0 for one in measures), default=0.0)
    room = capacity_of(measures) or 0.0
    return room * (1.0 - HEADROOM) >= requests_per_s and room - most >= requests_per_s


def purchase_order(
    rooms: ModelRooms, known: Sequence[KnownPool], shape: RequestShape, requests_per_s: float, facts: PhysicsFacts
) -> PurchaseOrder:
    """`known` are the pools of the model with a layout, at least one: the new replicas are to be like the first."""
    layout = known[0].layout
    assert layout is not None
    wish = MixRequirements(
        model=layout.model,
        precision=layout.precision,
        kv_precision=layout.kv_precision,
        cells=(Cell(name=CELL, shape=shape, share=1.0),),
        requests_per_s=requests_per_s,
        slo=rooms.slo,
        accelerators=tuple(_offered(known, facts)),
        headroom=HEADROOM,
        survives_one_loss=True,
        critical_share=1.0,
        measured=facts.measured,
    )
    held = tuple(
        ExistingPool(
            pool=one.measure.pool,
            replicas=one.measure.replicas,
            requests_per_s=one.measure.replica_requests_per_s,
            usd_per_hour=_usd_per_hour(one) or 0.0,
        )
        for one in known
        if one.measure.replicas and one.measure.replica_requests_per_s
    )
    return PurchaseOrder(wish=wish, held=held)


def cheapest_addition(order: PurchaseOrder) -> tuple[Purchase, ...]:
    """Solve it: what there is stays and is used; only what is rented beside it can be chosen."""
    problem = mix_problem(order.wish)
    [bucket] = problem.buckets
    held = tuple(
        ReplicaKind(
            name=HELD + one.pool,
            usd_per_hour=one.usd_per_hour,
            requests_per_s={bucket.name: one.requests_per_s},
            available=one.replicas,
            minimum=one.replicas,
        )
        for one in order.held
    )
    plan = cheapest_mix(structs.replace(problem, kinds=(*problem.kinds, *held)))
    kinds = {kind.name: kind for kind in problem.kinds}
    return tuple(
        Purchase(
            hardware=name.rpartition(" x")[0],
            tp=kinds[name].chips,
            replicas=count,
            usd_per_hour=kinds[name].usd_per_hour * count,
        )
        for name, count in plan.replicas.items()
        if name in kinds
    )


def _offered(known: Sequence[KnownPool], facts: PhysicsFacts) -> list[Accelerator]:
    """Everything with a price; hardware of the fleet at the price that is paid for it here."""
    paid: dict[str, float] = {}
    for one in known:
        usd_per_hour = one.settings.price_usd_per_hour
        if one.layout is not None and usd_per_hour:
            chip_usd_per_hour = usd_per_hour / one.layout.tp
            name = one.layout.accelerator.name
            paid[name] = min(paid.get(name, chip_usd_per_hour), chip_usd_per_hour)
    chips = [_at_price(chip, paid[name]) if name in paid else chip for name, chip in facts.catalogue.items()]
    return [chip for chip in chips if lowest_price(chip) is not None]


def _at_price(chip: Accelerator, usd_per_hour: float) -> Accelerator:
    price = ChipPrice(provider="this fleet", usd_per_hour=usd_per_hour, day="", source="settings")
    return structs.replace(chip, prices=(price,))


def _usd_per_hour(one: KnownPool) -> float | None:
    return replica_price(one.settings, None if one.layout is None else one.layout.accelerator).usd_per_hour
