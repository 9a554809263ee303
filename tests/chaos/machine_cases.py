"""What a machine does to a gateway: its disk, its files, its database file, its descriptors and its memory."""

import contextlib
import errno
import os
import resource
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.chaos.rig import Gateway, Reply, limited
from tests.chaos.seen import Case, Seen

FAILED = "heterodyne_telemetry_writes_failed_total"
BLOCK = bytes(1 << 16)
BIG = "x" * (24 << 20)


def disk_full(gateway: Gateway) -> Seen:
    before = gateway.metric(FAILED)
    gateway.wait(lambda: gateway.booked() == gateway.answered, "the books are up to date")
    with full_disk(gateway):
        gateway.wait(lambda: gateway.metric(FAILED) > before, "writes fail")
        during, change = gateway.ask(), gateway.create_key(gateway.project)
        assert (during.status, change.code) == (200, "store_unavailable"), (during, change)
        assert gateway.said("file_not_written")
    gateway.wait_well()
    gateway.wait(lambda: gateway.booked() == gateway.answered, "every request is in the books, once")
    return Seen(
        requests=str(during),
        changes=str(change),
        said=f"`file_not_written`, `{FAILED}`",
        after="well, every request in the books",
    )


def disk_full_and_a_worker_killed(gateway: Gateway) -> Seen:
    with full_disk(gateway):
        dead = gateway.worker
        os.kill(dead, signal.SIGKILL)
        gateway.wait(lambda: gateway.worker != dead, "a new worker")
        gateway.wait(lambda: gateway.ask().code == "store_unavailable", "it answers")
        during = gateway.ask()
        assert during.code == "store_unavailable", during
        assert b"write down" in during.body, during.body
        change = gateway.create_key(gateway.project)
        assert change.code == "store_unavailable", change
        assert gateway.said("no_slots_for_usage")
    gateway.wait_well()
    return Seen(
        requests=str(during),
        changes=str(change),
        said="`no_slots_for_usage`, and the answer",
        after="well",
    )


def disk_read_only(gateway: Gateway) -> Seen:
    before = gateway.metric(FAILED)
    inside = str(gateway.folder)
    gateway.nsenter("mount", "--bind", inside, inside)
    try:
        gateway.nsenter("mount", "-o", "remount,ro,bind", inside)
        gateway.wait(lambda: gateway.metric(FAILED) > before, "writes fail")
        during = gateway.ask()
        assert during.status == 200, during
        change = gateway.create_key(gateway.project)
    finally:
        gateway.nsenter("umount", inside)
    gateway.wait_well()
    return Seen(requests=str(during), changes=str(change), said=f"`file_not_written`, `{FAILED}`", after="well")


def temporary_folder_gone(gateway: Gateway) -> Seen:
    shutil.rmtree(gateway.folder.parent / "tmp")
    during, change = gateway.ask(), gateway.create_key(gateway.project)
    assert (during.status, change.status) == (200, 200)
    dead = gateway.worker
    os.kill(dead, signal.SIGKILL)
    gateway.wait(lambda: gateway.worker != dead, "a new worker")
    gateway.wait_well()
    return Seen(requests=str(during), changes=str(change), said="nothing: it is not used", after="well")


def run_folder_gone(gateway: Gateway) -> Seen:
    limited_key = gateway.issue("chaos/limited", requests_per_day=1000)
    for folder in (gateway.state / "run").iterdir():
        shutil.rmtree(folder)
    during, change = gateway.ask(), gateway.create_key(gateway.project)
    assert (during.status, change.status) == (200, 200), (during, change)
    dead = gateway.worker
    os.kill(dead, signal.SIGKILL)
    gateway.wait(lambda: gateway.worker != dead, "a new worker")
    gateway.wait_well()
    gateway.wait(lambda: gateway.ask(limited_key).status == 200, "it leases again")
    assert gateway.ask("hd-never").status == 401, "the new worker knows the keys"
    return Seen(requests=str(during), changes=str(change), said="nothing: it is made again", after="well")


def database_locked(gateway: Gateway) -> Seen:
    changes: list[Reply] = []
    changing = threading.Thread(target=lambda: changes.append(gateway.create_key(gateway.project)))
    with gateway.sql_process("BEGIN IMMEDIATE") as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"[]\n"
        changing.start()
        during, listed = gateway.ask(), gateway.admin("keys")
        assert (during.status, listed.status) == (200, 200)
        time.sleep(1.5)  # as long as somebody's backup
        assert not changes
        other.communicate(timeout=30)
    changing.join(30)
    assert changes[0].status == 200, changes
    gateway.wait_well()
    return Seen(
        requests=str(during), changes=f"{changes[0]}, when it is free", said="nothing within 10 s", after="well"
    )


def database_corrupt(gateway: Gateway) -> Seen:
    def damage(path: Path) -> None:
        _put(path, b"not a database any more " * 4096)

    return _database(gateway, damage, "well, when it is restored")


def database_away(gateway: Gateway) -> Seen:
    return _database(gateway, lambda path: path.unlink(), "well, when it is back")


def _database(gateway: Gateway, damage: Callable[[Path], None], after: str) -> Seen:
    path, backup = gateway.state / "heterodyne.db", gateway.state / "backup.db"
    gateway.sql(f"VACUUM INTO '{gateway.folder}/heterodyne/backup.db'")
    whole = backup.read_bytes()
    backup.unlink()
    damage(path)
    try:
        gateway.wait(lambda: gateway.create_key(gateway.project).status == 503, "changes are refused")
        change, during = gateway.create_key(gateway.project), gateway.ask()
        assert (during.status, change.code) == (200, "store_unavailable"), (during, change)
        assert gateway.ask("hd-never").status == 401, "nobody new is let in"
        gateway.wait(lambda: gateway.said("tenants_not_read", "usage_not_collected"), "it says so")
    finally:
        _put(path, whole)
    gateway.wait_well()
    gateway.wait(lambda: gateway.said("store_answers_again"), "books are kept again")
    return Seen(
        requests=str(during), changes=str(change), said="`tenants_not_read`, `usage_not_collected`", after=after
    )


def row_unreadable(gateway: Gateway) -> Seen:
    newer, bad = gateway.issue("chaos/newer"), gateway.issue("chaos/bad")
    gateway.sql(
        """UPDATE projects SET limits = '{"tokens_per_week":5}' WHERE id = 'chaos/newer'""",
        "UPDATE projects SET tier = 'platinum' WHERE id = 'chaos/bad'",
        "UPDATE tenants_version SET version = version + 1",
    )
    gateway.wait(lambda: gateway.ask(bad).status == 503, "the bad row's key is refused")
    refused, during = gateway.ask(bad), gateway.ask()
    assert (during.status, gateway.ask(newer).status, refused.code) == (200, 200, "store_unavailable")
    rows = {one["id"]: one for one in gateway.admin("projects").json["projects"]}
    assert "platinum" in rows["chaos/bad"]["problem"]
    assert rows["chaos/newer"]["unread"] == ["limits.tokens_per_week"]
    assert gateway.said("tenant_unreadable", "tenant_field_unknown")
    mended = gateway.admin("projects/update", {"id": "chaos/bad", "tier": "gold"})
    assert mended.status == 200, mended
    gateway.wait(lambda: gateway.ask(bad).status == 200, "it is read again")
    [[kept]] = gateway.sql("SELECT limits FROM projects WHERE id = 'chaos/newer'")
    assert kept == '{"tokens_per_week":5}'
    gateway.wait_well()
    said = "`tenant_unreadable`, `tenant_field_unknown`, listings"
    return Seen(
        requests=f"{during}; keys of the row {refused}", changes=str(mended), said=said, after="well, when it is mended"
    )


def workers_descriptors_exhausted(gateway: Gateway) -> Seen:
    worker = gateway.worker
    host, port = gateway.serve.url.removeprefix("http://").split(":")
    with contextlib.ExitStack() as stack:
        stack.enter_context(limited(worker, resource.RLIMIT_NOFILE, _free_descriptor(worker)))
        for _ in range(24):
            stack.enter_context(socket.create_connection((host, int(port)), timeout=5))
        during, change = gateway.ask(timeout_s=3.0), gateway.create_key(gateway.project)
        assert during.status in (0, 503), during
        assert change.status == 200, change
        assert gateway.worker == worker, "it lives"
    gateway.wait_well()
    assert gateway.worker == worker
    return Seen(requests=f"{during} to new connections", changes=str(change), said="to the client alone", after="well")


def supervisors_descriptors_exhausted(gateway: Gateway) -> Seen:
    supervisor, dead = gateway.serve.process.pid, gateway.worker
    with limited(supervisor, resource.RLIMIT_NOFILE, _free_descriptor(supervisor)):
        change, during = gateway.create_key(gateway.project, timeout_s=2.0), gateway.ask()
        assert during.status == 200, during
        assert change.status in (0, 503, 500), change
        os.kill(dead, signal.SIGKILL)
        gateway.wait(lambda: gateway.said("loop_failed"), "no process can be started")
    gateway.wait(lambda: gateway.worker != dead, "a new worker")
    gateway.wait_well()
    return Seen(
        requests=f"{during}, while its worker lives",
        changes=str(change),
        said="`loop_failed`",
        after="well, worker replaced",
    )


def memory_limit_hit(gateway: Gateway) -> Seen:
    worker = gateway.worker
    with limited(worker, resource.RLIMIT_AS, _mapped_bytes(worker) + (24 << 20)):
        big = gateway.ask(content=BIG, timeout_s=20.0)
        assert big.status != 200, big
        gateway.wait(lambda: gateway.ask().status == 200, "others are served")
        during, change = gateway.ask(), gateway.create_key(gateway.project)
    gateway.wait_well()
    how = "the same worker" if gateway.worker == worker else "worker replaced"
    return Seen(
        requests=f"{during}; one of 24 MiB {big}", changes=str(change), said="to the client alone", after=f"well, {how}"
    )


MACHINE = (
    Case(name="disk full", what="The state folder's disk has no byte left.", run=disk_full),
    Case(
        name="disk full and a worker killed",
        what="The same, and the worker is killed, so that a new one begins with no room for its slots.",
        run=disk_full_and_a_worker_killed,
    ),
    Case(name="disk read-only", what="Nothing under the state folder can be opened for writing.", run=disk_read_only),
    Case(name="temporary folder gone", what="`$TMPDIR` is removed, and the worker killed.", run=temporary_folder_gone),
    Case(
        name="run folder gone",
        what="The folder of files and sockets between processes is removed, and the worker killed.",
        run=run_folder_gone,
    ),
    Case(name="database locked", what="Another process holds SQLite's write lock.", run=database_locked),
    Case(name="database corrupt", what="The SQLite file is overwritten with other bytes.", run=database_corrupt),
    Case(name="database away", what="The SQLite file is deleted.", run=database_away),
    Case(
        name="row unreadable",
        what="A project has a limit that only a newer version knows, another a tier that no version knows.",
        run=row_unreadable,
    ),
    Case(
        name="worker out of descriptors",
        what="The worker may open no file or connection more.",
        run=workers_descriptors_exhausted,
    ),
    Case(
        name="supervisor out of descriptors",
        what="The supervisor may open none, and its worker is killed meanwhile.",
        run=supervisors_descriptors_exhausted,
    ),
    Case(
        name="memory limit hit",
        what="A request of 24 MiB finds no memory (`RLIMIT_AS`).",
        run=memory_limit_hit,
    ),
)


@contextmanager
def full_disk(gateway: Gateway) -> Iterator[None]:
    """A file that takes what is left, and what becomes free meanwhile."""
    filler, over = gateway.state / "filler", threading.Event()

    def fill() -> None:
        with filler.open("wb", buffering=0) as file:
            while not over.is_set():
                try:
                    file.write(BLOCK)
                except OSError as error:
                    assert error.errno == errno.ENOSPC  # noqa: PT017
                    is_full.set()
                    over.wait(0.002)

    is_full = threading.Event()
    filling = threading.Thread(target=fill)
    filling.start()
    try:
        assert is_full.wait(20)
        yield
    finally:
        over.set()
        filling.join(20)
        filler.unlink()


def _put(path: Path, content: bytes) -> None:
    """In one step, as a restored backup should be."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    draft = path.with_name("restored")
    draft.write_bytes(content)
    draft.chmod(0o600)
    draft.rename(path)


def _free_descriptor(pid: int) -> int:
    """The lowest that is free: with it for a limit no further one can be had."""
    taken = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
    return min(set(range(len(taken) + 1)) - taken)


def _mapped_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
