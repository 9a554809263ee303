"""`heterodyne plan hardware`: a model, its traffic and its targets in; every accelerator that keeps them out."""

from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from heterodyne.cli.arguments.prices import PriceOptions, price_options, priced_catalogue, speculation_from
from heterodyne.cli.output import print_json
from heterodyne.cli.plan.pages.html_option import html_option, provenance, write_page
from heterodyne.cli.progress import counting, working
from heterodyne.domain.counted import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heterodyne.physics.hardware import Accelerator
    from heterodyne.planning.hardware.ranges import ChoiceRanges
    from heterodyne.planning.hardware.ranking import HardwareRequirements, Ranking
    from heterodyne.planning.mix.interruptions import Interruptions

SEED = 7
REHEARSALS_MAX = 9  # one that falls back by its rehearsal makes room for another


class HardwareOptions(Struct, frozen=True, kw_only=True):
    """As they came from the command line."""

    model: str
    precision: str | None
    kv_precision: str
    prompt_tokens: int
    output_tokens: int
    rate: float
    workload_class: str
    slo_ttft_ms: float | None
    slo_itl_ms: float | None
    share: float
    price: tuple[str, ...]
    provider: tuple[str, ...]
    region: tuple[str, ...]
    lead_days: tuple[str, ...]
    needed_in_days: float | None
    spot: bool
    spot_interruptions: tuple[str, ...]
    spot_recovery_min: float
    quantile: float
    guess_tokens: int | None
    guess_acceptance: float
    guess_cost: float
    fleet_file: Path | None
    every_width: bool
    as_json: bool
    html_file: Path | None


@click.command()
@click.option(
    "--model", required=True, metavar="MODEL", help="A built-in name, a hub id, a config.json or a .gguf file."
)
@click.option("--precision", metavar="FORMAT", help="Of the weights, for example fp8; else what the model comes in.")
@click.option("--kv-precision", metavar="FORMAT", default="bf16", show_default=True, help="Of keys and values.")
@click.option("--prompt-tokens", type=int, default=1024, show_default=True, metavar="N", help="Of a usual request.")
@click.option("--output-tokens", type=int, default=256, show_default=True, metavar="N", help="Of a usual answer.")
@click.option("--rate", type=float, default=1.0, show_default=True, metavar="R", help="Requests per second in all.")
@click.option(
    "--class",
    "workload_class",
    metavar="CLASS",
    default="interactive",
    show_default=True,
    help="interactive (500 ms, 50 ms), batch (2 s, 200 ms) or background (60 s, 500 ms): the targets not given below.",
)
@click.option("--slo-ttft-ms", type=float, metavar="MS", help="To the first token; else that of the class.")
@click.option("--slo-itl-ms", type=float, metavar="MS", help="Between tokens, on average; else that of the class.")
@click.option(
    "--share", type=float, default=0.99, show_default=True, metavar="SHARE", help="Of requests that keep both times."
)
@price_options
@click.option("--spot", is_flag=True, help="Rank by spot prices, for an hour in which the machine is there.")
@click.option(
    "--fleet-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the first of the list, for `simulate` and `plan config`.",
)
@click.option("--every-width", is_flag=True, help="List every width, not only the cheapest of each accelerator.")
@click.option("--json", "as_json", is_flag=True, help="Print the ranking, and what was refused, as JSON.")
@html_option
def hardware(**options: Any) -> None:
    """Rank the accelerators that keep a promise by dollars per million tokens, at the load that just keeps it.

    Capacity is the load at which the promised share of requests gets both times. Exits with 1 when none keeps it.

    \b
    Examples:
      heterodyne plan hardware --model llama-3.1-70b --precision fp8 --slo-ttft-ms 500
      heterodyne plan hardware --model llama-3.1-70b --precision fp8 --class batch --html hardware.html
      heterodyne plan hardware --model llama-3.1-70b --precision fp8 --price h100=2.10 --fleet-file fleet.toml
      heterodyne plan hardware --model mistral-7b --rate 20 --prompt-tokens 512 --output-tokens 128 --every-width
    """
    from heterodyne.cli.plan.hardware_table import RANGED, print_never_taken_back, print_ranking

    given = HardwareOptions(**options)
    chips = priced_catalogue(
        PriceOptions(
            price=given.price,
            provider=given.provider,
            region=given.region,
            lead_days=given.lead_days,
            needed_in_days=given.needed_in_days,
        )
    )
    if given.spot:
        chips = _at_spot_prices(given, chips)
    requirements = _requirements(given)
    ranking = _ranking(given, requirements, chips)
    is_whole = given.as_json or given.html_file is not None
    ranges = _ranges(ranking, requirements, chips, every_width=given.every_width, most=None if is_whole else RANGED)
    if given.html_file is not None:
        from heterodyne.cli.plan.pages.hardware import hardware_page

        page = hardware_page(
            ranking,
            requirements,
            catalogue=chips,
            every_width=given.every_width,
            provenance=provenance(),
            ranges=ranges,
        )
        write_page(given.html_file, page)
    if given.fleet_file is not None and ranking.choices:
        from heterodyne.cli.plan.fleet_files import write_choice

        write_choice(given.fleet_file, ranking.choices[0], requirements, given.model)
    if given.as_json:
        print_json({"choices": ranking.choices, "refused": ranking.refused, "ranges": ranges})
    else:
        print_ranking(ranking, requirements, ranges, every_width=given.every_width)
        if given.spot:
            print_never_taken_back(ranking, _interruptions(given, chips))
    if not ranking.choices:
        click.get_current_context().exit(1)


def _at_spot_prices(options: HardwareOptions, chips: "Mapping[str, Accelerator]") -> "Mapping[str, Accelerator]":
    from heterodyne.planning.hardware.own_prices import at_spot_prices

    found = _interruptions(options, chips)
    return at_spot_prices(chips, {name: one.missing_share for name, one in found.items()})


def _interruptions(options: HardwareOptions, chips: "Mapping[str, Accelerator]") -> "dict[str, Interruptions]":
    from heterodyne.cli.arguments.prices import interruptions_from

    return interruptions_from(options.spot_interruptions, options.spot_recovery_min, chips)


def _requirements(options: HardwareOptions) -> "HardwareRequirements":
    from heterodyne.cli.arguments.layout import member
    from heterodyne.cli.arguments.model import model_from
    from heterodyne.physics.precision import Precision
    from heterodyne.planning.hardware.ranking import HardwareRequirements
    from heterodyne.planning.workload_class import WorkloadClass, budget

    spec, precision = model_from(options.model), options.precision
    return HardwareRequirements(
        model=spec,
        precision=spec.checkpoint_precision if precision is None else member(Precision, "precision", precision),
        kv_precision=member(Precision, "precision", options.kv_precision),
        prompt_tokens=options.prompt_tokens,
        output_tokens=options.output_tokens,
        requests_per_s=options.rate,
        slo=budget(
            member(WorkloadClass, "class", options.workload_class),
            ttft_s=None if options.slo_ttft_ms is None else options.slo_ttft_ms / 1000,
            itl_s=None if options.slo_itl_ms is None else options.slo_itl_ms / 1000,
        ),
        share=options.share,
        speculation=speculation_from(options.guess_tokens, options.guess_acceptance, options.guess_cost),
        quantile=options.quantile,
    )


def _ranking(
    options: HardwareOptions, requirements: "HardwareRequirements", chips: "Mapping[str, Accelerator]"
) -> "Ranking":
    """Every choice; the cheapest that are shown are rehearsed on the step machine, and ranked by what it says."""
    from heterodyne.cli.arguments.catalogue import own_profiles
    from heterodyne.planning.hardware.ranking import REHEARSED, best_per_accelerator, rank_hardware, ranked, rehearsed

    profiles, as_json = own_profiles(), options.as_json
    with working(f"ranking {counted(len(chips), 'accelerator')}", is_json=as_json):
        ranking = rank_hardware(requirements, chips, measured=profiles)
    with counting("rehearsing", REHEARSED, is_json=as_json) as on_choices:
        for _ in range(REHEARSALS_MAX):
            shown = ranking.choices if options.every_width else tuple(best_per_accelerator(ranking.choices))
            unseen = next((one for one in shown[:REHEARSED] if not one.is_rehearsed), None)
            if unseen is None:
                break
            on_choices(1)
            draw = Random(SEED).random  # noqa: S311 - arrivals of a rehearsal, the same in every run and for all
            seen = rehearsed(unseen, requirements, chips, draw=draw, measured=profiles)
            ranking = ranked((seen if one is unseen else one for one in ranking.choices), ranking.refused)
    return ranking


def _ranges(
    ranking: "Ranking",
    requirements: "HardwareRequirements",
    chips: "Mapping[str, Accelerator]",
    *,
    every_width: bool,
    most: int | None,
) -> "dict[str, ChoiceRanges]":
    """Of the cheapest of what is shown, by name."""
    from heterodyne.cli.arguments.catalogue import own_profiles
    from heterodyne.cli.plan.hardware_table import name_of
    from heterodyne.planning.hardware.ranges import ranges_of
    from heterodyne.planning.hardware.ranking import best_per_accelerator

    shown = ranking.choices if every_width else best_per_accelerator(ranking.choices)
    profiles = own_profiles()
    return {name_of(one): ranges_of(one, requirements, chips, measured=profiles) for one in islice(shown, most)}
