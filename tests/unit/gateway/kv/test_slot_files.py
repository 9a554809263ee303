"""The folder of saved slots: what is believed, and how much of it there may be."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodyne.gateway.kv.slot_files import SlotFiles, file_name, slot_key

KEYS = [slot_key("layout", b"salt", (number,)) for number in range(4)]


class Wall:
    """A clock that is set."""

    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


async def opened(folder: Path, wall: Wall | None = None, **bounds: float) -> SlotFiles:
    files = SlotFiles(folder, wall_clock=wall or Wall(), **bounds)  # type: ignore[arg-type]
    await files.open()
    return files


async def save(files: SlotFiles, key: str, data: bytes = b"kv" * 50) -> None:
    (files.folder / file_name(key)).write_bytes(data)
    assert await files.record(key, tokens=7, byte_count=len(data)) is not None


def test_a_key_is_of_layout_tenant_and_every_block() -> None:
    keys = {
        slot_key("l", b"s", (1, 2)),
        slot_key("m", b"s", (1, 2)),
        slot_key("l", b"t", (1, 2)),
        slot_key("l", b"s", (1, 3)),
        slot_key("l", b"s", (1,)),
        slot_key("ls", b"", (1, 2)),
    }
    assert len(keys) == 6
    assert slot_key("l", b"s", (1, 2)) in keys


async def test_a_file_is_found_again_also_by_the_next_process(tmp_path: Path) -> None:
    await save(await opened(tmp_path / "slots"), KEYS[0])
    files = await opened(tmp_path / "slots")
    file = await files.verified(KEYS[0])
    assert file is not None
    assert (file.tokens, file.byte_count, files.bytes) == (7, 100, 100)
    assert await files.verified(KEYS[1]) is None
    assert (tmp_path / "slots").stat().st_mode & 0o077 == 0


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def change(path: Path) -> None:
    path.write_bytes(b"x" + path.read_bytes()[1:])


@pytest.mark.parametrize("spoil", [cut, change, Path.unlink])
async def test_a_file_that_is_not_as_it_was_recorded_is_taken_away(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    files = await opened(tmp_path)
    await save(files, KEYS[0])
    spoil(tmp_path / file_name(KEYS[0]))
    assert await files.verified(KEYS[0]) is None
    assert (list(tmp_path.iterdir()), files.bytes) == ([], 0)


async def test_a_file_shorter_than_the_engine_said_is_not_recorded(tmp_path: Path) -> None:
    files = await opened(tmp_path)
    (tmp_path / file_name(KEYS[0])).write_bytes(b"short")
    assert await files.record(KEYS[0], tokens=7, byte_count=6) is None
    assert list(tmp_path.iterdir()) == []


async def test_the_folder_holds_no_more_than_it_may_and_the_file_used_longest_ago_goes(tmp_path: Path) -> None:
    files = await opened(tmp_path, bytes_max=250)
    await save(files, KEYS[0])
    await save(files, KEYS[1])
    assert await files.verified(KEYS[0]) is not None
    await save(files, KEYS[2])
    assert files.keys() == (KEYS[0], KEYS[2])
    assert len(list(tmp_path.iterdir())) == 4


async def test_too_many_and_too_old_files_go(tmp_path: Path) -> None:
    wall = Wall()
    files = await opened(tmp_path, wall, files_max=2, ttl_s=60)
    for key in KEYS[:3]:
        await save(files, key)
    assert files.keys() == (KEYS[1], KEYS[2])
    wall.now_s += 61
    assert await files.verified(KEYS[2]) is None
    await files.sweep()
    assert list(tmp_path.iterdir()) == []


async def test_leftovers_go_and_files_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / file_name(KEYS[0])).write_bytes(b"no record")
    (tmp_path / f"{KEYS[1]}.json").write_bytes(b"{}")
    (tmp_path / "notes.json").write_bytes(b"{}")
    for path in tmp_path.iterdir():
        os.utime(path, (Wall.now_s - 61, Wall.now_s - 61))
    young = tmp_path / file_name(KEYS[2])
    young.write_bytes(b"being written")
    os.utime(young, (Wall.now_s, Wall.now_s))
    files = await opened(tmp_path)
    assert young.exists()
    young.unlink()
    assert (files.keys(), [path.name for path in tmp_path.iterdir()]) == ((), ["notes.json"])
