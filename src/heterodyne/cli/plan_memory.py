"""`heterodyne plan memory`: where the memory of each chip goes, and what would make a model fit."""

from pathlib import Path

import click

from heterodyne.cli.plan_pages.html_option import html_option, provenance, write_page

CONTEXT_TOKENS = 8192  # asked for when nobody says


@click.command()
@click.option("--model", required=True, metavar="MODEL", help="A built-in name, a config.json or a .gguf file.")
@click.option("--hardware", required=True, metavar="CHIP", help="An accelerator, as `heterodyne hardware list` has it.")
@click.option("--precision", metavar="FORMAT", help="Of the weights, for example fp8; else what the model comes in.")
@click.option("--kv-precision", metavar="FORMAT", default="bf16", show_default=True, help="Of keys and values.")
@click.option("--tp", type=int, default=1, show_default=True, metavar="N", help="Chips the model is split over.")
@click.option("--context", type=int, metavar="N", help="Tokens of one sequence; else 8192, or all the model takes.")
@click.option("--concurrency", type=int, default=1, show_default=True, metavar="N", help="Sequences at once.")
@click.option("--engine", default="vllm", show_default=True, metavar="ENGINE", help="The program that runs the model.")
@click.option(
    "--memory-fraction", type=float, metavar="SHARE", help="Of a chip the engine may claim; else its default."
)
@click.option("--slots", type=int, metavar="N", help="Sequences the engine makes ready for; else its default.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@html_option
def memory(
    *,
    model: str,
    hardware: str,
    precision: str | None,
    kv_precision: str,
    tp: int,
    context: int | None,
    concurrency: int,
    engine: str,
    memory_fraction: float | None,
    slots: int | None,
    as_json: bool,
    html_file: Path | None,
) -> None:
    """Say where the memory of each chip goes, how many sequences fit and how long, or what would make them fit.

    Exits with 1 when the demand does not fit.

    \b
    Examples:
      heterodyne plan memory --model llama-3.1-70b --hardware h100-sxm --precision fp8 --tp 2
      heterodyne plan memory --model qwen3-32b --hardware l40s --context 32768 --concurrency 16 --json
      heterodyne plan memory --model ./model.gguf --hardware m4-max --engine llamacpp
      heterodyne plan memory --model llama-3.1-70b --hardware h100-sxm --html memory.html
    """
    from heterodyne.cli.catalogue_argument import catalogue
    from heterodyne.cli.member_argument import member
    from heterodyne.cli.memory_answer import memory_json, print_memory
    from heterodyne.cli.model_argument import model_from
    from heterodyne.cli.output import print_json
    from heterodyne.physics.catalogue import accelerator
    from heterodyne.physics.engine_kind import EngineKind
    from heterodyne.physics.memory import Demand, Layout
    from heterodyne.physics.precision import Precision
    from heterodyne.planning.caveats import caveats
    from heterodyne.planning.fit import fit

    spec, chips = model_from(model), catalogue()
    layout = Layout(
        model=spec,
        accelerator=accelerator(hardware, chips),
        precision=spec.checkpoint_precision if precision is None else member(Precision, "precision", precision),
        kv_precision=member(Precision, "precision", kv_precision),
        tp=tp,
        engine=member(EngineKind, "engine", engine),
        memory_fraction=memory_fraction,
        slots=slots,
    )
    demand = Demand(
        context_tokens=min(CONTEXT_TOKENS, spec.context_tokens) if context is None else context,
        concurrency=concurrency,
    )
    answer = fit(layout, demand, chips)
    said = caveats(layout, demand)
    if html_file is not None:
        from heterodyne.cli.plan_pages.memory_page import memory_page

        write_page(html_file, memory_page(answer, caveats=said, provenance=provenance()))
    if as_json:
        print_json(memory_json(answer, said))
    else:
        print_memory(answer, said)
    if not answer.is_fitting:
        click.get_current_context().exit(1)
