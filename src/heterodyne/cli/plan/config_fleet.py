"""`plan config --fleet`: every pool of a planned fleet as a launch with manifests, and the settings to route to it."""

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from heterodyne.domain.counted import counted
from heterodyne.domain.errors import InvalidSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heterodyne.physics.hardware import Accelerator
    from heterodyne.planning.launch.requirements import LaunchRequirements
    from heterodyne.planning.traffic.request_shape import RequestShape
    from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool

SETTINGS = "settings.toml"


def fleet_requirements(
    file: Path, chips: "Mapping[str, Accelerator]", *, usual_context: int | None
) -> "tuple[FleetFile, dict[str, LaunchRequirements]]":
    """What each pool is launched for: the promise of the file, or else that of the interactive class."""
    from heterodyne.config.settings import NAMED, SECTIONS
    from heterodyne.simulator.fleet_file import read_fleet

    fleet = read_fleet(file, tables=(*SECTIONS, *NAMED))
    return fleet, {name: _requirements(name, pool, fleet, chips, usual_context) for name, pool in fleet.pools.items()}


def _requirements(
    name: str,
    pool: "SimulatedPool",
    fleet: "FleetFile",
    chips: "Mapping[str, Accelerator]",
    usual_context: int | None,
) -> "LaunchRequirements":
    from heterodyne.cli.arguments.model import model_from
    from heterodyne.physics.catalogue import accelerator
    from heterodyne.planning.launch.requirements import LaunchRequirements
    from heterodyne.planning.workload_class import WorkloadClass

    spec = model_from(pool.shape or pool.engine_model or pool.model)
    wanted = LaunchRequirements(
        model=structs.replace(spec, name=pool.model) if pool.engine_model is None else spec,
        accelerator=accelerator(pool.hardware, chips),
        workload=WorkloadClass.INTERACTIVE,
        precision=pool.precision or spec.checkpoint_precision,
        engine=pool.engine,
        tp=pool.tp,
        context_tokens=pool.context_tokens,
        usual_tokens=usual_context,
        name=name,
    )
    promise = fleet.promise
    if promise is None:
        return wanted
    return structs.replace(wanted, slo=promise.slo, share=promise.share, request=_request(fleet))


def _request(fleet: "FleetFile") -> "RequestShape | None":
    from heterodyne.planning.traffic.request_shape import RequestShape

    promise = fleet.promise
    if promise is None or promise.prompt_tokens is None or promise.output_tokens is None:
        return None
    return RequestShape(prompt_tokens=promise.prompt_tokens, output_tokens=promise.output_tokens)


def settings_text(fleet: "FleetFile", entries: "Mapping[str, str]") -> str:
    """The pools, and what their models promise, for the settings of a gateway."""
    lines = []
    if fleet.promise is not None:
        for model in dict.fromkeys(pool.model for pool in fleet.pools.values()):
            lines += [
                f'[models."{model}"]',
                f"slo_ttft_ms = {fleet.promise.ttft_ms:g}",
                f"slo_itl_ms = {fleet.promise.itl_ms:g}",
                "",
            ]
    for name, entry in entries.items():
        pool = fleet.pools[name]
        lines.append(f"# {counted(pool.replicas, 'replica')}: name each under urls")
        priced = [] if pool.price_usd_per_hour is None else [f"price_usd_per_hour = {pool.price_usd_per_hour:g}"]
        lines += [entry.rstrip(), *priced, ""]
    return "\n".join(lines)


def check_alone(model: str | None, hardware: str | None) -> None:
    """A fleet file says both."""
    if model is not None or hardware is not None:
        raise InvalidSpec("--fleet: the file names models and hardware; leave --model and --hardware out")
