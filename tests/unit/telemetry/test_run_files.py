"""Files that a disk does not take: nobody ends, nothing half is left, and a folder that was removed comes back."""

import shutil
from pathlib import Path

import msgspec
import pytest
import structlog
from structlog.testing import capture_logs

from heterodyne.telemetry import exposition, metrics
from heterodyne.telemetry.folded_meters import FoldedMeters
from heterodyne.telemetry.meters import Counter, Sample
from heterodyne.telemetry.run_files import try_write
from heterodyne.telemetry.trouble import REPEAT_S, Trouble


def failed(kind: str) -> float:
    return metrics.writes_failed.cell((kind,))[0]


def test_a_file_that_cannot_be_written_is_counted_and_the_old_one_stays(tmp_path: Path) -> None:
    place = tmp_path / "a"
    assert try_write(place, b"old", "test")
    before = failed("test")
    assert not try_write(Path("/dev/full/a"), b"new", "test")
    assert not try_write(place / "below a file", b"new", "test")
    assert failed("test") - before == 2
    assert place.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_that_somebody_removed_is_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "run" / "a"
    assert try_write(folder / "one", b"1", "test")
    shutil.rmtree(tmp_path / "run")
    assert try_write(folder / "one", b"2", "test")
    assert (folder / "one").read_bytes() == b"2"
    assert (folder / "one").stat().st_mode & 0o777 == 0o600


def test_the_counters_of_dead_workers_wait_in_memory_for_a_disk_that_takes_them(tmp_path: Path) -> None:
    folder, away = tmp_path / "run", tmp_path / "away"
    counter = Counter("requests_total", "Requests.")
    folded = FoldedMeters(folder, [counter])
    for count in (3.0, 4.0):
        exposition.write_samples(folder, "worker-0", [Sample("requests_total", (), [count])])
        (folder / "folded.meters").mkdir(exist_ok=True)  # nothing can be put there: no rename onto a folder
        folded.fold("worker-0")
    (folder / "folded.meters").rmdir()
    folded.save()
    assert not (folder / "worker-0.meters").exists()
    folder.rename(away)
    folded.save()
    for place in (folder, away):
        [sample] = exposition.gather(place, "", [])
        assert sample.values == [7.0]


def test_a_lasting_trouble_is_said_once_a_minute_and_its_end_once() -> None:
    now_s = 0.0
    with capture_logs() as said:
        trouble = Trouble(structlog.get_logger(), "disk", clock=lambda: now_s)
        for _ in range(100):
            trouble.failed(OSError(28, "full"))
        now_s = REPEAT_S
        trouble.failed(OSError(28, "full"))
        trouble.worked()
        trouble.worked()
    assert [(one["event"], one["failures"]) for one in said] == [("disk", 1), ("disk", 101), ("disk_over", 101)]


@pytest.mark.parametrize("content", [b"", b"\xc1", msgspec.msgpack.encode({"a": 1})])
def test_numbers_that_cannot_be_read_cost_only_themselves(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "worker-0.meters").write_bytes(content)
    exposition.write_samples(tmp_path, "worker-1", [Sample("requests_total", (), [1.0])])
    assert len(list(exposition.gather(tmp_path, "", []))) == 1
    FoldedMeters(tmp_path, []).fold("worker-0")
