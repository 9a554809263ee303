"""Records on their way to the disk."""

import subprocess
import sys
import time
from pathlib import Path

import msgspec

from heterodyne.domain.record import RequestRecord
from heterodyne.telemetry import metrics
from heterodyne.telemetry.records import RecordWriter
from heterodyne.telemetry.settings import TelemetrySettings


def record(number: int, *, reason: str = "") -> RequestRecord:
    return RequestRecord(id=f"req_{number}", at=1.5, operation="chat", model="m", status=200, reason=reason)


def written(path: Path) -> list[RequestRecord]:
    return [msgspec.json.decode(line, type=RequestRecord) for line in path.read_bytes().splitlines()]


def test_every_record_is_a_line_by_the_time_the_writer_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    writer = RecordWriter(TelemetrySettings(records=str(path)))
    for number in range(500):
        writer.write([record(number)])
    writer.close()
    assert written(path) == [record(number) for number in range(500)]


def test_a_writer_continues_a_file_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    for number in range(2):
        writer = RecordWriter(TelemetrySettings(records=str(path)))
        writer.write([record(number)])
        writer.close()
    assert [one.id for one in written(path)] == ["req_0", "req_1"]


def test_a_file_that_is_large_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    settings = TelemetrySettings(records=str(path), records_bytes_max=65536)
    for number in range(3):
        writer = RecordWriter(settings)
        writer.write([record(number, reason="x" * 70_000)])
        writer.close()
    assert [one.id for one in written(path)] == ["req_2"]
    assert [one.id for one in written(tmp_path / "records.jsonl.1")] == ["req_1"]
    assert len(list(tmp_path.iterdir())) == 2


def test_records_that_are_off_go_nowhere(tmp_path: Path) -> None:
    writer = RecordWriter(TelemetrySettings(records="off"))
    writer.write([record(1)])
    writer.close()
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_cannot_be_written_loses_records_and_nothing_else(tmp_path: Path) -> None:
    writer = RecordWriter(TelemetrySettings(records=str(tmp_path / "no" / "such" / "folder")))
    writer.write([record(1)])
    writer.close()


def test_records_wait_for_a_disk_that_takes_them_and_are_written_once(tmp_path: Path) -> None:
    folder = tmp_path / "away"
    writer = RecordWriter(TelemetrySettings(records=str(folder / "records.jsonl")))
    before = metrics.writes_failed.cell(("records",))[0]
    for number in range(50):
        writer.write([record(number)])
    until_s = time.monotonic() + 20
    while metrics.writes_failed.cell(("records",))[0] == before:
        assert time.monotonic() < until_s
        time.sleep(0.01)
    folder.mkdir()
    writer.close()
    assert written(folder / "records.jsonl") == [record(number) for number in range(50)]


def test_a_log_that_nobody_can_write_ends_nothing() -> None:
    program = (
        "from heterodyne.telemetry import log\n"
        "from heterodyne.telemetry.settings import TelemetrySettings as Settings\n"
        "log.configure(Settings(log_format='json')); log.get('a').error('b', c=1); log.get('a').info('d')\n"
        "print('alive')"
    )
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=full, timeout=60, check=False
        )
    assert done.stdout == b"alive\n"
