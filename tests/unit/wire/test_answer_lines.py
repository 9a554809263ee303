"""An answer without an end comes line by line, however its bytes are cut, and every way it can fail has an error."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.wire import answer_lines
from heterodyne.wire.address import Address
from heterodyne.wire.answer_lines import AnswerLines
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import ConnectFailed, ConnectionBroken, ResponseInvalid, ResponseStalled
from heterodyne.wire.message import CHUNKS_END


class ChunkServer(ScriptedEngine):
    """Answers every GET with these chunks, and then ends the answer, waits, or is cut."""

    def __init__(self, those: tuple[bytes, ...], then: str) -> None:
        super().__init__(behaviours.answer())
        self._those = those
        self._then = then

    def answer_get(self, call: EngineCall) -> None:
        task = asyncio.ensure_future(self._send(call))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _send(self, call: EngineCall) -> None:
        call.head(200, "transfer-encoding: chunked")
        for one in self._those:
            call.chunk(one)
            await asyncio.sleep(0.01)
        if self._then == "end":
            call.write(CHUNKS_END)
        elif self._then == "cut":
            call.close()


@asynccontextmanager
async def answered(*those: bytes, then: str = "end", idle_timeout_s: float = 5.0) -> AsyncIterator[AnswerLines]:
    pool = ConnectionPool(asyncio.get_running_loop())
    async with ChunkServer(those, then) as server:
        address = Address("127.0.0.1", int(server.url.rpartition(":")[2]))
        async with AnswerLines(pool, address, "/watch", b"", idle_timeout_s=idle_timeout_s) as lines:
            yield lines
        await pool.close()


async def test_lines_are_whole_however_they_are_cut() -> None:
    async with answered(b"on", b"e\ntwo\n\nth", b"ree") as lines:
        assert await lines.status() == 200
        assert [line async for line in lines] == [b"one", b"two", b"three"]


async def test_lines_come_before_the_answer_has_ended() -> None:
    async with answered(b"one\n", then="wait") as lines:
        async for line in lines:
            assert line == b"one"
            break


async def test_silence_is_not_waited_for_without_end() -> None:
    async with answered(b"one\n", then="wait", idle_timeout_s=0.2) as lines:
        with pytest.raises(ResponseStalled, match=r"/watch within 0.2 s"):
            assert [line async for line in lines] == []


async def test_a_line_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_lines, "LINE_BYTES_MAX", 10)
    async with answered(b"x" * 20, then="wait") as lines:
        with pytest.raises(ResponseInvalid, match="too long"):
            await anext(aiter(lines))


async def test_more_than_is_taken_waits_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_lines, "WAITING_BYTES_MAX", 10)
    async with answered(*([b"12345678\n"] * 50)) as lines:
        await asyncio.sleep(0.3)
        assert len([line async for line in lines]) == 50


async def test_a_connection_that_breaks_or_is_never_made_is_told() -> None:
    async with answered(b"one\n", then="cut") as lines:
        with pytest.raises(ConnectionBroken):
            assert [line async for line in lines] == []
    pool = ConnectionPool(asyncio.get_running_loop())
    async with AnswerLines(pool, Address("127.0.0.1", 1), "/", b"", idle_timeout_s=5.0) as lines:
        with pytest.raises(ConnectFailed):
            await lines.status()
    await pool.close()
