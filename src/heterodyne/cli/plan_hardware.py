"""`heterodyne plan hardware`: a model, its traffic and its targets in; every accelerator that keeps them out."""

import click

from heterodyne.cli.output import print_json


@click.command()
@click.option("--model", required=True, metavar="MODEL", help="A built-in name, a config.json or a .gguf file.")
@click.option("--precision", metavar="FORMAT", help="Of the weights, for example fp8; else what the model comes in.")
@click.option("--kv-precision", metavar="FORMAT", default="bf16", show_default=True, help="Of keys and values.")
@click.option("--prompt-tokens", type=int, default=1024, show_default=True, metavar="N", help="Of a usual request.")
@click.option("--output-tokens", type=int, default=256, show_default=True, metavar="N", help="Of a usual answer.")
@click.option("--rate", type=float, default=1.0, show_default=True, metavar="R", help="Requests per second in all.")
@click.option("--slo-ttft-ms", type=float, default=500.0, show_default=True, metavar="MS", help="Mean first token.")
@click.option("--slo-itl-ms", type=float, default=50.0, show_default=True, metavar="MS", help="Mean between tokens.")
@click.option("--every-width", is_flag=True, help="List every width, not only the cheapest of each accelerator.")
@click.option("--json", "as_json", is_flag=True, help="Print the ranking, and what was refused, as JSON.")
def hardware(
    *,
    model: str,
    precision: str | None,
    kv_precision: str,
    prompt_tokens: int,
    output_tokens: int,
    rate: float,
    slo_ttft_ms: float,
    slo_itl_ms: float,
    every_width: bool,
    as_json: bool,
) -> None:
    """Rank the accelerators that serve a model within its targets by dollars per million tokens.

    Exits with 1 when none does.

    \b
    Examples:
      heterodyne plan hardware --model llama-3.1-70b --precision fp8 --slo-ttft-ms 500
      heterodyne plan hardware --model mistral-7b --rate 20 --prompt-tokens 512 --output-tokens 128 --every-width
    """
    from heterodyne.cli.hardware_ranking import print_ranking
    from heterodyne.cli.member_argument import member
    from heterodyne.cli.model_argument import model_from
    from heterodyne.physics.catalogue import accelerators
    from heterodyne.physics.precision import Precision
    from heterodyne.physics.serving import Slo
    from heterodyne.planning.hardware_choice import Wish, rank_hardware

    spec = model_from(model)
    wish = Wish(
        model=spec,
        precision=spec.checkpoint_precision if precision is None else member(Precision, "precision", precision),
        kv_precision=member(Precision, "precision", kv_precision),
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
        requests_per_s=rate,
        slo=Slo(ttft_s=slo_ttft_ms / 1000, itl_s=slo_itl_ms / 1000),
    )
    ranking = rank_hardware(wish, accelerators())
    if as_json:
        print_json(ranking)
    else:
        print_ranking(ranking, every_width=every_width)
    if not ranking.choices:
        click.get_current_context().exit(1)
