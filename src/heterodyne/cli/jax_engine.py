"""`heterodyne jax`: a model served by plain JAX on whatever XLA drives here."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from heterodyne.cli.arguments.listening import listen_options
from heterodyne.domain.errors import InvalidSpec, WeightsUnavailable

if TYPE_CHECKING:
    from heterodyne.jax_engine.server import JaxOrder

PRECISIONS = ("bf16", "fp32")


class JaxOptions(Struct, frozen=True, kw_only=True):
    """As they came from the command line."""

    folder: Path | None
    random_shape: str | None
    precision: str | None
    host: str
    port: int
    served_model: str | None
    context: int
    slots: int
    chunk: int
    steps: int
    compiles_ahead: bool | None


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--random-shape", metavar="NAME", help="Random weights of a model's shape instead, e.g. llama-3.1-8b.")
@click.option("--precision", type=click.Choice(PRECISIONS), help="Of weights and cache; else fp32 on a CPU, or bf16.")
@listen_options
@click.option("--served-model", metavar="NAME", help="The name clients ask for; else the folder's or the shape's.")
@click.option("--context", type=click.IntRange(16), default=4096, show_default=True, help="Longest sequence.")
@click.option("--slots", type=click.IntRange(1), default=64, show_default=True, help="Sequences at once.")
@click.option("--chunk", type=click.IntRange(16), default=512, show_default=True, help="Prompt tokens read at once.")
@click.option(
    "--compile-ahead/--no-compile-ahead",
    "compiles_ahead",
    default=None,
    help="All programs before it is ready, so that no request waits for one; else on accelerators, not on a CPU.",
)
@click.option("--steps", type=click.IntRange(1, 64), default=1, show_default=True, help="Steps of one device call.")
def jax(**options: Any) -> None:
    """Serve FOLDER, a model in SafeTensors or as the registry's JAX checkpoint, as vLLM would.

    Continuous batching, prefixes found in other slots, log-probabilities, streams with usage. A pool takes it with
    `engine = "vllm"`. It needs the extra `jax`. On a GPU where vLLM or SGLang runs, those are faster.

    \b
    Examples:
      heterodyne jax models/smollm2-135m --precision fp32 --port 8001
      heterodyne jax --random-shape llama-3.1-8b --slots 64 --context 2048
    """
    given = JaxOptions(**options)
    if (given.folder is None) == (given.random_shape is None):
        raise InvalidSpec("give a folder or --random-shape, one of them")
    if importlib.util.find_spec("jax") is None:
        raise WeightsUnavailable("the JAX engine needs the extra `jax`: pip install 'heterodyne[jax]'")
    from heterodyne.assembly.jax_engine import run_jax_engine

    run_jax_engine(
        _order(given),
        folder=given.folder,
        random_shape=given.random_shape,
        precision=given.precision,
        host=given.host,
        port=given.port,
        compiles_ahead=given.compiles_ahead,
    )


def _order(given: JaxOptions) -> "JaxOrder":
    from heterodyne.jax_engine.server import JaxOrder

    folder = "" if given.folder is None else given.folder.resolve().name
    return JaxOrder(
        name=given.served_model or given.random_shape or folder,
        slots=given.slots,
        context_tokens=given.context,
        chunk_tokens=given.chunk,
        steps=given.steps,
    )
