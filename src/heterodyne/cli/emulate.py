"""`heterodyne emulate`: an engine on hardware that is not here, on a real port."""

import click

from heterodyne.cli.arguments.layout import CONTEXT_TOKENS, layout_from, layout_options


@click.command()
@layout_options
@click.option("--host", default="127.0.0.1", show_default=True, metavar="HOST", help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    metavar="PORT",
    help="Port; 0 takes a free one.",
)
@click.option("--served-model", metavar="NAME", help="The name clients ask for; else the model's own.")
@click.option("--context", type=int, metavar="N", help="Longest sequence; else 8192, or all the model takes.")
@click.option("--slots", type=int, metavar="N", help="Sequences at once; else the engine's default.")
@click.option("--step-tokens", type=int, metavar="N", help="Tokens of one step; else the engine's default.")
@click.option("--output-tokens", type=int, default=256, show_default=True, metavar="N", help="Of a usual answer.")
@click.option("--speed", type=float, default=1.0, show_default=True, metavar="X", help="Run so many times faster.")
@click.option("--fault", "faults", multiple=True, metavar="NAME=VALUE", help="Begin with a fault, e.g. slowdown=10.")
@click.option("--kv-events", metavar="ENDPOINT", help="Publish KV events there, e.g. tcp://127.0.0.1:5557.")
@click.option("--kv-events-replay", metavar="ENDPOINT", help="Repeat lost KV events there, e.g. tcp://127.0.0.1:5558.")
@click.option("--adapter", "adapters", multiple=True, metavar="NAME", help="A LoRA adapter loaded from the start.")
@click.option("--adapters-max", type=int, default=4, show_default=True, metavar="N", help="LoRA adapters at once.")
def emulate(
    *,
    hardware: str,
    model: str,
    precision: str | None,
    kv_precision: str,
    tp: int,
    engine: str,
    host: str,
    port: int,
    served_model: str | None,
    context: int | None,
    slots: int | None,
    step_tokens: int | None,
    output_tokens: int,
    speed: float,
    faults: tuple[str, ...],
    kv_events: str | None,
    kv_events_replay: str | None,
    adapters: tuple[str, ...],
    adapters_max: int,
) -> None:
    """Answer as an engine on given hardware would, at the speed the performance model gives.

    Speaks the engine's own HTTP: OpenAI routes, health, models, metrics, control calls. Faults can be turned at any
    time: POST {"stall": true} to /emulator/faults, and {} to end them all. Ends with 1 after a `crash_after_tokens`.

    \b
    Examples:
      heterodyne emulate --hardware mi300x --model llama-3.1-70b --precision fp8 --tp 4 --port 9001
      heterodyne emulate --hardware h100 --model qwen3-32b --tp 2 --engine sglang --port 9002
      heterodyne emulate --hardware tpu-v5e --model llama-3.1-8b --tp 4 --fault slowdown=10 --fault lie=frozen
    """
    from heterodyne.assembly.emulator import run_emulator
    from heterodyne.cli.arguments.catalogue import own_profiles
    from heterodyne.domain.errors import InvalidSpec
    from heterodyne.emulator.faults import parse_faults
    from heterodyne.emulator.order import EmulatorOrder
    from heterodyne.physics.profile_catalogue import profile_for
    from heterodyne.physics.replica.from_layout import scheduling_of

    if len(set(adapters)) > adapters_max:
        raise InvalidSpec(f"--adapter: {len(set(adapters))} of them, and room for {adapters_max}; raise --adapters-max")
    layout = layout_from(
        model=model,
        hardware=hardware,
        precision=precision,
        kv_precision=kv_precision,
        tp=tp,
        engine=engine,
        slots=slots,
    )
    spec = layout.model
    context_tokens = min(CONTEXT_TOKENS, spec.context_tokens) if context is None else context
    order = EmulatorOrder(
        layout=layout,
        found=profile_for(
            spec,
            layout.accelerator,
            engine=layout.engine,
            precision=layout.precision,
            tp=tp,
            measured=own_profiles(),
        ),
        scheduling=scheduling_of(layout, context_tokens=context_tokens, step_tokens=step_tokens),
        served_model=served_model or spec.name,
        context_tokens=context_tokens,
        output_tokens_mean=output_tokens,
        speed=speed,
        kv_events=kv_events,
        kv_events_replay=kv_events_replay,
        adapters=adapters,
        adapters_max=adapters_max,
    )
    if run_emulator(order, host=host, port=port, faults=parse_faults(faults)):
        click.get_current_context().exit(1)
