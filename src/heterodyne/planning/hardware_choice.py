"""Ranks every accelerator and width that can serve a model within its service level, by dollars per million tokens."""

from collections.abc import Iterable, Iterator, Mapping
from math import ceil

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.hardware import Accelerator, Price
from heterodyne.physics.memory import Demand, Layout, memory_budget, ready_slots
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import place
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import Basis
from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.physics.serving import Binding, Replica, Served, Slo, goodput
from heterodyne.physics.work import work

WIDTHS = (1, 2, 4, 8)


class Wish(Struct, frozen=True, kw_only=True):
    """What is to be served, and how well."""

    model: ModelSpec
    precision: Precision
    kv_precision: Precision = Precision.BF16
    prompt_tokens: int = 1024
    output_tokens: int = 256
    requests_per_s: float = 1.0
    slo: Slo


class Choice(Struct, frozen=True, kw_only=True):
    """One way to serve it."""

    accelerator: str
    tp: int
    engine: EngineKind
    concurrency: int  # requests at once within the service level
    served: Served
    binding: Binding
    replicas: int
    price: Price | None  # None: nobody sells it by the hour that we know of
    usd_per_hour: float | None  # all replicas
    usd_per_million_tokens: float | None  # prompt and output, at full load
    power_w: float | None
    basis: Basis


class Refused(Struct, frozen=True, kw_only=True):
    """One that cannot, and why."""

    accelerator: str
    tp: int
    reason: str


class Ranking(Struct, frozen=True, kw_only=True):
    """The cheapest first; those without a price last."""

    choices: tuple[Choice, ...]
    refused: tuple[Refused, ...]


def rank_hardware(wish: Wish, catalogue: Mapping[str, Accelerator]) -> Ranking:
    """Judge every accelerator at every width its fast link reaches."""
    _check(wish)
    judged = [_judge(wish, chip, tp) for chip in catalogue.values() for tp in _widths(wish.model, chip)]
    choices = [one for one in judged if isinstance(one, Choice)]
    choices.sort(key=lambda one: (one.usd_per_million_tokens is None, one.usd_per_million_tokens or 0.0))
    return Ranking(choices=tuple(choices), refused=tuple(one for one in judged if isinstance(one, Refused)))


def best_per_accelerator(choices: Iterable[Choice]) -> Iterator[Choice]:
    """Of each accelerator its cheapest width."""
    seen: set[str] = set()
    for choice in choices:
        if choice.accelerator not in seen:
            seen.add(choice.accelerator)
            yield choice


def reason(choice: Choice) -> str:
    """Why this one does no more, in a few words."""
    limits = {
        Binding.TTFT: "more at once would be late with the first token",
        Binding.ITL: "more at once would slow the tokens",
        Binding.CONCURRENCY: "nothing binds up to the most we ask",
    }
    rests = {
        Basis.CHIP: "measured on this chip",
        Basis.FAMILY: "measured on other chips under this engine",
        Basis.DATASHEET: "from its datasheet alone",
    }
    return f"{limits[choice.binding]}; {rests[choice.basis]}"


def _judge(wish: Wish, chip: Accelerator, tp: int) -> Choice | Refused:
    engine = _engine(chip)
    if engine is None:
        return Refused(accelerator=chip.name, tp=tp, reason="none of the engines we can speak about runs on it")
    context = wish.prompt_tokens + wish.output_tokens
    layout = Layout(
        model=wish.model,
        accelerator=chip,
        precision=wish.precision,
        kv_precision=wish.kv_precision,
        tp=tp,
        engine=engine,
    )
    budget = memory_budget(layout, Demand(context_tokens=context))
    if budget.concurrency_max < 1:
        return Refused(accelerator=chip.name, tp=tp, reason="does not fit")
    found = profile_for(wish.model, chip, engine=engine, precision=wish.precision, tp=tp)
    replica = Replica(
        placement=place(
            work(wish.model, precision=wish.precision, kv_precision=wish.kv_precision),
            accelerator=chip,
            parallelism=Parallelism(tp=tp),
        ),
        profile=found.profile,
        # The engine makes ready for so many sequences and no more, whatever the memory would hold.
        kv_capacity_tokens=min(
            budget.kv_room_bytes / budget.kv_sequence_bytes * context,
            ready_slots(layout) * (wish.prompt_tokens + wish.output_tokens / 2),
        ),
    )
    most = goodput(replica, wish.slo, prompt_tokens=wish.prompt_tokens, output_tokens=wish.output_tokens)
    if most.served is None:
        return Refused(accelerator=chip.name, tp=tp, reason=f"one request alone misses the {most.binding} target")
    replicas = max(1, ceil(wish.requests_per_s / most.served.requests_per_s))
    price = lowest_price(chip)
    replica_usd_per_hour = None if price is None else price.usd_per_hour * tp
    tokens_per_hour = most.served.requests_per_s * context * 3600
    return Choice(
        accelerator=chip.name,
        tp=tp,
        engine=engine,
        concurrency=most.concurrency,
        served=most.served,
        binding=most.binding,
        replicas=replicas,
        price=price,
        usd_per_hour=None if replica_usd_per_hour is None else replica_usd_per_hour * replicas,
        usd_per_million_tokens=None if replica_usd_per_hour is None else replica_usd_per_hour / tokens_per_hour * 1e6,
        power_w=None if chip.power_w is None else chip.power_w * tp * replicas,
        basis=found.basis,
    )


def lowest_price(chip: Accelerator) -> Price | None:
    """The cheapest whole price on demand: no spot, and no accelerator without its host unless nothing else is known."""
    on_demand = [price for price in chip.prices if not price.is_spot]
    whole = [price for price in on_demand if not price.is_accelerator_only]
    return min(whole or on_demand, key=lambda price: price.usd_per_hour, default=None)


def _widths(model: ModelSpec, chip: Accelerator) -> list[int]:
    return [tp for tp in WIDTHS if tp <= chip.fast_domain_chips and model.heads % tp == 0]


def _engine(chip: Accelerator) -> EngineKind | None:
    """Of the engines that run on the chip, the first we know the memory of."""
    return next((kind for kind in EngineKind if kind.value in chip.engines), None)


def _check(wish: Wish) -> None:
    for name in ("prompt_tokens", "output_tokens"):
        if getattr(wish, name) < 1:
            raise InvalidSpec(f"{name}: {getattr(wish, name)} is no number of tokens; give at least 1.")
    if wish.requests_per_s <= 0:
        raise InvalidSpec(f"requests_per_s: {wish.requests_per_s:g} is no rate; give more than 0.")
    if wish.slo.ttft_s <= 0 or wish.slo.itl_s <= 0:
        raise InvalidSpec("The targets are times above zero.")
    if wish.prompt_tokens + wish.output_tokens > wish.model.context_tokens:
        raise InvalidSpec(
            f"{wish.prompt_tokens} + {wish.output_tokens} tokens are over the context of {wish.model.name}, "
            f"{wish.model.context_tokens} tokens."
        )
