"""A worker's spool and its collection: nothing twice, nothing lost that was spooled, and no silence about the rest."""

import errno
import os
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from heterodyne.audit.collect import collect
from heterodyne.audit.key import AuditKey, ContentKey
from heterodyne.audit.log import AuditLog
from heterodyne.audit.search import AuditQuery, search
from heterodyne.audit.settings import AuditSettings
from heterodyne.audit.spool import AuditSpool
from heterodyne.audit.spool_file import create_spool, frame, records
from heterodyne.audit.verify import verify
from heterodyne.domain.audit import AuditEntry, Content, GapEntry, RecoveredEntry, RequestEntry
from heterodyne.domain.errors import StoreUnavailable
from tests.support.audits import SMALL, request_entry

SETTINGS = AuditSettings(fsync=False)
SECRET = ContentKey(b"s" * 32)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.005)


def entries(folder: Path, key: AuditKey) -> list[AuditEntry]:
    found: list[AuditEntry] = []
    assert search(folder, key, AuditQuery(), lambda one: found.append(one.entry)).is_intact
    return found


def request_ids(folder: Path, key: AuditKey) -> list[str]:
    return [entry.id for entry in entries(folder, key) if isinstance(entry, RequestEntry)]


@pytest.fixture
def spools(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture
def log(tmp_path: Path, key: AuditKey) -> AuditLog:
    return AuditLog(tmp_path / "audit", key, SMALL)


def test_what_is_written_arrives_in_order_with_its_hashes(spools: Path, log: AuditLog, key: AuditKey) -> None:
    spool = AuditSpool(spools, "worker-0", SECRET, SETTINGS)
    blank = msgspec.structs.replace(request_entry(1), prompt_hmac="", answer_hmac="")
    spool.write(blank, Content(prompt=b"ask", answer=[b"an", b"swer"], answer_bytes=6))
    for number in range(2, 60):
        spool.write(request_entry(number))
    spool.close()
    assert collect(spools, log) == 59
    log.close()
    folder = spools.parent / "audit"
    assert request_ids(folder, key) == [f"request-{number}" for number in range(1, 60)]
    first = next(one for one in entries(folder, key) if isinstance(one, RequestEntry))
    assert first.prompt_hmac == SECRET.hmac("acme/search", "prompt", (b"ask",))
    assert first.answer_hmac == SECRET.hmac("acme/search", "answer", (b"answer",))
    assert first.prompt is None
    assert list(spools.iterdir()) == [], "a spool that is read and whose writer is gone is removed"


def test_kept_content_is_redacted_and_has_no_hash(spools: Path, log: AuditLog, key: AuditKey) -> None:
    spool = AuditSpool(spools, "worker-0", SECRET, SETTINGS)
    blank = msgspec.structs.replace(request_entry(1), prompt_hmac="", answer_hmac="")
    body = b'{"messages":[{"role":"user","content":"I am bob@example.com"}]}'
    spool.write(blank, Content(prompt=body, answer=(b'{"text":"hi bob@example.com"}',), answer_bytes=29, is_kept=True))
    spool.close()
    collect(spools, log)
    log.close()
    (entry,) = [one for one in entries(spools.parent / "audit", key) if isinstance(one, RequestEntry)]
    assert entry.prompt == '{"messages":[{"role":"user","content":"I am [email]"}]}'
    assert entry.answer == '{"text":"hi [email]"}'
    assert entry.prompt_hmac == entry.answer_hmac == ""


def test_content_is_not_in_what_it_shows_of_itself() -> None:
    content = Content(prompt=b"my secret", answer=[b"your secret"], answer_bytes=11)
    assert repr(content) == "Content(9 bytes asked, 11 answered)"


def test_a_spool_is_read_while_its_writer_writes(spools: Path, log: AuditLog, key: AuditKey) -> None:
    spool = AuditSpool(spools, "worker-0", SECRET, SETTINGS)
    spool.write(request_entry(1))
    wait_until(lambda: spool.snapshot().spooled == 1)
    assert collect(spools, log) == 1
    assert collect(spools, log) == 0
    assert len(list(spools.iterdir())) == 1, "the writer is there"
    spool.write(request_entry(2))
    spool.close()
    assert collect(spools, log) == 1
    log.close()
    assert request_ids(spools.parent / "audit", key) == ["request-1", "request-2"]


def test_a_torn_record_waits_for_its_writer(spools: Path, log: AuditLog) -> None:
    spools.mkdir()
    path, descriptor = create_spool(spools, "worker-0", 0)
    whole = frame(request_entry(1)) + frame(request_entry(2))
    os.write(descriptor, whole[:-5])
    assert collect(spools, log) == 1
    assert collect(spools, log) == 0
    os.write(descriptor, whole[-5:])
    assert collect(spools, log) == 1
    assert path.exists()
    os.close(descriptor)
    collect(spools, log)
    assert not path.exists()


def test_a_torn_record_of_a_dead_writer_is_told_of(spools: Path, log: AuditLog, key: AuditKey) -> None:
    spools.mkdir()
    path, descriptor = create_spool(spools, "worker-0", 0)
    os.write(descriptor, frame(request_entry(1)) + frame(request_entry(2))[:30])
    os.close(descriptor)
    collect(spools, log)
    log.close()
    assert not path.exists()
    assert entries(spools.parent / "audit", key)[-1] == RecoveredEntry(file=path.name, cut_bytes=30)


def test_a_crash_between_collecting_and_removing_brings_nothing_twice(
    spools: Path, log: AuditLog, key: AuditKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    spools.mkdir()
    path, descriptor = create_spool(spools, "worker-0", 0)
    os.write(descriptor, b"".join(frame(request_entry(number)) for number in range(1, 30)) + b"torn")
    os.close(descriptor)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            collect(spools, log)
    log.close()
    folder = spools.parent / "audit"
    assert path.exists()
    again = AuditLog(folder, key, SMALL)
    for number in range(100, 120):  # into further segments, whose beginnings carry the account on
        again.append([request_entry(number)])
    again.close()
    third = AuditLog(folder, key, SMALL)
    assert third.snapshot().segment > 2
    assert collect(spools, third) == 0
    third.close()
    assert not path.exists()
    expected = [f"request-{number}" for number in (*range(1, 30), *range(100, 120))]
    assert request_ids(folder, key) == expected
    assert sum(isinstance(entry, RecoveredEntry) for entry in entries(folder, key)) == 1


def test_a_batch_that_was_half_written_is_collected_from_where_it_ends(
    spools: Path, log: AuditLog, key: AuditKey
) -> None:
    """As after a kill in the middle of a write: whole lines count, the torn one is read from the spool again."""
    spools.mkdir()
    _, descriptor = create_spool(spools, "worker-0", 0)
    os.write(descriptor, b"".join(frame(request_entry(number)) for number in range(1, 6)))
    folder = spools.parent / "audit"
    head = (folder / "head").read_bytes()
    collect(spools, log)
    log.close()
    (segment,) = folder.glob("*.jsonl")
    segment.write_bytes(segment.read_bytes()[:-100])
    (folder / "head").write_bytes(head)
    again = AuditLog(folder, key, SMALL)
    assert collect(spools, again) == 1
    again.close()
    os.close(descriptor)
    assert request_ids(folder, key) == [f"request-{number}" for number in range(1, 6)]


def test_no_account_is_kept_of_spools_that_are_gone(spools: Path, log: AuditLog) -> None:
    spool = AuditSpool(spools, "worker-0", SECRET, SETTINGS)
    spool.write(request_entry(1))
    spool.close()
    (name,) = (path.name for path in spools.iterdir())
    collect(spools, log)
    assert log.collected(name) > 0
    collect(spools, log)
    assert log.collected(name) == 0


def test_a_folder_without_spools_is_collected_in_peace(tmp_path: Path, log: AuditLog) -> None:
    assert collect(tmp_path / "none", log) == 0


def test_garbage_is_no_record() -> None:
    good = frame(request_entry(1))
    flipped = bytearray(good)
    flipped[20] ^= 1
    assert list(records(bytes(flipped))) == []
    assert [end for _, end in records(good + bytes(flipped))] == [len(good)]
    assert list(records(b"\xff" * 100)) == []


def failing_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A disk that takes half of what it is given; the answer mends it."""
    real = os.write

    def half(descriptor: int, data: bytes) -> int:
        real(descriptor, bytes(data)[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("heterodyne.audit.spool.os.write", half)
    return lambda: monkeypatch.setattr("heterodyne.audit.spool.os.write", real)


def test_a_full_disk_blocks_the_door_and_loses_nothing_once_there_is_room(
    spools: Path, log: AuditLog, key: AuditKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = AuditSpool(spools, "worker-0", SECRET, SETTINGS)
    assert not spool.is_blocked
    mend = failing_disk(monkeypatch)
    spool.write(request_entry(1))
    wait_until(lambda: spool.is_blocked)
    for number in range(2, 10):
        spool.write(request_entry(number))
    assert spool.snapshot().spooled == 0
    mend()
    wait_until(lambda: not spool.is_blocked)
    spool.close()
    collect(spools, log)
    log.close()
    assert request_ids(spools.parent / "audit", key) == [f"request-{number}" for number in range(1, 10)]


def test_requests_that_were_dropped_are_counted_in_the_log(
    spools: Path, log: AuditLog, key: AuditKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = AuditSettings(fsync=False, when_full="drop", queue_entries_max=16)
    spool = AuditSpool(spools, "worker-0", SECRET, settings, clock=lambda: 5.0)
    mend = failing_disk(monkeypatch)
    spool.write(request_entry(0))
    wait_until(lambda: spool.snapshot().is_failing)
    for number in range(1, 31):
        spool.write(request_entry(number))
    assert not spool.is_blocked, "the settings say that requests go on"
    assert spool.snapshot().dropped == 14
    mend()
    spool.close()
    collect(spools, log)
    log.close()
    folder = spools.parent / "audit"
    assert request_ids(folder, key) == [f"request-{number}" for number in range(17)]
    assert GapEntry(at=5.0, worker="worker-0", requests=14) in entries(folder, key)


def test_the_door_is_blocked_before_the_queue_is_full(spools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heterodyne.audit.spool.FLUSH_INTERVAL_S", 3600.0)
    spool = AuditSpool(spools, "worker-0", SECRET, AuditSettings(fsync=False, queue_entries_max=16))
    for number in range(12):
        spool.write(request_entry(number))
    assert not spool.is_blocked
    spool.write(request_entry(12))
    assert spool.is_blocked
    for number in range(13, 16):
        spool.write(request_entry(number))
    assert spool.snapshot().dropped == 0, "those that were running have their entries"
    spool.close()


def test_the_queue_is_bounded_in_bytes_too(spools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heterodyne.audit.spool.FLUSH_INTERVAL_S", 3600.0)
    spool = AuditSpool(spools, "worker-0", SECRET, AuditSettings(fsync=False, queue_bytes_max=100_000))
    large = Content(prompt=b"x" * 200_000)
    spool.write(request_entry(1), large)
    assert spool.snapshot().queued == 1, "one is taken whatever its size"
    assert spool.is_blocked
    spool.write(request_entry(2))
    assert spool.snapshot().dropped == 1
    spool.close()
    assert spool.snapshot().queued_bytes == 0


def test_a_spool_that_nobody_collects_is_bounded(spools: Path, log: AuditLog) -> None:
    settings = AuditSettings(fsync=False, spool_bytes_max=65536)
    spool = AuditSpool(spools, "worker-0", SECRET, settings)
    number = 0
    while not spool.is_blocked:
        for _ in range(20):
            spool.write(request_entry(number))
            number += 1
        wait_until(lambda: spool.snapshot().queued == 0 or spool.is_blocked)
    assert sum(path.stat().st_size for path in spools.iterdir()) <= 65536
    collect(spools, log)
    wait_until(lambda: not spool.is_blocked)
    spool.close()
    assert spool.snapshot().dropped == 0
    assert spool.snapshot().spooled == number


def test_a_mistake_of_ours_costs_one_entry_and_is_counted(
    spools: Path, log: AuditLog, key: AuditKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*_: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr("heterodyne.audit.spool.kept_body", wrong)
    spool = AuditSpool(spools, "worker-0", SECRET, SETTINGS)
    spool.write(request_entry(1))
    spool.write(request_entry(2), Content(prompt=b"", is_kept=True))
    spool.write(request_entry(3))
    wait_until(lambda: spool.snapshot().spooled == 3)
    spool.close()
    collect(spools, log)
    log.close()
    folder = spools.parent / "audit"
    assert request_ids(folder, key) == ["request-1", "request-3"]
    assert [entry.requests for entry in entries(folder, key) if isinstance(entry, GapEntry)] == [1]


def test_what_a_client_calls_a_model_is_cut(spools: Path, log: AuditLog, key: AuditKey) -> None:
    spool = AuditSpool(spools, "worker-0", SECRET, SETTINGS)
    spool.write(msgspec.structs.replace(request_entry(1), asked_model="m" * 1_000_000))
    spool.close()
    collect(spools, log)
    log.close()
    (entry,) = [one for one in entries(spools.parent / "audit", key) if isinstance(one, RequestEntry)]
    assert entry.asked_model == "m" * 256


def test_a_full_log_leaves_the_spool_as_it_is(
    spools: Path, log: AuditLog, key: AuditKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = AuditSpool(spools, "worker-0", SECRET, SETTINGS)
    spool.write(request_entry(1))
    spool.close()

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("heterodyne.audit.log.os.write", full)
        with pytest.raises(StoreUnavailable):
            collect(spools, log)
    assert collect(spools, log) == 1
    log.close()
    assert verify(spools.parent / "audit", key).is_intact


def test_an_entry_that_this_version_cannot_read_holds_up_its_own_file_alone(
    spools: Path, log: AuditLog, key: AuditKey
) -> None:
    spools.mkdir()
    newer = msgspec.msgpack.encode({"type": "dream", "of": "a newer gateway"})
    path, descriptor = create_spool(spools, "a-newer", 1)
    os.write(descriptor, struct.pack("<II", len(newer), zlib.crc32(newer)) + newer)
    os.close(descriptor)
    spool = AuditSpool(spools, "worker-0", SECRET, SETTINGS)
    spool.write(request_entry(1))
    spool.close()
    with pytest.raises(StoreUnavailable, match=path.name):
        collect(spools, log)
    log.close()
    assert request_ids(spools.parent / "audit", key) == ["request-1"]
    assert list(spools.iterdir()) == [path], "nothing is thrown away that a newer version can read"
