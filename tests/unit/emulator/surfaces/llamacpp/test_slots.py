"""Slots that one emulated llama.cpp saves and another restores, with the traps that the real one has."""

from pathlib import Path

from heterodyne.emulator.server import EmulatorServer
from heterodyne.physics.engine_kind import EngineKind
from tests.support.emulators import order
from tests.support.surfaces import call, chat

PROMPT = "the sea is wide and deep and blue and cold, " * 40


def llamacpp(folder: Path | None) -> EmulatorServer:
    return EmulatorServer(order(EngineKind.LLAMACPP, slot_folder=None if folder is None else str(folder)))


async def test_a_slot_saved_by_one_is_restored_by_another(tmp_path: Path) -> None:
    async with llamacpp(tmp_path) as one, llamacpp(tmp_path) as other:
        first = (await chat(one, PROMPT, id_slot=0, max_tokens=8)).json
        saved = (await call(one, "/slots/0?action=save", {"filename": "a.slot"})).json
        restored = (await call(other, "/slots/1?action=restore", {"filename": "a.slot"})).json
        assert saved["n_saved"] == restored["n_restored"] == first["usage"]["total_tokens"]
        assert saved["n_written"] == restored["n_read"] == (tmp_path / "a.slot").stat().st_size
        again = (await chat(other, PROMPT, id_slot=1, max_tokens=8)).json
        assert again["choices"] == first["choices"]
        assert again["usage"]["prompt_tokens_details"]["cached_tokens"] > 0.9 * again["usage"]["prompt_tokens"]


async def test_a_slot_that_holds_nothing_saves_nothing_and_says_200(tmp_path: Path) -> None:
    async with llamacpp(tmp_path) as server:
        answer = await call(server, "/slots/63?action=save", {"filename": "a.slot"})
        assert (answer.status, answer.json["n_saved"], list(tmp_path.iterdir())) == (200, 0, [])


async def test_a_restore_that_fails_empties_the_slot(tmp_path: Path) -> None:
    async with llamacpp(tmp_path) as server:
        await chat(server, PROMPT, id_slot=0, max_tokens=8)
        (tmp_path / "a.slot").write_bytes(b"cut")
        assert (await call(server, "/slots/0?action=restore", {"filename": "a.slot"})).status == 400
        assert (await call(server, "/slots/0?action=save", {"filename": "b.slot"})).json["n_saved"] == 0


async def test_without_a_folder_nothing_is_saved(tmp_path: Path) -> None:
    async with llamacpp(None) as server:
        for action in ("save", "restore", "none"):
            assert (await call(server, f"/slots/0?action={action}", {"filename": "a.slot"})).status == 501
    async with llamacpp(tmp_path) as server:
        assert (await call(server, "/slots/0?action=none", {"filename": "a.slot"})).status == 400
        assert (await call(server, "/slots/0?action=save", {"filename": "../a"})).status == 400
