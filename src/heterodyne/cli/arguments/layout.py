"""The options that lay one model out on chips under one engine, for every command that asks about such a layout."""

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from heterodyne.physics.memory import Layout

CONTEXT_TOKENS = 8192  # of a sequence when no option gives another

P = ParamSpec("P")
R = TypeVar("R")
Member = TypeVar("Member", bound=StrEnum)

OPTIONS = (
    click.option(
        "--model", required=True, metavar="MODEL", help="A built-in name, a hub id, a config.json or a .gguf file."
    ),
    click.option(
        "--hardware", required=True, metavar="CHIP", help="An accelerator, as `heterodyne hardware list` has it."
    ),
    click.option(
        "--precision", metavar="FORMAT", help="Of the weights, for example fp8; else what the model comes in."
    ),
    click.option("--kv-precision", metavar="FORMAT", default="bf16", show_default=True, help="Of keys and values."),
    click.option("--tp", type=int, default=1, show_default=True, metavar="N", help="Chips the model is split over."),
    click.option("--engine", default="vllm", show_default=True, metavar="ENGINE", help="The program that runs it."),
)


def layout_options(command: Callable[P, R]) -> Callable[P, R]:
    """Give a command all of them."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def layout_from(
    *,
    model: str,
    hardware: str,
    precision: str | None,
    kv_precision: str,
    tp: int,
    engine: str,
    memory_fraction: float | None = None,
    slots: int | None = None,
) -> "Layout":
    """The layout of the options, with the accelerators of this invocation; raises with the nearest names."""
    from heterodyne.cli.arguments.catalogue import catalogue
    from heterodyne.cli.arguments.model import model_from
    from heterodyne.physics.catalogue import accelerator
    from heterodyne.physics.engine_kind import EngineKind
    from heterodyne.physics.memory import Layout
    from heterodyne.physics.precision import Precision

    spec = model_from(model)
    return Layout(
        model=spec,
        accelerator=accelerator(hardware, catalogue()),
        precision=spec.checkpoint_precision if precision is None else member(Precision, "precision", precision),
        kv_precision=member(Precision, "precision", kv_precision),
        tp=tp,
        engine=member(EngineKind, "engine", engine),
        memory_fraction=memory_fraction,
        slots=slots,
    )


def member(kind: type[Member], word_for_it: str, word: str) -> Member:
    """The member, or an error that names the nearest one."""
    from heterodyne.domain.nearest import unknown_name

    if word.lower() not in list(kind):
        raise unknown_name(word_for_it, word, list(kind))
    return kind(word.lower())
