"""The options of `plan mix` become a question for the planner: a model, a log, a budget, and what may be rented."""

from collections.abc import Mapping
from pathlib import Path

import click
from msgspec import Struct

from heterodyne.cli.arguments.catalogue import own_profiles
from heterodyne.cli.arguments.layout import member
from heterodyne.cli.arguments.model import model_from
from heterodyne.cli.arguments.prices import (
    PriceOptions,
    interruptions_from,
    numbers,
    priced_catalogue,
    speculation_from,
)
from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.hardware import Accelerator, Link
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.planning.mix.inputs import offered, rate_of, within_context
from heterodyne.planning.mix.offers import Holding, owned
from heterodyne.planning.mix.problem import Stock
from heterodyne.planning.mix.requirements import MixRequirements
from heterodyne.planning.traffic.histogram import histogram
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.planning.workload_class import WorkloadClass, budget
from heterodyne.registry.request_log.read import read_request_log

MS = 1000.0


class MixOptions(Struct, frozen=True, kw_only=True):
    """As they came from the command line."""

    model: str
    traffic: Path
    precision: str | None
    kv_precision: str
    workload_class: str
    slo_ttft_ms: float | None
    slo_itl_ms: float | None
    hardware: str | None  # None: the whole catalogue
    available: tuple[str, ...]
    minimum: tuple[str, ...]
    rate: str
    buckets: int
    share: float
    headroom: float
    spot_share_max: float
    spot_interruptions: tuple[str, ...]
    spot_recovery_min: float
    critical_share: float
    survives_one_loss: bool
    roles: bool
    kv_link_gb_per_s: float
    owned: tuple[str, ...]
    usd_per_kwh: float
    power_overhead: float
    committed: tuple[str, ...]
    price: tuple[str, ...]
    provider: tuple[str, ...]
    region: tuple[str, ...]
    lead_days: tuple[str, ...]
    needed_in_days: float | None
    quantile: float
    guess_tokens: int | None
    guess_acceptance: float
    guess_cost: float


class MixQuestion(Struct, frozen=True, kw_only=True):
    """What the planner is asked, and what it is held against."""

    requirements: MixRequirements
    log: tuple[TraceRequest, ...]
    catalogue: Mapping[str, Accelerator]


def mix_question_from(options: MixOptions) -> MixQuestion:
    """Read the log and look the names up; raises `InvalidSpec` or `UnknownName`."""
    spec = model_from(options.model)
    log = _within_context(read_request_log(options.traffic), spec)
    known = priced_catalogue(
        PriceOptions(
            price=options.price,
            provider=options.provider,
            region=options.region,
            lead_days=options.lead_days,
            needed_in_days=options.needed_in_days,
        )
    )
    chips = offered(_named(options.hardware), known)
    speed = options.kv_link_gb_per_s * 1e9
    requirements = MixRequirements(
        model=spec,
        precision=spec.checkpoint_precision
        if options.precision is None
        else member(Precision, "precision", options.precision),
        kv_precision=member(Precision, "precision", options.kv_precision),
        cells=tuple(histogram(log, bins=options.buckets)),
        requests_per_s=rate_of(options.rate, log),
        slo=budget(
            member(WorkloadClass, "class", options.workload_class),
            ttft_s=None if options.slo_ttft_ms is None else options.slo_ttft_ms / MS,
            itl_s=None if options.slo_itl_ms is None else options.slo_itl_ms / MS,
        ),
        accelerators=tuple(chips.values()),
        stocks=_stocks(options.available, options.minimum, chips),
        share=options.share,
        holdings=_holdings(options, chips),
        interruptions=interruptions_from(options.spot_interruptions, options.spot_recovery_min, chips),
        headroom=options.headroom,
        spot_share_max=options.spot_share_max,
        survives_one_loss=options.survives_one_loss,
        critical_share=options.critical_share,
        has_roles=options.roles,
        measured=own_profiles(),
        kv_link=Link(name="between replicas", bytes_per_s=speed, pair_bytes_per_s=speed),
        speculation=speculation_from(options.guess_tokens, options.guess_acceptance, options.guess_cost),
        quantile=options.quantile,
    )
    return MixQuestion(requirements=requirements, log=log, catalogue=known)


def _holdings(options: MixOptions, chips: Mapping[str, Accelerator]) -> tuple[Holding, ...]:
    """Chips that are owned cost their power, chips under contract what the contract says."""
    counts = numbers("owned", options.owned, chips, example="16")
    mine = [
        owned(chips[name], round(count), usd_per_kwh=options.usd_per_kwh, overhead=options.power_overhead)
        for name, count in counts.items()
    ]
    for word in options.committed:
        said, at, usd = word.partition("@")
        [(name, count)] = numbers("committed", (said,), chips, example="8@1.20").items()
        if not at or not usd.replace(".", "", 1).isdecimal():
            raise InvalidSpec(f'committed: "{word}" has no price; say for example {name}=8@1.20')
        mine.append(Holding(accelerator=name, word="committed", chips=round(count), usd_per_hour=float(usd)))
    return tuple(mine)


def _within_context(log: list[TraceRequest], spec: ModelSpec) -> tuple[TraceRequest, ...]:
    """The requests that the model can hold; the number of the others is printed."""
    fitting = within_context(log, spec)
    if fitting.too_long:
        over = f"{fitting.too_long:,} of {len(log):,} requests are longer than the context of {spec.name}"
        click.echo(f"left out: {over}, {spec.context_tokens:,} tokens", err=True)
    return fitting.arrivals


def _named(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _stocks(
    available: tuple[str, ...], minimum: tuple[str, ...], chips: Mapping[str, Accelerator]
) -> tuple[Stock, ...]:
    most, least = _numbers("available", available, chips), _numbers("minimum", minimum, chips)
    return tuple(
        Stock(name=name, available=most.get(name), minimum=least.get(name, 0))
        for name in dict.fromkeys((*most, *least))
    )


def _numbers(option: str, words: tuple[str, ...], chips: Mapping[str, Accelerator]) -> dict[str, int]:
    """`h100-sxm=16` as a number of chips by accelerator."""
    numbers: dict[str, int] = {}
    for word in words:
        name, _, count = word.partition("=")
        chip = accelerator(name.strip(), chips).name
        if not count.strip().isdecimal():
            raise InvalidSpec(f'{option}: "{word}" is not a name and a number of chips, for example {chip}=16.')
        numbers[chip] = int(count)
    return numbers
