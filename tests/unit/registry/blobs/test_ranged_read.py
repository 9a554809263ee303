"""A file in ranges: in order whatever comes first, gone on with where it was broken off, never waited for forever."""

import hashlib
import threading
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.blobs.ranged_read import ReadTerms, read_ranged

TERMS = ReadTerms(readers=4, range_bytes=10, timeout_s=0.2, attempts_max=1)


class Place:
    """Bytes that are read in ranges, and what was asked of them."""

    def __init__(self, size_bytes: int, seed: int = 0) -> None:
        self.content = Random(seed).randbytes(size_bytes)
        self.asked: list[int] = []

    def read(self, start: int, end: int) -> bytes:
        self.asked.append(start)
        return self.content[start:end]


def bring(place: Place, part: Path, terms: ReadTerms = TERMS) -> tuple[str, int]:
    """The hash, and how many bytes were told to have come."""
    running, told = hashlib.sha256(), 0

    def hear(more: int) -> None:
        nonlocal told
        told += more

    read_ranged(place.read, len(place.content), part, running, on_bytes=hear, terms=terms)
    return running.hexdigest(), told


@given(size_bytes=st.integers(0, 95), kept_bytes=st.integers(0, 120), readers=st.integers(1, 6))
def test_whatever_was_there_it_ends_whole(
    tmp_path_factory: pytest.TempPathFactory, size_bytes: int, kept_bytes: int, readers: int
) -> None:
    part = tmp_path_factory.mktemp("part") / "x.part"
    place = Place(size_bytes)
    part.write_bytes((place.content + b"?" * 100)[:kept_bytes])
    found, told = bring(place, part, ReadTerms(readers=readers, range_bytes=10, attempts_max=1))
    assert part.read_bytes() == place.content
    assert found == hashlib.sha256(place.content).hexdigest()
    assert told == size_bytes


def test_ranges_come_in_any_order_and_are_hashed_in_theirs(tmp_path: Path) -> None:
    place, random = Place(500), Random(1)

    def late(start: int, end: int) -> bytes:
        time.sleep(random.random() / 100)
        return place.content[start:end]

    running = hashlib.sha256()
    read_ranged(late, 500, tmp_path / "x", running, on_bytes=lambda _: None, terms=TERMS)
    assert running.hexdigest() == hashlib.sha256(place.content).hexdigest()
    assert (tmp_path / "x").read_bytes() == place.content


def test_several_are_read_at_once_and_no_more_than_may_be(tmp_path: Path) -> None:
    place, now, most, lock = Place(500), 0, 0, threading.Lock()

    def counted(start: int, end: int) -> bytes:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.005)
        with lock:
            now -= 1
        return place.content[start:end]

    read_ranged(counted, 500, tmp_path / "x", hashlib.sha256(), on_bytes=lambda _: None, terms=TERMS)
    assert 2 <= most <= 4


def test_what_was_broken_off_is_gone_on_with(tmp_path: Path) -> None:
    place, part = Place(100), tmp_path / "x.part"
    part.write_bytes(place.content[:57])
    bring(place, part)
    assert min(place.asked) == 50, "whole ranges are kept"


def test_a_place_that_has_less_than_it_said_is_named_as_cut(tmp_path: Path) -> None:
    place = Place(100)
    with pytest.raises(WeightsUnavailable, match="of the bytes 100 to 110 there are 0; the file was cut"):
        read_ranged(place.read, 120, tmp_path / "x", hashlib.sha256(), on_bytes=lambda _: None, terms=TERMS)


def test_one_that_never_answers_is_given_up(tmp_path: Path) -> None:
    answer = threading.Event()

    def stuck(start: int, end: int) -> bytes:
        answer.wait(30)
        return b""

    try:
        with pytest.raises(WeightsUnavailable, match=r"nothing came for 0\.2 s"):
            read_ranged(stuck, 100, tmp_path / "x", hashlib.sha256(), on_bytes=lambda _: None, terms=TERMS)
    finally:
        answer.set()
