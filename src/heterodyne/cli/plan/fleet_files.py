"""A plan as a fleet file, which `simulate` and `plan config` read."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heterodyne.cli.arguments.hub_cache import is_hub_id

if TYPE_CHECKING:
    from heterodyne.planning.hardware.ranking import HardwareRequirements, RankedHardware
    from heterodyne.simulator.fleet_file import FleetFile


def write_choice(file: Path, choice: "RankedHardware", requirements: "HardwareRequirements", word: str) -> None:
    """One pool: as many replicas of the choice as carry the rate."""
    from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool
    from heterodyne.simulator.fleet_text import pool_name
    from heterodyne.simulator.promise import Promise

    slo = requirements.slo
    pool = SimulatedPool(
        model=requirements.model.name,
        engine_model=engine_model(word),
        hardware=choice.accelerator,
        engine=choice.engine,
        tp=choice.tp,
        precision=requirements.precision,
        kv_precision=requirements.kv_precision,
        speculation=requirements.speculation,
        slowdown=choice.slowdown,
        replicas=choice.replicas,
        price_usd_per_hour=None if choice.price is None else choice.price.usd_per_hour * choice.tp,
    )
    promise = Promise(
        ttft_ms=slo.ttft_s * 1000,
        itl_ms=slo.itl_s * 1000,
        share=requirements.share,
        requests_per_s=requirements.requests_per_s,
        prompt_tokens=requirements.prompt_tokens,
        output_tokens=requirements.output_tokens,
    )
    write(file, FleetFile(pools={pool_name(f"{choice.accelerator} x{choice.tp}"): pool}, promise=promise))


def write(file: Path, fleet: "FleetFile") -> None:
    """Say so on stderr."""
    from heterodyne.simulator.fleet_text import write_fleet

    write_fleet(fleet, file)
    click.echo(f"wrote {file}", err=True)


def engine_model(word: str) -> str | None:
    """Where the shape of a model is to be found again; None for one that is built in."""
    from heterodyne.physics.model_shapes import is_known

    path = Path(word).expanduser()
    if path.exists():
        return str(path.resolve())
    return word if is_hub_id(word) and not is_known(word) else None
