"""What a worker knows of the fleet, left in the run folder for the supervisor."""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.control.replica_seen import FleetSeen
from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.standing.snapshot import FleetStandingSnapshot


class WorkerView(Struct, frozen=True, kw_only=True):
    """One worker at one moment."""

    name: str
    pid: int
    version: int  # of the fleet it works by: this is how it says that it has taken a change
    at_s: float  # on the machine's monotonic clock, which all processes share
    fleet: FleetSeen
    standing: FleetStandingSnapshot
    in_flight: int
    in_flight_by_replica: dict[ReplicaId, int]


_decode = msgspec.msgpack.Decoder(WorkerView).decode


def leave_view(run_dir: Path, view: WorkerView) -> None:
    """Write it where the supervisor looks."""
    temporary = run_dir / f".{view.name}.view.{os.getpid()}"
    temporary.write_bytes(msgspec.msgpack.encode(view))
    temporary.replace(_place(run_dir, view.name))


def try_read_view(run_dir: Path, name: str) -> WorkerView | None:
    """The latest of a worker; None when it has not left one yet."""
    try:
        return _decode(_place(run_dir, name).read_bytes())
    except FileNotFoundError:
        return None


def forget_view(run_dir: Path, name: str) -> None:
    """The worker is gone, and what it knew with it."""
    _place(run_dir, name).unlink(missing_ok=True)


def _place(run_dir: Path, name: str) -> Path:
    return run_dir / f"{name}.view"
