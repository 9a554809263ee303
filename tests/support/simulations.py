"""Small fleets and logs for the simulator."""

from pathlib import Path

from heterodyne.physics.serving import Slo
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.fleet import LaidOutPool, lay_out
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool
from heterodyne.simulator.report import SimulationReport, report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload

SLO = Slo(ttft_s=1.0, itl_s=0.05)


def pools(**fields: object) -> tuple[LaidOutPool, ...]:
    """One pool of Llama 8B on H100s, unless said otherwise."""
    said = {"model": "llama-3.1-8b", "hardware": "h100-sxm", **fields}
    return lay_out(FleetFile(pools={"only": SimulatedPool(**said)}, left_out=()))  # type: ignore[arg-type]


def log(count: int, gap_s: float = 0.05, **fields: object) -> list[TraceRequest]:
    """Requests of many lengths at an even pace."""
    return [
        TraceRequest(
            at_s=100.0 + gap_s * number,
            prompt_tokens=50 + 37 * number % 900,
            output_tokens=1 + 53 * number % 200,
            **fields,  # type: ignore[arg-type]
        )
        for number in range(count)
    ]


def simulate(
    fleet: tuple[LaidOutPool, ...], arrivals: list[TraceRequest], policy: str = "slo", seed: int = 7
) -> SimulationReport:
    """One run and its report."""
    trial = Trial(policy=policy, seed=seed, slo=SLO)
    return report(run(fleet, workload(arrivals), trial), trial)


def write_fleet(folder: Path, text: str) -> Path:
    """A fleet file of this text."""
    file = folder / "fleet.toml"
    file.write_text(text, encoding="utf-8")
    return file
