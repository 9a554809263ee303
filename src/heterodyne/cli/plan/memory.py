"""`heterodyne plan memory`: where the memory of each chip goes, and what would make a model fit."""

from pathlib import Path

import click

from heterodyne.cli.arguments.layout import CONTEXT_TOKENS, layout_from, layout_options
from heterodyne.cli.plan.pages.html_option import html_option, provenance, write_page


@click.command()
@layout_options
@click.option("--context", type=int, metavar="N", help="Tokens of one sequence; else 8192, or all the model takes.")
@click.option("--concurrency", type=int, default=1, show_default=True, metavar="N", help="Sequences at once.")
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
    from heterodyne.cli.arguments.catalogue import catalogue
    from heterodyne.cli.output import print_json
    from heterodyne.cli.plan.memory_table import memory_json, print_memory
    from heterodyne.physics.memory import Demand
    from heterodyne.planning.hardware.caveats import caveats
    from heterodyne.planning.hardware.fit import fit

    layout = layout_from(
        model=model,
        hardware=hardware,
        precision=precision,
        kv_precision=kv_precision,
        tp=tp,
        engine=engine,
        memory_fraction=memory_fraction,
        slots=slots,
    )
    demand = Demand(
        context_tokens=min(CONTEXT_TOKENS, layout.model.context_tokens) if context is None else context,
        concurrency=concurrency,
    )
    answer = fit(layout, demand, catalogue())
    notes = caveats(layout, demand)
    if html_file is not None:
        from heterodyne.cli.plan.pages.memory import memory_page

        write_page(html_file, memory_page(answer, caveats=notes, provenance=provenance()))
    if as_json:
        print_json(memory_json(answer, notes))
    else:
        print_memory(answer, notes)
    if not answer.is_fitting:
        click.get_current_context().exit(1)
