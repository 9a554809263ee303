"""The supervisor's clerk: what workers spool and operators change ends up in one log, anchored."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodyne.audit.audit_writer import AuditWriter
from heterodyne.audit.key import open_key
from heterodyne.audit.search import AuditQuery, search
from heterodyne.audit.settings import AuditSettings
from heterodyne.audit.spool import AuditSpool
from heterodyne.audit.verify import verify
from heterodyne.domain.audit import AuditEntry, ChangeEntry, RequestEntry
from heterodyne.domain.errors import AuditBroken
from tests.support.audits import request_entry

CHANGE = ChangeEntry(at=1.0, who="k_operator", what="keys.revoke", subject="k_1", before='{"revoked_at":null}')


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.005)


def test_requests_and_changes_end_up_in_one_log_with_an_anchor(tmp_path: Path) -> None:
    anchors = tmp_path / "anchors"
    settings = AuditSettings(fsync=False, anchor_file=str(anchors))
    writer = AuditWriter(settings, tmp_path)
    workers = [AuditSpool(writer.spool_folder, f"worker-{n}", writer.content_key, settings) for n in range(2)]
    for number in range(50):
        workers[number % 2].write(request_entry(number))
    writer.record(CHANGE)
    for worker in workers:
        worker.close()
    wait_until(lambda: writer.snapshot().collected == 50)
    writer.close()
    folder = tmp_path / "audit"
    key = open_key(folder / "audit.key", may_create=False)
    found: list[AuditEntry] = []
    verdict = search(folder, key, AuditQuery(), lambda one: found.append(one.entry))
    assert verdict.is_intact
    requests = [entry.id for entry in found if isinstance(entry, RequestEntry)]
    for odd in range(2):
        assert [one for one in requests if int(one.split("-")[1]) % 2 == odd] == [
            f"request-{number}" for number in range(odd, 50, 2)
        ]
    assert CHANGE in found
    anchored = verify(folder, key, anchors=anchors)
    assert anchored.is_intact
    assert anchored.anchors >= 1
    assert f'"seq":{anchored.last_seq}'.encode() in anchors.read_bytes(), "the last entry is anchored when it closes"


def test_what_a_killed_worker_left_is_collected_by_the_next_supervisor(tmp_path: Path) -> None:
    settings = AuditSettings(fsync=False)
    AuditWriter(settings, tmp_path).close()
    key = open_key(tmp_path / "audit" / "audit.key", may_create=False)
    spool = AuditSpool(tmp_path / "audit" / "spool", "worker-0", key.content, settings)
    spool.write(request_entry(1))
    spool.close()
    writer = AuditWriter(settings, tmp_path)
    writer.close()
    assert writer.snapshot().collected == 1


def test_an_anchor_that_cannot_be_put_is_counted_and_entries_go_on(tmp_path: Path) -> None:
    settings = AuditSettings(fsync=False, anchor_command=("/none/such",))
    writer = AuditWriter(settings, tmp_path)
    wait_until(lambda: writer.snapshot().failures > 0)
    assert "cannot be run" in writer.snapshot().failure
    writer.record(CHANGE)
    writer.close()
    key = open_key(tmp_path / "audit" / "audit.key", may_create=False)
    assert verify(tmp_path / "audit", key).is_intact


def test_a_log_whose_key_is_lost_gets_no_new_one(tmp_path: Path) -> None:
    AuditWriter(AuditSettings(fsync=False), tmp_path).close()
    (tmp_path / "audit" / "audit.key").unlink()
    with pytest.raises(AuditBroken, match="not there"):
        AuditWriter(AuditSettings(fsync=False), tmp_path)


def test_the_folder_and_the_key_are_where_the_settings_say(tmp_path: Path) -> None:
    settings = AuditSettings(fsync=False, dir=str(tmp_path / "here"), key_file=str(tmp_path / "there" / "key"))
    AuditWriter(settings, tmp_path / "nowhere").close()
    assert (tmp_path / "there" / "key").is_file()
    assert (tmp_path / "here" / "audit-000001.jsonl").is_file()
    assert not (tmp_path / "nowhere").exists()
