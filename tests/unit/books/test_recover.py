"""What a dead worker leaves, and what is made of it."""

from collections.abc import Collection
from pathlib import Path

from msgspec.structs import replace

from heterodyne.books.flight_slots import FlightSlots
from heterodyne.books.recover import recover_all
from heterodyne.books.segment import read_batches, segments
from heterodyne.books.spool import UsageSpool
from heterodyne.domain.urgency import Urgency
from heterodyne.domain.usage import GATEWAY_KILLED, FlightTerms, UsageRecord
from tests.support.flight_slots import open_slot
from tests.support.usage_records import ending, opening, record


def records(folder: Path) -> list[UsageRecord]:
    return [one for path in segments(folder) for batch in read_batches(path, 0, 1 << 30)[0] for one in batch.records]


def test_what_was_in_flight_is_billed_as_delivered(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 8)
    spool = UsageSpool(tmp_path, "w", "1", slots)
    spool.finish(open_slot(slots, opening(1)), ending())
    spool.flush()
    hosted = FlightTerms(prompt_tokens=1000, usd_per_million_prompt_tokens=2.0, usd_per_million_completion_tokens=10.0)
    open_slot(slots, opening(2), hosted).delivered = 50
    own = FlightTerms(prompt_tokens=1000, usd_per_hour=3.6, prompt_replica_s=0.5, token_replica_s=0.01)
    open_slot(slots, opening(3), own).delivered = 50
    open_slot(slots, opening(4), hosted)
    spool.finish(open_slot(slots, opening(5)), ending(11))  # and never flushed
    slots.close()
    ((found,), _) = recover_all(tmp_path)
    assert (found.killed, found.finished) == (3, 1)
    first, *others = records(tmp_path)
    assert first == record(1)
    by_id = {one.id: one for one in others}
    assert len(by_id) == len(others) == 4
    billed = by_id["req_0002"]
    assert (billed.reason, billed.prompt_tokens, billed.completion_tokens) == (GATEWAY_KILLED, 1000, 50)
    assert (billed.usd_micro, billed.is_hosted_price, billed.is_estimated) == (2500, True, True)
    assert (by_id["req_0003"].usd_micro, by_id["req_0003"].replica_s) == (1000, 1.0)
    nothing = by_id["req_0004"]
    assert (nothing.prompt_tokens, nothing.completion_tokens, nothing.usd_micro) == (0, 0, 0)
    assert by_id["req_0005"] == record(5, 11)
    assert recover_all(tmp_path) == ([], None)
    assert {path.suffix for path in tmp_path.iterdir()} == {".ready"}


def test_a_line_of_a_batch_whose_result_was_written_is_billed(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 8)
    asked: list[str] = []

    def answered(ids: Collection[str]) -> dict[str, int]:
        asked.extend(ids)
        return {"req_0001": 7}

    for number, urgency in ((1, Urgency.BATCH), (2, Urgency.BATCH), (3, Urgency.INTERACTIVE)):
        open_slot(slots, replace(opening(number), urgency=urgency))
    slots.close()
    recover_all(tmp_path, answered)
    assert asked == ["req_0001", "req_0002"], "clients that wait were given nothing"
    assert {one.id: one.completion_tokens for one in records(tmp_path)} == {"req_0001": 7, "req_0002": 0, "req_0003": 0}


def test_a_record_that_was_written_is_not_made_again(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 8)
    spool = UsageSpool(tmp_path, "w", "1", slots)
    spool.finish(open_slot(slots, opening(1)), ending())
    left = slots.path.read_bytes()
    spool.flush()
    slots.close()
    slots.path.write_bytes(left)  # killed after the write and before the slot was free
    ((found,), _) = recover_all(tmp_path)
    assert (found.killed, found.finished) == (0, 0)
    assert records(tmp_path) == [record(1)]


def test_a_slot_that_cannot_be_read_is_kept(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 2)
    open_slot(slots, opening(1))
    open_slot(slots, opening(2)).delivered = 3
    slots.close()
    content = bytearray(slots.path.read_bytes())
    start = content.index(b"req_0001")
    content[start - 20 : start] = b"\xff" * 20
    slots.path.write_bytes(content)
    ((found,), _) = recover_all(tmp_path)
    assert (found.killed, found.unreadable) == (1, 1)
    assert [one.id for one in records(tmp_path)] == ["req_0002"]
    assert (tmp_path / "w.1.damaged").exists()


def test_a_segment_that_nobody_handed_over_is(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 2)
    spool = UsageSpool(tmp_path, "w", "1", slots)
    spool.finish(open_slot(slots, opening(1)), ending())
    spool.flush()
    slots.close()  # empty, so the file is gone
    assert [path.suffix for path in tmp_path.iterdir()] == [".open"]
    assert recover_all(tmp_path) == ([], None)
    assert [path.suffix for path in tmp_path.iterdir()] == [".ready"]
