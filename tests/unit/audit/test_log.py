"""The writer: what it finds when it opens, what it keeps when it is interrupted, what it refuses."""

import errno
import os
import threading
from pathlib import Path

import msgspec
import pytest

from heterodyne.audit.anchor import AnchorFile, make_anchor
from heterodyne.audit.finding import Damage
from heterodyne.audit.key import AuditKey
from heterodyne.audit.line import AuditLine, try_read_line
from heterodyne.audit.log import AuditLog
from heterodyne.audit.segments import list_segments, segment_path
from heterodyne.audit.verify import verify
from heterodyne.domain.audit import ChangeEntry, RecoveredEntry, StartEntry
from heterodyne.domain.errors import AuditBroken, InvalidField, StoreInvalid, StoreUnavailable
from tests.support.audits import SMALL, append, fill, lines_of, request_entry, write_lines


def read(key: AuditKey, raw: bytes) -> AuditLine:
    line = try_read_line(key, raw)
    assert line is not None
    return line


def last_line(folder: Path, key: AuditKey) -> AuditLine:
    return read(key, lines_of(folder, list_segments(folder)[-1].number)[-1])


def test_each_line_names_the_hash_of_the_one_before_across_segments(folder: Path, key: AuditKey) -> None:
    lines = [read(key, raw) for segment in list_segments(folder) for raw in lines_of(folder, segment.number)]
    assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
    assert [line.previous for line in lines] == ["0" * 64, *(line.hash for line in lines[:-1])]


def test_each_segment_begins_with_its_number_and_the_log_it_belongs_to(folder: Path, key: AuditKey) -> None:
    starts = [read(key, lines_of(folder, segment.number)[0]).decoded() for segment in list_segments(folder)]
    assert all(isinstance(start, StartEntry) for start in starts)
    assert [start.segment for start in starts if isinstance(start, StartEntry)] == list(range(1, len(starts) + 1))
    assert len({start.log for start in starts if isinstance(start, StartEntry)}) == 1


def test_a_reopened_log_goes_on_where_it_ended(folder: Path, key: AuditKey) -> None:
    seq = verify(folder, key).last_seq
    append(folder, key, ChangeEntry(at=1.0, who="k_operator", what="keys.revoke", subject="k_1"))
    assert last_line(folder, key).seq == seq + 1
    assert verify(folder, key).is_intact


def test_a_torn_last_line_is_cut_off_and_the_log_says_so(folder: Path, key: AuditKey) -> None:
    last = list_segments(folder)[-1]
    with last.path.open("ab") as file:
        file.write(b'{"seq":99,"at":17')
    assert verify(folder, key).unfinished_bytes == 17
    assert verify(folder, key).is_intact
    AuditLog(folder, key, SMALL).close()
    assert last_line(folder, key).decoded() == RecoveredEntry(file=last.name, cut_bytes=17)
    assert verify(folder, key).is_intact


@pytest.mark.parametrize("torn", [b"", b'{"seq":'])
def test_a_crash_while_a_segment_begins_leaves_a_segment_that_begins(folder: Path, key: AuditKey, torn: bytes) -> None:
    number = list_segments(folder)[-1].number + 1
    segment_path(folder, number).write_bytes(torn)
    append(folder, key, request_entry(1))
    start = read(key, lines_of(folder, number)[0]).decoded()
    assert isinstance(start, StartEntry)
    assert start.segment == number
    assert verify(folder, key).is_intact


def test_whole_lines_after_the_head_are_kept(folder: Path, key: AuditKey) -> None:
    head = (folder / "head").read_bytes()
    fill(folder, key, 1, first=23)
    seq = verify(folder, key).last_seq
    (folder / "head").write_bytes(head)
    append(folder, key, request_entry(24))
    verdict = verify(folder, key)
    assert verdict.is_intact
    assert verdict.last_seq == seq + 1
    assert verdict.after_head == 0


def test_nothing_is_added_to_a_broken_log(folder: Path, key: AuditKey) -> None:
    last = list_segments(folder)[-1]
    lines = lines_of(folder, last.number)
    write_lines(folder, lines[:-1], last.number)
    before = last.path.read_bytes()
    with pytest.raises(AuditBroken, match=rf"{last.name}:{len(lines)}: entry [0-9]+ truncated") as caught:
        AuditLog(folder, key, SMALL)
    assert "heterodyne audit resume" in str(caught.value)
    assert last.path.read_bytes() == before


def test_a_torn_line_that_was_acknowledged_is_a_break_not_a_crash(folder: Path, key: AuditKey) -> None:
    last = list_segments(folder)[-1]
    last.path.write_bytes(last.path.read_bytes()[:-10])
    with pytest.raises(AuditBroken, match="truncated"):
        AuditLog(folder, key, SMALL)


@pytest.mark.parametrize("tampering", ["edit", "truncate", "head", "everything"])
def test_after_a_break_a_new_segment_records_it_and_the_log_can_be_opened_again(
    folder: Path, key: AuditKey, tampering: str
) -> None:
    last = list_segments(folder)[-1]
    seq = verify(folder, key).last_seq
    lines = lines_of(folder, last.number)
    if tampering == "edit":
        write_lines(folder, [lines[0], b"{}\n", *lines[2:]], last.number)
    elif tampering == "truncate":
        write_lines(folder, lines[:2], last.number)
    elif tampering == "head":
        (folder / "head").unlink()
    else:
        for segment in list_segments(folder):
            segment.path.unlink()
    broken = verify(folder, key)
    AuditLog(folder, key, SMALL, after_break=True).close()
    append(folder, key, request_entry(100))
    append(folder, key, request_entry(101))
    resumed = list_segments(folder)[-1]
    start = read(key, lines_of(folder, resumed.number)[0])
    entry = start.decoded()
    assert isinstance(entry, StartEntry)
    assert entry.after_break == str(broken.findings[0])
    assert start.seq == seq + 1, "numbers are not given twice"
    after = verify(folder, key)
    if tampering != "head":  # a head that is back says nothing of the time without one
        assert not after.is_intact, "what was wrong stays wrong"
    assert after.unacknowledged == 0
    if resumed.number > 1:
        assert verify(folder, key, from_segment=resumed.number).is_intact


def test_a_second_break_is_refused_again(folder: Path, key: AuditKey) -> None:
    (folder / "head").unlink()
    AuditLog(folder, key, SMALL, after_break=True).close()
    (folder / "head").unlink()
    with pytest.raises(AuditBroken, match="head"):
        AuditLog(folder, key, SMALL)


def test_a_log_has_one_writer(folder: Path, key: AuditKey) -> None:
    log = AuditLog(folder, key, SMALL)
    with pytest.raises(StoreInvalid, match="another process"):
        AuditLog(folder, key, SMALL)
    log.close()
    AuditLog(folder, key, SMALL).close()


def test_a_closed_log_takes_nothing(folder: Path, key: AuditKey) -> None:
    log = AuditLog(folder, key, SMALL)
    log.close()
    log.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        log.append([request_entry(1)])


def test_a_full_disk_is_said_and_leaves_no_half_entry(
    folder: Path, key: AuditKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = AuditLog(folder, key, SMALL)
    seq = log.snapshot().seq
    real = os.write

    def half(descriptor: int, data: bytes) -> int:
        real(descriptor, bytes(data)[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("heterodyne.audit.log.os.write", half)
    with pytest.raises(StoreUnavailable, match="No space left"):
        log.append([request_entry(1)])
    assert verify(folder, key).is_intact
    assert verify(folder, key).unfinished_bytes == 0
    monkeypatch.setattr("heterodyne.audit.log.os.write", real)
    assert log.append([request_entry(1)]) == seq + 1
    log.close()
    assert verify(folder, key).is_intact


def test_a_full_disk_while_a_segment_begins_leaves_no_segment_without_a_beginning(
    tmp_path: Path, key: AuditKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = AuditLog(tmp_path, key, SMALL)
    while log.snapshot().segment_bytes < SMALL.segment_bytes_max:
        log.append([request_entry(1)])
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("heterodyne.audit.log.os.write", full)
    with pytest.raises(StoreUnavailable):
        log.append([request_entry(2)])
    monkeypatch.setattr("heterodyne.audit.log.os.write", real)
    log.append([request_entry(2)])
    log.close()
    assert verify(tmp_path, key).is_intact
    assert verify(tmp_path, key).segments == 2


def test_when_the_end_is_in_doubt_it_is_looked_for_before_the_next_batch(
    folder: Path, key: AuditKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = AuditLog(folder, key, SMALL)
    real = os.write

    def half(descriptor: int, data: bytes) -> int:
        real(descriptor, bytes(data)[: len(data) // 2])
        raise OSError(errno.EIO, "Input/output error")

    def stuck(descriptor: int, size: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("heterodyne.audit.log.os.write", half)
        patch.setattr("heterodyne.audit.log.os.ftruncate", stuck)
        with pytest.raises(StoreUnavailable):
            log.append([request_entry(1)])
    assert verify(folder, key).unfinished_bytes > 0
    log.append([request_entry(1)])
    log.close()
    verdict = verify(folder, key)
    assert verdict.is_intact
    assert verdict.unfinished_bytes == 0


def test_an_entry_too_large_to_read_back_is_refused(folder: Path, key: AuditKey) -> None:
    log = AuditLog(folder, key, SMALL)
    with pytest.raises(InvalidField, match="bytes"):
        log.append([ChangeEntry(at=1.0, who="k", what="w", after="x" * 9_000_000)])
    log.append([request_entry(1)])
    log.close()
    assert verify(folder, key).is_intact


def test_an_empty_folder_is_no_log_and_no_damage(tmp_path: Path, key: AuditKey) -> None:
    verdict = verify(tmp_path / "none", key)
    assert verdict.is_intact
    assert verdict.entries == 0


def test_a_kind_of_entry_that_a_newer_version_wrote_verifies_all_the_same(tmp_path: Path, key: AuditKey) -> None:
    class Later(msgspec.Struct, tag="later"):
        what: str

    append(tmp_path, key, Later(what="new"))  # type: ignore[arg-type]
    verdict = verify(tmp_path, key)
    assert verdict.is_intact
    assert verdict.last_seq == 2
    assert Damage.ALTERED not in [finding.damage for finding in verdict.findings]


def test_only_the_owner_may_read_the_log(folder: Path, key: AuditKey) -> None:
    assert folder.stat().st_mode & 0o077 == 0
    assert all(segment.path.stat().st_mode & 0o077 == 0 for segment in list_segments(folder))


def test_a_log_is_intact_at_every_moment_while_it_is_written(tmp_path: Path, key: AuditKey) -> None:
    log = AuditLog(tmp_path / "audit", key, SMALL)
    anchors = AnchorFile(tmp_path / "anchors")
    done = threading.Event()

    def write() -> None:
        for number in range(150):
            log.append([request_entry(number)])
            state = log.snapshot()
            anchors.put(make_anchor(key, state.log, state.seq, state.hash, 1.0))
        done.set()

    (tmp_path / "anchors").touch()
    writer = threading.Thread(target=write)
    writer.start()
    verdicts = []
    while not done.is_set():
        verdicts.append(verify(tmp_path / "audit", key, anchors=tmp_path / "anchors"))
    writer.join()
    log.close()
    assert [verdict.findings for verdict in verdicts if not verdict.is_intact] == []
    assert len({verdict.last_seq for verdict in verdicts}) > 1, "it was read while it grew"
    assert verify(tmp_path / "audit", key, anchors=tmp_path / "anchors").anchors == 150
