"""`heterodyne plan hardware`: a model, its traffic and its targets in; every accelerator that keeps them out."""

from pathlib import Path
from random import Random

import click

from heterodyne.cli.output import print_json
from heterodyne.cli.plan.pages.html_option import html_option, provenance, write_page
from heterodyne.cli.progress import counting, working
from heterodyne.domain.counted import counted

SEED = 7


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
def hardware(
    *,
    model: str,
    precision: str | None,
    kv_precision: str,
    prompt_tokens: int,
    output_tokens: int,
    rate: float,
    workload_class: str,
    slo_ttft_ms: float | None,
    slo_itl_ms: float | None,
    every_width: bool,
    as_json: bool,
    html_file: Path | None,
) -> None:
    """Rank the accelerators that serve a model within its targets by dollars per million tokens.

    Exits with 1 when none does.

    \b
    Examples:
      heterodyne plan hardware --model llama-3.1-70b --precision fp8 --slo-ttft-ms 500
      heterodyne plan hardware --model llama-3.1-70b --precision fp8 --class batch --html hardware.html
      heterodyne plan hardware --model mistral-7b --rate 20 --prompt-tokens 512 --output-tokens 128 --every-width
    """
    from heterodyne.cli.arguments.catalogue import catalogue, own_profiles
    from heterodyne.cli.arguments.member import member
    from heterodyne.cli.arguments.model import model_from
    from heterodyne.cli.plan.hardware_table import print_ranking
    from heterodyne.physics.precision import Precision
    from heterodyne.planning.hardware.ranking import (
        HardwareRequirements,
        Ranking,
        best_per_accelerator,
        rank_hardware,
        with_spread,
    )
    from heterodyne.planning.workload_class import WorkloadClass, budget

    spec, chips = model_from(model), catalogue()
    wish = HardwareRequirements(
        model=spec,
        precision=spec.checkpoint_precision if precision is None else member(Precision, "precision", precision),
        kv_precision=member(Precision, "precision", kv_precision),
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
        requests_per_s=rate,
        slo=budget(
            member(WorkloadClass, "class", workload_class),
            ttft_s=None if slo_ttft_ms is None else slo_ttft_ms / 1000,
            itl_s=None if slo_itl_ms is None else slo_itl_ms / 1000,
        ),
    )
    profiles = own_profiles()
    with working(f"ranking {counted(len(chips), 'accelerator')}", is_json=as_json):
        ranking = rank_hardware(wish, chips, measured=profiles)
    shown = ranking.choices if every_width else tuple(best_per_accelerator(ranking.choices))
    draw = Random(SEED).random  # noqa: S311 - arrivals of a rehearsal, the same in every run
    rehearsed = []
    with counting("rehearsing", len(ranking.choices), is_json=as_json) as on_choices:
        for one in ranking.choices:
            on_choices(1)
            rehearsed.append(with_spread(one, wish, chips, draw=draw, measured=profiles) if one in shown else one)
    ranking = Ranking(choices=tuple(rehearsed), refused=ranking.refused)
    if html_file is not None:
        from heterodyne.cli.plan.pages.hardware import hardware_page

        page = hardware_page(ranking, wish, catalogue=chips, every_width=every_width, provenance=provenance())
        write_page(html_file, page)
    if as_json:
        print_json(ranking)
    else:
        print_ranking(ranking, every_width=every_width)
    if not ranking.choices:
        click.get_current_context().exit(1)
