"""What workers leave for the supervisor, and how it is read."""

from pathlib import Path

from msgspec.structs import replace

from heterodyne.control.replica_seen import FleetSeen
from heterodyne.routing.health.snapshot import FleetHealthSnapshot
from heterodyne.supervisor.workers.view import ViewReader, WorkerView, remove_view, write_view

VIEW = WorkerView(
    name="worker-0",
    pid=1,
    version=1,
    at_s=0.0,
    fleet=FleetSeen(version=1, interval_s=1.0, replicas=()),
    health=FleetHealthSnapshot(models=(), replicas=(), ejections_refused={}),
    in_flight=0,
    in_flight_by_replica={},
)


def test_the_latest_view_is_read_and_each_only_once(tmp_path: Path) -> None:
    reader = ViewReader(tmp_path)
    assert reader.try_read("worker-0") is None
    write_view(tmp_path, VIEW)
    first = reader.try_read("worker-0")
    assert first == VIEW
    assert reader.try_read("worker-0") is first
    for version in range(2, 20):
        write_view(tmp_path, replace(VIEW, version=version))
        read = reader.try_read("worker-0")
        assert read is not None
        assert read.version == version


def test_a_worker_that_is_gone_has_no_view(tmp_path: Path) -> None:
    reader = ViewReader(tmp_path)
    write_view(tmp_path, VIEW)
    assert reader.try_read("worker-0") is not None
    remove_view(tmp_path, "worker-0")
    assert reader.try_read("worker-0") is None
