"""Ranks every accelerator and width that can serve a model within its promise, by dollars per million tokens."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from msgspec import Struct, structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.hardware import Accelerator, ChipPrice
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import Basis, Profile
from heterodyne.physics.serving import Slo
from heterodyne.physics.step_time import Speculation
from heterodyne.planning.hardware.candidate import (
    HardwareCandidate,
    RejectedCandidate,
    candidates,
    load_of,
    try_scheduling,
)
from heterodyne.planning.hardware.caution import check_quantile
from heterodyne.planning.hardware.queueing import ReplicaQueue
from heterodyne.planning.hardware.rehearsal import Draw, RehearsedLoad, rehearse
from heterodyne.planning.hardware.sustained import SHARE, Limit, Shortfall, SustainedLoad, check_share
from heterodyne.planning.traffic.request_shape import RequestShape, check_shape
from heterodyne.planning.workload_class import check_budget

CURVE = (0.1, 0.25, 0.5, 0.75, 1.0, 1.15, 1.3, 1.5)  # of the concurrency that is sustained
LOAD_LEAST = 0.03  # a replica that keeps a promise only while it is idle keeps none
REHEARSED = 5  # of the cheapest; the others have the formula's times
PARTS = (1.0, 0.9, 0.75, 0.5, 0.25)  # of the formula's load, until the promise is kept


class HardwareRequirements(Struct, frozen=True, kw_only=True):
    """What is to be served, and how well."""

    model: ModelSpec
    precision: Precision
    kv_precision: Precision = Precision.BF16
    prompt_tokens: int = 1024
    output_tokens: int = 256
    requests_per_s: float = 1.0
    slo: Slo
    share: float = SHARE  # of requests that keep it
    speculation: Speculation | None = None
    quantile: float | None = None  # of measured step times by predicted ones; None: as predicted

    @property
    def shape(self) -> RequestShape:
        """Of a usual request."""
        return RequestShape(prompt_tokens=self.prompt_tokens, output_tokens=self.output_tokens)


class OperatingPoint(Struct, frozen=True, kw_only=True):
    """A replica under so much load."""

    requests_per_s: float
    concurrency: float
    kept_share: float
    ttft_p99_s: float
    itl_p99_s: float
    usd_per_million_tokens: float | None


class RankedHardware(Struct, frozen=True, kw_only=True):
    """One way to serve it."""

    accelerator: str
    tp: int
    engine: EngineKind
    load: SustainedLoad  # of one replica, at capacity
    is_rehearsed: bool = False  # its quantiles were seen on the step machine; else they are the formula's
    replicas: int
    price: ChipPrice | None  # None: no price by the hour is known
    usd_per_hour: float | None  # all replicas
    usd_per_million_tokens: float | None  # prompt and output, at capacity
    power_w: float | None
    basis: Basis
    slowdown: float  # times what is predicted, by the stated quantile
    curve: tuple[OperatingPoint, ...]  # from nearly idle to beyond capacity


class Ranking(Struct, frozen=True, kw_only=True):
    """The cheapest first; those without a price last."""

    choices: tuple[RankedHardware, ...]
    refused: tuple[RejectedCandidate, ...]


def rank_hardware(
    requirements: HardwareRequirements, catalogue: Mapping[str, Accelerator], *, measured: Sequence[Profile] = ()
) -> Ranking:
    """Judge every accelerator at every width it is sold in; `measured` are the operator's own profiles."""
    _check(requirements)
    laid_out = lay_out(requirements, catalogue.values(), measured)
    judged = [one if isinstance(one, RejectedCandidate) else _judge(requirements, one) for one in laid_out]
    choices = [one for one in judged if isinstance(one, RankedHardware)]
    return ranked(choices, (one for one in judged if isinstance(one, RejectedCandidate)))


def ranked(choices: Iterable[RankedHardware], refused: Iterable[RejectedCandidate]) -> Ranking:
    """In order of price."""
    ordered = sorted(choices, key=lambda one: (one.usd_per_million_tokens is None, one.usd_per_million_tokens or 0.0))
    return Ranking(choices=tuple(ordered), refused=tuple(refused))


def rehearsed(
    choice: RankedHardware,
    requirements: HardwareRequirements,
    catalogue: Mapping[str, Accelerator],
    *,
    draw: Draw,
    measured: Sequence[Profile] = (),
) -> RankedHardware:
    """The choice as the step machine has it: less load, where the formula promised too much."""
    chip = catalogue[choice.accelerator]
    for candidate in lay_out(requirements, (chip,), measured):
        if isinstance(candidate, HardwareCandidate) and candidate.tp == choice.tp:
            load = _rehearsed_load(candidate, choice.load, requirements, draw)
            return structs.replace(choice, is_rehearsed=True, load=load, **_costs(requirements, chip, choice.tp, load))
    return choice


def best_per_accelerator(choices: Iterable[RankedHardware]) -> Iterator[RankedHardware]:
    """Of each accelerator its cheapest width."""
    seen: set[str] = set()
    for choice in choices:
        if choice.accelerator not in seen:
            seen.add(choice.accelerator)
            yield choice


def nearest_misses(refused: Iterable[RejectedCandidate], slo: Slo) -> list[RejectedCandidate]:
    """Those that one request alone is too slow on, the least slow first, one width of each accelerator."""
    alone = [one for one in refused if one.shortfall is not None and one.shortfall.itl_s is not None]

    def miss(one: RejectedCandidate) -> float:
        shortfall = one.shortfall
        assert shortfall is not None
        return max((shortfall.ttft_s or 0.0) / slo.ttft_s, (shortfall.itl_s or 0.0) / slo.itl_s)

    nearest: dict[str, RejectedCandidate] = {}
    for one in sorted(alone, key=miss):
        nearest.setdefault(one.accelerator, one)
    return list(nearest.values())


def reason(choice: RankedHardware) -> str:
    """Why this one does no more, in a few words."""
    limits = {
        Limit.TTFT: "more load would be late with first tokens",
        Limit.ITL: "more load would slow the tokens",
        Limit.PLACES: "more load would wait for memory",
        Limit.NOTHING: "memory and slots are full",
    }
    rests = {
        Basis.OWN: "measured by you on this chip",
        Basis.CHIP: "measured on this chip",
        Basis.FAMILY: "measured on other chips under this engine",
        Basis.DATASHEET: "from its datasheet alone",
    }
    return f"{limits[choice.load.limit]}; {rests[choice.basis]}"


def lay_out(
    requirements: HardwareRequirements, chips: Iterable[Accelerator], measured: Sequence[Profile]
) -> Iterator[HardwareCandidate | RejectedCandidate]:
    """Every accelerator at every width."""
    return candidates(
        requirements.model,
        chips,
        precision=requirements.precision,
        kv_precision=requirements.kv_precision,
        measured=measured,
        speculation=requirements.speculation,
        quantile=requirements.quantile,
    )


def promised_load(requirements: HardwareRequirements, candidate: HardwareCandidate) -> SustainedLoad | Shortfall:
    """What one replica carries within the promise; hardly anything is as good as nothing."""
    load = load_of(candidate, requirements.shape, requirements.slo, share=requirements.share)
    if isinstance(load, SustainedLoad) and load.utilisation < LOAD_LEAST:
        return Shortfall(limit=load.limit, ttft_s=load.ttft.p50_s, itl_s=load.itl.p50_s)
    return load


def _judge(requirements: HardwareRequirements, candidate: HardwareCandidate) -> RankedHardware | RejectedCandidate:
    chip, tp = candidate.accelerator, candidate.tp
    load = promised_load(requirements, candidate)
    if isinstance(load, Shortfall):
        return RejectedCandidate(accelerator=chip.name, tp=tp, reason=_refusal(load, requirements.slo), shortfall=load)
    return RankedHardware(
        accelerator=chip.name,
        tp=tp,
        engine=candidate.engine,
        load=load,
        price=lowest_price(chip),
        basis=candidate.found.basis,
        slowdown=candidate.slowdown,
        curve=tuple(_curve(requirements, candidate, load)),
        **_costs(requirements, chip, tp, load),
    )


def _refusal(shortfall: Shortfall, slo: Slo) -> str:
    """Why not even one request at a time keeps the promise."""
    if shortfall.ttft_s is None or shortfall.itl_s is None:
        return "does not fit"
    if shortfall.itl_s > slo.itl_s:
        return f"one request alone gets a token every {shortfall.itl_s * 1000:.1f} ms; {slo.itl_s * 1000:g} promised"
    if shortfall.ttft_s > slo.ttft_s:
        took = f"{shortfall.ttft_s * 1000:.0f} ms"
        return f"one request alone waits {took} for its first token; {slo.ttft_s * 1000:g} promised"
    return "keeps it for one request at a time, and not when two meet"


def _costs(requirements: HardwareRequirements, chip: Accelerator, tp: int, load: SustainedLoad) -> dict[str, Any]:
    """The fields that follow from what one replica carries."""
    replicas = max(1, ceil(requirements.requests_per_s / load.requests_per_s))
    price = lowest_price(chip)
    usd_per_hour = None if price is None else price.usd_per_hour * tp
    return {
        "replicas": replicas,
        "usd_per_hour": None if usd_per_hour is None else usd_per_hour * replicas,
        "usd_per_million_tokens": usd_per_million_tokens(requirements, load.requests_per_s, usd_per_hour),
        "power_w": None if chip.power_w is None else chip.power_w * tp * replicas,
    }


def _rehearsed_load(
    candidate: HardwareCandidate, load: SustainedLoad, requirements: HardwareRequirements, draw: Draw
) -> SustainedLoad:
    scheduling = try_scheduling(candidate, requirements.shape)
    assert scheduling is not None
    part, seen = 1.0, None
    for part in PARTS:
        seen = rehearse(
            candidate.clock,
            scheduling,
            requirements.shape,
            requirements.slo,
            requests_per_s=load.requests_per_s * part,
            concurrency=load.concurrency * part,
            draw=draw,
        )
        if seen.kept_share >= requirements.share:
            break
    assert seen is not None
    return _as_seen(load, part, seen)


def _as_seen(load: SustainedLoad, part: float, seen: RehearsedLoad) -> SustainedLoad:
    return structs.replace(
        load,
        requests_per_s=load.requests_per_s * part,
        concurrency=load.concurrency * part,
        utilisation=load.utilisation * part,
        kept_share=seen.kept_share,
        ttft=seen.ttft,
        itl=seen.itl,
    )


def _curve(
    requirements: HardwareRequirements, candidate: HardwareCandidate, load: SustainedLoad
) -> Iterator[OperatingPoint]:
    """The same replica with less and with more to do."""
    scheduling = try_scheduling(candidate, requirements.shape)
    assert scheduling is not None
    queue = ReplicaQueue(candidate.clock, scheduling, requirements.shape)
    price = lowest_price(candidate.accelerator)
    usd_per_hour = None if price is None else price.usd_per_hour * candidate.tp
    for part in CURVE:
        state = queue.state(load.concurrency * part)
        if state is None or state.concurrency > queue.places:
            return
        yield OperatingPoint(
            requests_per_s=state.requests_per_s,
            concurrency=state.concurrency,
            kept_share=state.kept(requirements.slo),
            ttft_p99_s=state.ttft_quantile_s(0.99),
            itl_p99_s=state.itl_quantile_s(0.99),
            usd_per_million_tokens=usd_per_million_tokens(requirements, state.requests_per_s, usd_per_hour),
        )


def usd_per_million_tokens(
    requirements: HardwareRequirements, requests_per_s: float, usd_per_hour: float | None
) -> float | None:
    """Prompt and output together."""
    tokens_per_hour = requests_per_s * (requirements.prompt_tokens + requirements.output_tokens) * 3600
    return None if usd_per_hour is None else usd_per_hour / tokens_per_hour * 1e6


def lowest_price(chip: Accelerator, *, is_spot: bool = False) -> ChipPrice | None:
    """The cheapest whole price; an accelerator without its host only where nothing else is known."""
    offered = [price for price in chip.prices if price.is_spot == is_spot]
    whole = [price for price in offered if not price.is_accelerator_only]
    return min(whole or offered, key=lambda price: price.usd_per_hour, default=None)


def _check(requirements: HardwareRequirements) -> None:
    check_shape(requirements.shape, requirements.model)
    check_budget(requirements.slo)
    check_share(requirements.share)
    check_quantile(requirements.quantile)
    if not requirements.requests_per_s > 0:
        raise InvalidSpec(f"requests_per_s: {requirements.requests_per_s:g} is no rate; give more than 0.")
