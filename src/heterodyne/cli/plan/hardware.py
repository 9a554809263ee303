"""`heterodyne plan hardware`: a model, its traffic and its targets in; every accelerator that keeps them out."""

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from heterodyne.cli.output import print_json
from heterodyne.cli.plan.pages.html_option import html_option, provenance, write_page
from heterodyne.cli.progress import counting, working
from heterodyne.domain.counted import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heterodyne.physics.hardware import Accelerator
    from heterodyne.planning.hardware.ranking import HardwareRequirements, Ranking

SEED = 7


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
    every_width: bool
    as_json: bool
    html_file: Path | None


@click.command()
@click.option("--model", required=True, metavar="MODEL", help="A built-in name, a config.json or a .gguf file.")
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
@click.option("--slo-ttft-ms", type=float, metavar="MS", help="Mean first token; else that of the class.")
@click.option("--slo-itl-ms", type=float, metavar="MS", help="Mean between tokens; else that of the class.")
@click.option("--every-width", is_flag=True, help="List every width, not only the cheapest of each accelerator.")
@click.option("--json", "as_json", is_flag=True, help="Print the ranking, and what was refused, as JSON.")
@html_option
def hardware(**options: Any) -> None:
    """Rank the accelerators that serve a model within its targets by dollars per million tokens.

    Exits with 1 when none does.

    \b
    Examples:
      heterodyne plan hardware --model llama-3.1-70b --precision fp8 --slo-ttft-ms 500
      heterodyne plan hardware --model llama-3.1-70b --precision fp8 --class batch --html hardware.html
      heterodyne plan hardware --model mistral-7b --rate 20 --prompt-tokens 512 --output-tokens 128 --every-width
    """
    from heterodyne.cli.arguments.catalogue import catalogue
    from heterodyne.cli.plan.hardware_table import print_ranking

    given = HardwareOptions(**options)
    chips = catalogue()
    requirements = _requirements(given)
    ranking = _ranking(given, requirements, chips)
    if given.html_file is not None:
        from heterodyne.cli.plan.pages.hardware import hardware_page

        page = hardware_page(
            ranking, requirements, catalogue=chips, every_width=given.every_width, provenance=provenance()
        )
        write_page(given.html_file, page)
    if given.as_json:
        print_json(ranking)
    else:
        print_ranking(ranking, every_width=given.every_width)
    if not ranking.choices:
        click.get_current_context().exit(1)


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
    )


def _ranking(
    options: HardwareOptions, requirements: "HardwareRequirements", chips: "Mapping[str, Accelerator]"
) -> "Ranking":
    """Every choice; those that are shown are rehearsed, so that they have percentiles."""
    from heterodyne.cli.arguments.catalogue import own_profiles
    from heterodyne.planning.hardware.ranking import Ranking, best_per_accelerator, rank_hardware, with_spread

    profiles, as_json = own_profiles(), options.as_json
    with working(f"ranking {counted(len(chips), 'accelerator')}", is_json=as_json):
        ranking = rank_hardware(requirements, chips, measured=profiles)
    shown = ranking.choices if options.every_width else tuple(best_per_accelerator(ranking.choices))
    draw = Random(SEED).random  # noqa: S311 - arrivals of a rehearsal, the same in every run
    rehearsed = []
    with counting("rehearsing", len(ranking.choices), is_json=as_json) as on_choices:
        for one in ranking.choices:
            on_choices(1)
            is_shown = one in shown
            rehearsed.append(with_spread(one, requirements, chips, draw=draw, measured=profiles) if is_shown else one)
    return Ranking(choices=tuple(rehearsed), refused=ranking.refused)
