"""`heterodyne emulate`: an engine on hardware that is not here, on a real port."""

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from heterodyne.cli.arguments.layout import CONTEXT_TOKENS, layout_from, layout_options
from heterodyne.cli.arguments.listening import listen_options

if TYPE_CHECKING:
    from heterodyne.emulator.order import EmulatorOrder


class EmulateOptions(Struct, frozen=True, kw_only=True):
    """As they came from the command line."""

    hardware: str
    model: str
    precision: str | None
    kv_precision: str
    tp: int
    engine: str
    host: str
    port: int
    served_model: str | None
    context: int | None
    slots: int | None
    step_tokens: int | None
    output_tokens: int
    speed: float
    faults: tuple[str, ...]
    kv_events: str | None
    kv_events_replay: str | None
    adapters: tuple[str, ...]
    adapters_max: int


@click.command()
@layout_options
@listen_options
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
def emulate(**options: Any) -> None:
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
    from heterodyne.emulator.faults import parse_faults

    given = EmulateOptions(**options)
    order = _order(given)
    if run_emulator(order, host=given.host, port=given.port, faults=parse_faults(given.faults)):
        click.get_current_context().exit(1)


def _order(options: EmulateOptions) -> "EmulatorOrder":
    from heterodyne.cli.arguments.catalogue import own_profiles
    from heterodyne.domain.errors import InvalidSpec
    from heterodyne.emulator.order import EmulatorOrder
    from heterodyne.physics.profile_catalogue import profile_for
    from heterodyne.physics.replica.from_layout import scheduling_of

    adapters, room = len(set(options.adapters)), options.adapters_max
    if adapters > room:
        raise InvalidSpec(f"--adapter: {adapters} of them, and room for {room}; raise --adapters-max")
    layout = layout_from(
        model=options.model,
        hardware=options.hardware,
        precision=options.precision,
        kv_precision=options.kv_precision,
        tp=options.tp,
        engine=options.engine,
        slots=options.slots,
    )
    spec = layout.model
    context_tokens = min(CONTEXT_TOKENS, spec.context_tokens) if options.context is None else options.context
    return EmulatorOrder(
        layout=layout,
        found=profile_for(
            spec,
            layout.accelerator,
            engine=layout.engine,
            precision=layout.precision,
            tp=layout.tp,
            measured=own_profiles(),
        ),
        scheduling=scheduling_of(layout, context_tokens=context_tokens, step_tokens=options.step_tokens),
        served_model=options.served_model or spec.name,
        context_tokens=context_tokens,
        output_tokens_mean=options.output_tokens,
        speed=options.speed,
        kv_events=options.kv_events,
        kv_events_replay=options.kv_events_replay,
        adapters=options.adapters,
        adapters_max=options.adapters_max,
    )
