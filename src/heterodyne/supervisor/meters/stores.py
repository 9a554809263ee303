"""What the supervisor counts, left in the run folder where workers find it when they are asked for /metrics."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from heterodyne.audit.audit_writer import AuditWriterState
from heterodyne.books.collector import CollectorState
from heterodyne.telemetry import exposition, log, metrics
from heterodyne.telemetry.loops import run_periodically
from heterodyne.telemetry.meters import Meter, Sample

NAME = "office"
INTERVAL_S = 1.0

_log = log.get("assembly")


OWN = (
    metrics.writes_failed,
    metrics.loop_failures,
    metrics.sign_ins_failed,
    metrics.abuse_findings,
    metrics.abuse_keys,
    metrics.certificate_ends,
    metrics.leader,
    metrics.reloads,
    metrics.settings_info,
    metrics.settings_apart,
    metrics.reports_malformed,
    metrics.scaling_steps,
    metrics.scaling_needed,
    metrics.scaling_carried,
    metrics.scaling_short,
    metrics.scaling_most,
    metrics.scaling_paused,
    metrics.scaling_driver_away,
    metrics.scaling_wanted,
    metrics.scaling_cold_start,
    metrics.discovery_heard,
    metrics.discovery_problems,
    metrics.replicas_told,
)

FleetSamples = Callable[[], Sequence[Sample]]  # what is measured of the fleet, as of now


async def write_meters(
    run_dir: Path,
    books: Callable[[], CollectorState | None],
    audit: Callable[[], AuditWriterState | None],
    fleet: FleetSamples,
) -> None:
    """Until cancelled."""

    async def leave() -> None:
        own = exposition.own_samples(OWN)
        samples = [*own, *books_samples(books()), *audit_samples(audit()), *_rooted(fleet)]
        await asyncio.to_thread(exposition.write_samples, run_dir, NAME, samples)

    await run_periodically("meters", leave, INTERVAL_S)


def books_samples(state: CollectorState | None) -> list[Sample]:
    """Nothing where no books are kept."""
    if state is None:
        return []
    return [
        _one(metrics.books_collected, state.collected),
        _one(metrics.books_repeated, state.repeated),
        _one(metrics.books_recovered, state.recovered),
        _one(metrics.books_damaged, state.damaged),
        _one(metrics.books_backlog, state.backlog_bytes),
        _one(metrics.books_backlog_max, state.backlog_bytes_max),
        _one(metrics.books_stalled, state.problem is not None),
    ]


def audit_samples(state: AuditWriterState | None) -> list[Sample]:
    """One zero where another process writes the log, or none can."""
    if state is None:
        return [_one(metrics.audit_writing, 0)]
    return [
        _one(metrics.audit_writing, 1),
        _one(metrics.audit_entries, state.state.seq),
        _one(metrics.audit_collected, state.collected),
        _one(metrics.audit_failures, state.failures),
        _one(metrics.audit_stalled, state.failure is not None),
    ]


def _rooted(fleet: FleetSamples) -> Sequence[Sample]:
    """The root of what is asked of others: our mistake there must not cost the rest of the page."""
    try:
        return fleet()
    except Exception as error:  # noqa: BLE001
        _log.error("fleet_meters_failed", exc_info=error)
        return ()


def _one(meter: Meter, value: float) -> Sample:
    return Sample(meter.name, (), [float(value)])
