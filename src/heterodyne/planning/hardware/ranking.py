"""Ranks every accelerator and width that can serve a model within its service level, by dollars per million tokens."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil

from msgspec import Struct, structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.hardware import Accelerator, ChipPrice
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import Basis, Profile
from heterodyne.physics.serving import Binding, Load, ReplicaSpec, ServingEstimate, Slo, goodput, serve
from heterodyne.planning.hardware.candidate import HardwareCandidate, RejectedCandidate, candidates, try_replica
from heterodyne.planning.hardware.latency_spread import Draw, LatencySpread, latency_spread
from heterodyne.planning.traffic.request_shape import RequestShape, check_shape
from heterodyne.planning.workload_class import check_budget


class HardwareRequirements(Struct, frozen=True, kw_only=True):
    """What is to be served, and how well."""

    model: ModelSpec
    precision: Precision
    kv_precision: Precision = Precision.BF16
    prompt_tokens: int = 1024
    output_tokens: int = 256
    requests_per_s: float = 1.0
    slo: Slo


class OperatingPoint(Struct, frozen=True, kw_only=True):
    """A replica with so many requests at once."""

    concurrency: int
    ttft_s: float
    itl_s: float
    usd_per_million_tokens: float | None


class RankedHardware(Struct, frozen=True, kw_only=True):
    """One way to serve it."""

    accelerator: str
    tp: int
    engine: EngineKind
    concurrency: int  # requests at once within the service level
    served: ServingEstimate
    binding: Binding
    replicas: int
    price: ChipPrice | None  # None: no price by the hour is known
    usd_per_hour: float | None  # all replicas
    usd_per_million_tokens: float | None  # prompt and output, at full load
    power_w: float | None
    basis: Basis
    curve: tuple[OperatingPoint, ...]  # from one request at once to as many as the service level allows
    spread: LatencySpread | None = None  # None: it was not rehearsed


class Ranking(Struct, frozen=True, kw_only=True):
    """The cheapest first; those without a price last."""

    choices: tuple[RankedHardware, ...]
    refused: tuple[RejectedCandidate, ...]


def rank_hardware(
    requirements: HardwareRequirements, catalogue: Mapping[str, Accelerator], *, measured: Sequence[Profile] = ()
) -> Ranking:
    """Judge every accelerator at every width its fast link reaches; `measured` are the operator's own profiles."""
    _check(requirements)
    laid_out = _lay_out(requirements, catalogue.values(), measured)
    judged = [one if isinstance(one, RejectedCandidate) else _judge(requirements, one) for one in laid_out]
    choices = [one for one in judged if isinstance(one, RankedHardware)]
    choices.sort(key=lambda one: (one.usd_per_million_tokens is None, one.usd_per_million_tokens or 0.0))
    return Ranking(choices=tuple(choices), refused=tuple(one for one in judged if isinstance(one, RejectedCandidate)))


def with_spread(
    choice: RankedHardware,
    requirements: HardwareRequirements,
    catalogue: Mapping[str, Accelerator],
    *,
    draw: Draw,
    measured: Sequence[Profile] = (),
) -> RankedHardware:
    """The choice with its times rehearsed under random arrivals: a tenth of a second each, so not for all of them."""
    for candidate in _lay_out(requirements, (catalogue[choice.accelerator],), measured):
        if isinstance(candidate, HardwareCandidate) and candidate.tp == choice.tp:
            spread = latency_spread(
                candidate,
                _shape(requirements),
                requests_per_s=choice.served.requests_per_s,
                concurrency=choice.concurrency,
                draw=draw,
            )
            return structs.replace(choice, spread=spread)
    return choice


def best_per_accelerator(choices: Iterable[RankedHardware]) -> Iterator[RankedHardware]:
    """Of each accelerator its cheapest width."""
    seen: set[str] = set()
    for choice in choices:
        if choice.accelerator not in seen:
            seen.add(choice.accelerator)
            yield choice


def reason(choice: RankedHardware) -> str:
    """Why this one does no more, in a few words."""
    limits = {
        Binding.TTFT: "more at once would be late with the first token",
        Binding.ITL: "more at once would slow the tokens",
        Binding.CONCURRENCY: "nothing binds up to the most we ask",
    }
    rests = {
        Basis.OWN: "measured by you on this chip",
        Basis.CHIP: "measured on this chip",
        Basis.FAMILY: "measured on other chips under this engine",
        Basis.DATASHEET: "from its datasheet alone",
    }
    return f"{limits[choice.binding]}; {rests[choice.basis]}"


def _lay_out(
    requirements: HardwareRequirements, chips: Iterable[Accelerator], measured: Sequence[Profile]
) -> Iterator[HardwareCandidate | RejectedCandidate]:
    return candidates(
        requirements.model,
        chips,
        precision=requirements.precision,
        kv_precision=requirements.kv_precision,
        measured=measured,
    )


def _judge(requirements: HardwareRequirements, candidate: HardwareCandidate) -> RankedHardware | RejectedCandidate:
    chip, tp = candidate.accelerator, candidate.tp
    replica = try_replica(candidate, _shape(requirements))
    if replica is None:
        return RejectedCandidate(accelerator=chip.name, tp=tp, reason="does not fit")
    most = goodput(
        replica, requirements.slo, prompt_tokens=requirements.prompt_tokens, output_tokens=requirements.output_tokens
    )
    if most.served is None:
        return RejectedCandidate(
            accelerator=chip.name, tp=tp, reason=f"one request alone misses the {most.binding} target"
        )
    replicas = max(1, ceil(requirements.requests_per_s / most.served.requests_per_s))
    price = lowest_price(chip)
    replica_usd_per_hour = None if price is None else price.usd_per_hour * tp
    return RankedHardware(
        accelerator=chip.name,
        tp=tp,
        engine=candidate.engine,
        concurrency=most.concurrency,
        served=most.served,
        binding=most.binding,
        replicas=replicas,
        price=price,
        usd_per_hour=None if replica_usd_per_hour is None else replica_usd_per_hour * replicas,
        usd_per_million_tokens=_usd_per_million_tokens(requirements, most.served, replica_usd_per_hour),
        power_w=None if chip.power_w is None else chip.power_w * tp * replicas,
        basis=candidate.found.basis,
        curve=tuple(_curve(requirements, replica, most.concurrency, replica_usd_per_hour)),
    )


def _curve(
    requirements: HardwareRequirements, replica: ReplicaSpec, most: int, usd_per_hour: float | None
) -> Iterator[OperatingPoint]:
    """Doubling from one request to the most."""
    for concurrency in sorted({*(2**power for power in range(most.bit_length())), most}):
        load = Load(
            concurrency=concurrency, prompt_tokens=requirements.prompt_tokens, output_tokens=requirements.output_tokens
        )
        served = serve(replica, load)
        yield OperatingPoint(
            concurrency=concurrency,
            ttft_s=served.ttft_s,
            itl_s=served.itl_s,
            usd_per_million_tokens=_usd_per_million_tokens(requirements, served, usd_per_hour),
        )


def _usd_per_million_tokens(
    requirements: HardwareRequirements, served: ServingEstimate, usd_per_hour: float | None
) -> float | None:
    tokens_per_hour = served.requests_per_s * (requirements.prompt_tokens + requirements.output_tokens) * 3600
    return None if usd_per_hour is None else usd_per_hour / tokens_per_hour * 1e6


def lowest_price(chip: Accelerator, *, is_spot: bool = False) -> ChipPrice | None:
    """The cheapest whole price; an accelerator without its host only where nothing else is known."""
    offered = [price for price in chip.prices if price.is_spot == is_spot]
    whole = [price for price in offered if not price.is_accelerator_only]
    return min(whole or offered, key=lambda price: price.usd_per_hour, default=None)


def _shape(requirements: HardwareRequirements) -> RequestShape:
    return RequestShape(prompt_tokens=requirements.prompt_tokens, output_tokens=requirements.output_tokens)


def _check(requirements: HardwareRequirements) -> None:
    check_shape(_shape(requirements), requirements.model)
    check_budget(requirements.slo)
    if not requirements.requests_per_s > 0:
        raise InvalidSpec(f"requests_per_s: {requirements.requests_per_s:g} is no rate; give more than 0.")
