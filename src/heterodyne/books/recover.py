"""Makes the records that a dead worker could not: from its slots, less what it had written already.

Everything here may be repeated, and be cut short anywhere: a record's id is made once, and stores take an id once.
"""

import fcntl
import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from heterodyne.books.cost import killed_ending
from heterodyne.books.encoding import (
    decode_open,
    decode_record,
    encode_finished,
    encode_opening,
)
from heterodyne.books.flight_slots import FINISHED
from heterodyne.books.segment import DAMAGED, OPEN, READY, RECOVERED, SLOTS, SegmentTail, read_batches, write_segment
from heterodyne.books.slots_left import SlotLeft, slots_left
from heterodyne.domain.urgency import Urgency
from heterodyne.telemetry import log

READ_BYTES = 4 << 20

_log = log.get("books")


class Recovered(Struct, frozen=True, kw_only=True):
    """What was found of one life."""

    life: str  # with its worker's name
    killed: int  # requests that were in flight
    finished: int  # records that were not on the disk yet
    unreadable: int  # slots that hold no record; their file is kept


# Of requests that nobody waits for, those whose answers were written down all the same, and the tokens of each.
Answered = Callable[[Collection[str]], Mapping[str, int]]


def none_answered(_: Collection[str]) -> Mapping[str, int]:
    """Where there are no such requests."""
    return {}


def recover_all(folder: Path, answered: Answered = none_answered) -> tuple[list[Recovered], OSError | None]:
    """Every life that has ended and was not recovered, and why one could not be, which waits. Blocks."""
    recovered: list[Recovered] = []
    problem: OSError | None = None
    for path in sorted(folder.glob(f"*{SLOTS}")):
        try:
            found = try_recover(path, answered)
        except OSError as error:
            problem = error
        else:
            recovered += [] if found is None else [found]
    for segment in folder.glob(f"*{OPEN}"):
        life = ".".join(segment.name.split(".")[:2])
        if not (folder / f"{life}{SLOTS}").exists():  # it ended in order, but for the last step
            _hand_over(folder, life)
    return recovered, problem


def try_recover(path: Path, answered: Answered = none_answered) -> Recovered | None:
    """One slot file and its segments; None while its worker lives, which holds a lock on the file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    else:
        return _recover(path, answered)
    finally:
        os.close(file)


def _recover(path: Path, answered: Answered) -> Recovered:
    life = path.name.removesuffix(SLOTS)
    left: dict[str, bytes] = {}
    killed = unreadable = 0
    for slot in _completed(list(slots_left(path.read_bytes())), answered):
        try:
            request_id, record = _record(slot)
        except msgspec.DecodeError as error:
            _log.error("slot_unreadable", life=life, error=str(error))
            unreadable += 1
            continue
        left[request_id] = record
        killed += slot.state != FINISHED
    for segment in sorted(path.parent.glob(f"{life}.*")):
        if segment.suffix in (OPEN, READY):
            _forget_written(segment, left)
    if left:
        write_segment(path.with_name(f"{life}{RECOVERED}{READY}"), list(left.values()))
    _hand_over(path.parent, life)
    if unreadable:
        path.rename(path.with_suffix(DAMAGED))
    else:
        path.unlink()
    found = Recovered(life=life, killed=killed, finished=len(left) - killed, unreadable=unreadable)
    write = _log.warning if killed or unreadable else _log.info
    write("worker_recovered", life=life, killed=killed, finished=found.finished, unreadable=unreadable)
    return found


def _completed(slots: list[SlotLeft], answered: Answered) -> list[SlotLeft]:
    """With what lines of batches were given: their results are written before their slots know of it."""
    lines: dict[int, str] = {}
    for place, slot in enumerate(slots):
        if slot.state != FINISHED and not slot.delivered:
            with suppress(msgspec.DecodeError):  # it is told of where its record is made
                opening = decode_open(slot.encoded).opening
                if opening.urgency == Urgency.BATCH:
                    lines[place] = opening.id
    tokens = answered(lines.values()) if lines else {}
    for place, request_id in lines.items():
        if request_id in tokens:
            slots[place] = replace(slots[place], delivered=tokens[request_id])
    return slots


def _record(slot: SlotLeft) -> tuple[str, bytes]:
    if slot.state == FINISHED:
        return decode_record(slot.encoded).id, slot.encoded
    flight = decode_open(slot.encoded)
    ending = killed_ending(flight.terms, slot.delivered)
    return flight.opening.id, encode_finished(encode_opening(flight.opening), ending)


def _forget_written(segment: Path, left: dict[str, bytes]) -> None:
    """Take out of `left` what is on the disk. The slots of a batch that was cut short stay in."""
    end, tail = 0, SegmentTail.MORE
    while tail is SegmentTail.MORE:
        batches, tail = read_batches(segment, end, READ_BYTES)
        for batch in batches:
            end = batch.end
            for record in batch.records:
                left.pop(record.id, None)


def _hand_over(folder: Path, life: str) -> None:
    for segment in folder.glob(f"{life}.*{OPEN}"):
        segment.rename(segment.with_suffix(READY))
