"""Records on their way to the disk."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heterodyne.books.flight_slots import FlightSlots
from heterodyne.books.segment import FRAME, SegmentTail, place_of, read_batches, segments
from heterodyne.books.spool import LOOSE_MAX, SEGMENT_AGE_MAX_S, UsageSpool
from heterodyne.domain.errors import StoreUnavailable
from tests.support.flight_slots import open_slot
from tests.support.usage_records import ending, opening, record

EVERYTHING = 1 << 30


def spool_in(folder: Path, **other: object) -> tuple[UsageSpool, FlightSlots]:
    slots = FlightSlots(folder / "w.1.slots", 8)
    return UsageSpool(folder, "w", "1", slots, **other), slots


def ids(folder: Path) -> list[str]:
    return [
        one.id for path in segments(folder) for batch in read_batches(path, 0, EVERYTHING)[0] for one in batch.records
    ]


@contextmanager
def files_up_to(size_bytes: int) -> Iterator[None]:
    """A disk on which files end there: a write stops in the middle, as on one that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_slot_is_free_only_when_its_record_is_on_the_disk(tmp_path: Path) -> None:
    spool, slots = spool_in(tmp_path)
    for number in range(3):
        spool.finish(open_slot(slots, opening(number)), ending())
    running = open_slot(slots, opening(7))
    assert (slots.taken, spool.state().waiting) == (4, 3)
    spool.flush()
    assert (slots.taken, spool.state().waiting, spool.state().written) == (1, 0, 3)
    assert ids(tmp_path) == ["req_0000", "req_0001", "req_0002"]
    spool.finish(running, ending())
    spool.close()
    (segment,) = tmp_path.iterdir()
    assert segment.name == "w.1.00000001.ready"
    assert list(read_batches(segment, 0, EVERYTHING)[0][1].records) == [record(7)]


def test_the_thread_writes_without_being_asked(tmp_path: Path) -> None:
    spool, slots = spool_in(tmp_path, flush_interval_s=0.001)
    spool.start()
    for number in range(200):
        while slots.taken == slots.slots_max:
            pass
        spool.finish(open_slot(slots, opening(number)), ending())
    spool.add(opening(200), ending(0, status=429, reason="rate_limit_exceeded"))
    spool.close()
    assert ids(tmp_path) == [f"req_{number:04d}" for number in range(201)]


def test_segments_end_by_size_and_by_age(tmp_path: Path) -> None:
    now = [0.0]
    spool, slots = spool_in(tmp_path, segment_bytes_max=200, clock=lambda: now[0])
    for number in range(4):
        spool.finish(open_slot(slots, opening(number)), ending())
    spool.flush()
    assert [path.name for path in segments(tmp_path)] == ["w.1.00000001.ready"]
    spool = UsageSpool(tmp_path, "w", "2", slots, clock=lambda: now[0])
    spool.finish(open_slot(slots, opening(5)), ending())
    spool.flush()
    assert segments(tmp_path)[-1].suffix == ".open"
    now[0] = SEGMENT_AGE_MAX_S
    spool.flush()
    assert [path.suffix for path in segments(tmp_path)] == [".ready", ".ready"]
    spool.close()


def test_a_full_disk_keeps_the_slots_until_there_is_room(tmp_path: Path) -> None:
    spool, slots = spool_in(tmp_path)
    spool.finish(open_slot(slots, opening(0)), ending())
    spool.flush()
    size = segments(tmp_path)[0].stat().st_size
    for number in range(1, 9):
        spool.finish(open_slot(slots, opening(number)), ending())
    with files_up_to(size + FRAME.size + 20):
        spool.flush()
        spool.flush()
    state = spool.state()
    assert (state.failures, state.waiting, state.slots_taken, bool(state.problem)) == (2, 8, 8, True)
    with pytest.raises(StoreUnavailable):
        open_slot(slots, opening(9))
    assert ids(tmp_path) == ["req_0000"], "what was written in part was taken back"
    spool.flush()
    state = spool.state()
    assert (state.waiting, state.slots_taken, state.problem) == (0, 0, None)
    spool.close()
    assert ids(tmp_path) == [f"req_{number:04d}" for number in range(9)]
    assert [place_of(path.stem, 0, 1).may_repeat for path in segments(tmp_path)] == [False, True], (
        "a disk that failed may have kept more than it said"
    )


def test_a_folder_that_is_gone_and_comes_back_loses_nothing(tmp_path: Path) -> None:
    folder, away = tmp_path / "spool", tmp_path / "away"
    folder.mkdir()
    spool, slots = spool_in(folder)
    spool.finish(open_slot(slots, opening(1)), ending())
    folder.rename(away)
    spool.flush()
    assert spool.state().problem
    away.rename(folder)
    spool.close()
    assert ids(folder) == ["req_0001"]


def test_a_spool_that_holds_all_it_may_writes_no_more(tmp_path: Path) -> None:
    spool, slots = spool_in(tmp_path, bytes_max=100, segment_bytes_max=1)
    for number in range(2):
        spool.finish(open_slot(slots, opening(number)), ending())
        spool.flush()
    assert "may hold no more" in (spool.state().problem or "")
    assert slots.taken == 1
    segments(tmp_path)[0].unlink()  # collected
    spool.flush()
    assert (spool.state().problem, slots.taken) == (None, 0)
    spool.close()


def test_refusals_are_bounded_and_counted(tmp_path: Path) -> None:
    spool, _ = spool_in(tmp_path)
    for number in range(LOOSE_MAX + 20):
        spool.add(opening(number), ending(0, status=401, reason="invalid_api_key"))
    assert spool.state().dropped == 12
    spool.close()
    assert len(ids(tmp_path)) == LOOSE_MAX + 8


@pytest.mark.parametrize(
    ("edit", "tail"),
    [
        (lambda content: content, SegmentTail.NOTHING),
        (lambda content: content[:-1], SegmentTail.CUT),
        (lambda content: content + b"\x01", SegmentTail.CUT),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), SegmentTail.DAMAGED),
        (lambda content: content + b"\xff" * 20, SegmentTail.DAMAGED),
    ],
)
def test_what_is_no_batch_is_not_read(tmp_path: Path, edit: object, tail: SegmentTail) -> None:
    spool, slots = spool_in(tmp_path)
    for number in range(2):
        spool.finish(open_slot(slots, opening(number)), ending())
        spool.flush()
    spool.close()
    (path,) = segments(tmp_path)
    content = path.read_bytes()
    path.write_bytes(edit(content))
    batches, found = read_batches(path, 0, EVERYTHING)
    assert found is tail
    assert len(batches) == (
        2 if len(path.read_bytes()) >= len(content) and path.read_bytes().startswith(content) else 1
    )
