"""A file that was broken off goes on where it was, and is the same as one written at once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.files import sha256_of
from heterodyne.registry.tensors.laid_out_file import write_laid_out

HEAD = b"head"
PIECES = [bytes([number]) * (10 + number) for number in range(8)]
SIZES = [len(piece) for piece in PIECES]


class Broken(Exception):
    """Whatever ends a build."""


def breaking_at(number: int, made: list[int]) -> Callable[[int], bytes]:
    """The pieces up to that one; notes which were made."""

    def make(index: int) -> bytes:
        if index == number:
            raise Broken
        made.append(index)
        return PIECES[index]

    return make


def test_it_has_its_name_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with pytest.raises(Broken):
        write_laid_out(path, HEAD, SIZES, breaking_at(3, []))
    assert not path.exists()
    written = write_laid_out(path, HEAD, SIZES, PIECES.__getitem__)
    assert path.read_bytes() == HEAD + b"".join(PIECES)
    assert (written.size_bytes, written.sha256) == (path.stat().st_size, sha256_of(path))
    assert [one.name for one in tmp_path.iterdir()] == ["out"], "nothing is left beside it"


@pytest.mark.parametrize("number", range(len(PIECES)))
def test_what_was_on_the_disk_is_not_made_again(tmp_path: Path, number: int) -> None:
    path = tmp_path / "out"
    with pytest.raises(Broken):
        write_laid_out(path, HEAD, SIZES, breaking_at(number, []), mark_every_bytes=1)
    made: list[int] = []
    written = write_laid_out(path, HEAD, SIZES, breaking_at(-1, made), mark_every_bytes=1)
    assert made == list(range(number, len(PIECES)))
    assert path.read_bytes() == HEAD + b"".join(PIECES)
    assert written.sha256 == sha256_of(path)


def test_a_part_that_is_shorter_than_its_mark_is_begun_anew(tmp_path: Path) -> None:
    path, made = tmp_path / "out", list[int]()
    with pytest.raises(Broken):
        write_laid_out(path, HEAD, SIZES, breaking_at(5, []), mark_every_bytes=1)
    (tmp_path / "out.part").write_bytes(b"cut")
    write_laid_out(path, HEAD, SIZES, breaking_at(-1, made), mark_every_bytes=1)
    assert made == list(range(len(PIECES)))
    assert path.read_bytes() == HEAD + b"".join(PIECES)


def test_another_layout_is_another_file(tmp_path: Path) -> None:
    path, made = tmp_path / "out", list[int]()
    with pytest.raises(Broken):
        write_laid_out(path, b"other", SIZES, breaking_at(5, []), mark_every_bytes=1)
    write_laid_out(path, HEAD, SIZES, breaking_at(-1, made), mark_every_bytes=1)
    assert made == list(range(len(PIECES)))
    assert path.read_bytes() == HEAD + b"".join(PIECES)


def test_a_folder_that_takes_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsUnavailable, match="missing/out: cannot be written"):
        write_laid_out(tmp_path / "missing" / "out", HEAD, SIZES, PIECES.__getitem__)
