"""A log that several processes share: one writes it, the others hand their changes over."""

import stat
from pathlib import Path

import pytest

from heterodyne.audit.key import open_key
from heterodyne.audit.search import AuditQuery, search
from heterodyne.audit.segments import segment_path
from heterodyne.audit.settings import AuditSettings
from heterodyne.domain.audit import ChangeEntry
from heterodyne.domain.errors import AuditBroken, StoreUnavailable
from heterodyne.supervisor.stores.shared_audit_log import SharedAuditLog

SETTINGS = AuditSettings(fsync=False)


def change(number: int) -> ChangeEntry:
    return ChangeEntry(at=float(number), who="terminal", what="keys.revoke", subject=f"key_{number}")


def subjects(state_dir: Path) -> list[str]:
    """The changes in the log, which has to be as it was written."""
    found: list[str] = []
    key = open_key(state_dir / "audit" / "audit.key", may_create=False)
    verdict = search(
        state_dir / "audit",
        key,
        AuditQuery(only_changes=True),
        lambda one: found.append(one.entry.subject if isinstance(one.entry, ChangeEntry) else ""),
    )
    assert verdict.is_intact, verdict.findings
    return found


def test_nothing_is_opened_before_something_is_recorded(tmp_path: Path) -> None:
    SharedAuditLog(SETTINGS, tmp_path).close()
    assert list(tmp_path.iterdir()) == []


def test_what_a_second_process_records_the_writer_collects_in_order(tmp_path: Path) -> None:
    writer, other = SharedAuditLog(SETTINGS, tmp_path), SharedAuditLog(SETTINGS, tmp_path)
    assert writer.try_take()
    assert not other.try_take()
    for number in range(12):
        other.record(change(number))
    writer.close()
    assert subjects(tmp_path) == [f"key_{number}" for number in range(12)]
    assert list(other.spool_folder.iterdir()) == []
    other.close()


def test_the_second_takes_the_log_when_the_first_is_gone(tmp_path: Path) -> None:
    writer, other = SharedAuditLog(SETTINGS, tmp_path), SharedAuditLog(SETTINGS, tmp_path)
    writer.record(change(1))
    other.record(change(2))
    writer.close()
    other.record(change(3))
    assert other.try_snapshot() is not None
    other.close()
    assert subjects(tmp_path) == ["key_1", "key_2", "key_3"]


def test_what_is_handed_over_is_the_owners_alone(tmp_path: Path) -> None:
    writer, other = SharedAuditLog(SETTINGS, tmp_path), SharedAuditLog(SETTINGS, tmp_path)
    assert writer.try_take()
    other.record(change(1))
    assert stat.S_IMODE(other.spool_folder.stat().st_mode) == 0o700
    writer.close()
    assert subjects(tmp_path) == ["key_1"]


def test_a_broken_log_refuses_every_change_until_it_goes_on(tmp_path: Path) -> None:
    first = SharedAuditLog(SETTINGS, tmp_path)
    first.record(change(1))
    first.close()
    segment = segment_path(tmp_path / "audit", 1)
    segment.write_bytes(segment.read_bytes().replace(b"key_1", b"key_9"))
    share = SharedAuditLog(SETTINGS, tmp_path)
    for _ in range(2):
        with pytest.raises(AuditBroken):
            share.record(change(2))
    share.close()


def test_a_closed_share_records_nothing(tmp_path: Path) -> None:
    share = SharedAuditLog(SETTINGS, tmp_path)
    share.close()
    with pytest.raises(StoreUnavailable):
        share.record(change(1))


def test_a_folder_that_cannot_be_made_refuses_changes(tmp_path: Path) -> None:
    (tmp_path / "audit").write_text("no folder")
    with pytest.raises((StoreUnavailable, AuditBroken)):
        SharedAuditLog(SETTINGS, tmp_path).record(change(1))
