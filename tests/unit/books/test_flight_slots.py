"""The black box of a worker."""

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import astuple, fields

from heterodyne.books.encoding import COUNT_MAX, OPENING_BYTES_MAX, OpeningForm, decode_open, decode_record
from heterodyne.books.flight_slots import (
    AREA_BYTES,
    AREAS_AT,
    DELIVERED,
    FINISHED,
    HEAD_BYTES,
    OPEN,
    SLOT_BYTES,
    FlightSlots,
)
from heterodyne.books.recover import try_recover
from heterodyne.books.slots_left import slots_left
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.usage import FlightTerms, UsageEnding, UsageOpening, UsageRecord
from tests.support.flight_slots import open_slot, place_slot
from tests.support.usage_records import ending, opening, record


def test_a_record_is_an_opening_and_an_ending() -> None:
    parts = [(one.name, one.type, one.default) for kind in (UsageOpening, UsageEnding) for one in fields(kind)]
    assert parts == [(one.name, one.type, one.default) for one in fields(UsageRecord)]


def test_a_slot_in_use_can_be_read_from_the_file(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 4)
    terms = FlightTerms(prompt_tokens=5, usd_per_hour=2.5)
    slot = open_slot(slots, opening(), terms)
    slot.delivered = 41
    slot.words[slot.word + DELIVERED] = 42
    (left,) = slots_left(slots.path.read_bytes())
    assert (left.state, left.delivered, slot.delivered) == (OPEN, 42, 42)
    assert decode_open(left.encoded).opening == opening()
    assert decode_open(left.encoded).terms == terms
    place_slot(slot, opening(replica="h100-1"), terms)
    (left,) = slots_left(slots.path.read_bytes())
    assert decode_open(left.encoded).opening.replica == "h100-1"
    assert left.delivered == 42
    encoded = slot.finish(ending())
    (left,) = slots_left(slots.path.read_bytes())
    assert (left.state, left.encoded) == (FINISHED, encoded)
    assert decode_record(encoded) == record(replica="h100-1")
    slots.free(slot)
    assert list(slots_left(slots.path.read_bytes())) == []
    assert slots.taken == 0
    slots.close()
    assert not slots.path.exists()


def test_an_opening_may_come_encoded_and_move(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 4)
    terms = FlightTerms(prompt_tokens=5, usd_per_hour=2.5)
    form, other = OpeningForm(opening()), OpeningForm(opening(replica="h100-1"))
    for number in range(3):
        slot = slots.open_encoded(form.fill(f"req_000{number}", opening(number).at), terms)
        for place, replica in ((other, "h100-1"), (form, ""), (other, "h100-1")):
            (left,) = slots_left(slots.path.read_bytes())
            assert decode_open(left.encoded).terms == terms
            slot.place_encoded(place.fill(f"req_000{number}", opening(number).at), terms)
            (left,) = slots_left(slots.path.read_bytes())
            assert decode_open(left.encoded).opening == opening(number, replica=replica)
        encoded = slot.finish(astuple(ending()))
        (left,) = slots_left(slots.path.read_bytes())
        assert (left.state, left.encoded) == (FINISHED, encoded)
        assert decode_record(encoded) == record(number, replica="h100-1")
        slots.free(slot)
    slots.close()


def test_an_opening_too_long_for_a_slot_does_not_reach_into_the_next(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 2)
    with pytest.raises(AssertionError):
        slots.open_encoded(bytes(OPENING_BYTES_MAX + 1))
    slots.close()


def test_a_slot_that_is_used_again_begins_at_nothing(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 1)
    slot = open_slot(slots, opening(1))
    slot.delivered = 9
    slots.free(slot)
    assert open_slot(slots, opening(2)).delivered == 0
    slots.close()
    assert slots.path.exists()


def test_requests_that_do_not_move_store_in_one_area(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 1)
    for number in range(3):
        slot = open_slot(slots, opening(number))
        slot.finish(ending())
        slots.free(slot)
    assert not any(slots.map[HEAD_BYTES + AREAS_AT + AREA_BYTES :])
    slots.close()


def test_full_is_a_refusal(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 2)
    open_slot(slots, opening(1))
    open_slot(slots, opening(2))
    with pytest.raises(StoreUnavailable, match="All 2 places"):
        open_slot(slots, opening(3))
    slots.close()


def test_neighbours_do_not_touch(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 3)
    longest = {"organisation": "o" * 63, "project": "p" * 127, "key": "k" * 40, "model": "ß" * 5000, "pool": "x" * 900}
    flights = [open_slot(slots, opening(number, **longest), FlightTerms(prompt_tokens=2**40)) for number in range(3)]
    flights[1].finish(ending(2**60, reason="r" * 3000, ttft_ms=1.5, itl_ms=1.5, predicted_ttft_ms=1.5, queue_ms=1.5))
    left = list(slots_left(slots.path.read_bytes()))
    assert [decode_open(one.encoded).opening.id for one in (left[0], left[2])] == ["req_0000", "req_0002"]
    middle = decode_record(left[1].encoded)
    assert (middle.id, middle.project, middle.completion_tokens) == ("req_0001", "p" * 127, COUNT_MAX)
    assert all(len(one.encoded) < SLOT_BYTES / 2 for one in left)
    slots.close()


def test_a_number_beyond_all_bounds_does_not_stop_a_request(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 1)
    encoded = open_slot(slots, opening()).finish(ending(10**30, prompt_tokens=-5))
    assert decode_record(encoded).completion_tokens == COUNT_MAX
    assert decode_record(encoded).prompt_tokens == 0
    slots.close()


def test_the_slots_of_a_living_worker_are_left_alone(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "w.1.slots", 2)
    open_slot(slots, opening())
    assert try_recover(slots.path) is None
    program = (
        f"from pathlib import Path; from heterodyne.books.recover import *; print(recover_all(Path({str(tmp_path)!r})))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "([], None)"
    slots.close()
    recovered = try_recover(slots.path)
    assert recovered is not None
    assert recovered.killed == 1


def test_a_file_whose_making_was_cut_short_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "w.1.slots"
    path.write_bytes(bytes(5000))
    recovered = try_recover(path)
    assert recovered is not None
    assert (recovered.killed, recovered.finished, recovered.unreadable) == (0, 0, 0)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_version_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "w.1.slots"
    path.write_bytes(b"HDNSLOT1" + bytes(5000))
    recovered = try_recover(path)
    assert recovered is not None
    assert recovered.unreadable == 1
    assert [kept.name for kept in tmp_path.iterdir()] == ["w.1.damaged"]


def test_slots_that_have_no_room_refuse_and_come_when_there_is(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    slots = FlightSlots(folder / "w.1.slots", 2, is_opened=False)
    with pytest.raises(OSError, match="No such file"):
        slots.open_file()
    with pytest.raises(StoreUnavailable, match="No such file"):
        slots.open_encoded(b"")
    assert slots.taken == 0
    folder.mkdir()
    slots.open_file()
    slots.open_file()
    assert slots.taken == 0
    assert not slots.problem
    slots.close()
