"""What a worker knows of the fleet, left in the run folder for the supervisor."""

from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.control.replica_seen import FleetSeen
from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.kv_seen import KvSeen
from heterodyne.gateway.demand_tally import DemandSeen
from heterodyne.rollout.arms_seen import ArmsSeen
from heterodyne.routing.health.snapshot import FleetHealthSnapshot
from heterodyne.telemetry import log
from heterodyne.telemetry.run_files import try_write

QUEUED_PROJECTS_MAX = 50  # in a view

_log = log.get("assembly")


class WorkerView(Struct, frozen=True, kw_only=True):
    """One worker at one moment."""

    name: str
    pid: int
    version: int  # of the fleet it works by: this is how it says that it has taken a change
    at_s: float  # on the machine's monotonic clock, which all processes share
    fleet: FleetSeen
    health: FleetHealthSnapshot
    in_flight: int
    in_flight_by_replica: dict[ReplicaId, int]
    rollouts: dict[str, ArmsSeen] = {}  # by id, what it has seen of both sides since it began
    queued_by_project: dict[str, int] = {}  # those that wait for their turn here, of the projects with the most
    demand: dict[str, DemandSeen] = {}  # by model, since it began; empty: no pool grows and shrinks
    kv: KvSeen | None = None  # None: no prompt is looked at


_decode = msgspec.msgpack.Decoder(WorkerView).decode


def write_view(run_dir: Path, view: WorkerView) -> None:
    """Write it where the supervisor looks; a disk that does not take it is logged, and the next view comes soon."""
    try_write(_path(run_dir, view.name), msgspec.msgpack.encode(view), "view")


class ViewReader:
    """Reads what workers have left, each view once, however often it is asked for."""

    def __init__(self, run_dir: Path) -> None:
        self._run_dir = run_dir
        self._read: dict[str, tuple[tuple[int, int], WorkerView]] = {}  # by worker, with the mark of its file

    def try_read(self, name: str) -> WorkerView | None:
        """The latest of a worker; None when it has not left one yet."""
        place = _path(self._run_dir, name)
        try:
            stat = place.stat()
            mark = (stat.st_ino, stat.st_mtime_ns)
            known = self._read.get(name)
            if known is None or known[0] != mark:
                # The file may be a newer one by now, which is then read once more.
                known = self._read[name] = (mark, _decode(place.read_bytes()))
        except FileNotFoundError:
            self._read.pop(name, None)
            return None
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("view_not_read", worker=name, error=str(error))
            known = self._read.get(name)
            return None if known is None else known[1]
        return known[1]


def remove_view(run_dir: Path, name: str) -> None:
    """The worker is gone, and what it knew with it."""
    try:
        _path(run_dir, name).unlink(missing_ok=True)
    except OSError as error:
        _log.warning("view_not_removed", worker=name, error=str(error))  # by its pid it is not taken for a successor's


def _path(run_dir: Path, name: str) -> Path:
    return run_dir / f"{name}.view"
