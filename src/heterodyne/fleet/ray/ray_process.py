"""The supervisor's end of the process that speaks with a Ray cluster: started when it is needed, asked one thing at a
time under a deadline, ended and started anew where it does not answer."""

import asyncio
import contextlib
import sys

import msgspec

from heterodyne.concurrency.deadline import deadline
from heterodyne.concurrency.feed import feed
from heterodyne.domain.errors import DriverUnavailable
from heterodyne.fleet.ray.messages import RayAnswer, RayCall, RayOrder

MODULE = "heterodyne.fleet.ray.ray_child"
START_TIMEOUT_S = 60.0  # a busy cluster takes its time to start the other end
CALL_TIMEOUT_S = 45.0  # all that one call waits for, starts of keepers included
END_TIMEOUT_S = 3.0
ANSWER_BYTES_MAX = 16 * 1024 * 1024


class RayProcess:
    """One per cluster; belongs to one event loop."""

    def __init__(self, order: RayOrder, module: str = MODULE) -> None:
        self._order, self._module = order, module
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def ask(self, call: RayCall) -> RayAnswer:
        """Raises `DriverUnavailable` where there is no answer; what the call has done is for the next one to say."""
        place = self._order.address
        try:
            async with deadline(START_TIMEOUT_S + CALL_TIMEOUT_S), self._turn:
                return await self._ask(call)
        except TimeoutError as error:
            raise DriverUnavailable(f"{place}: no answer in time") from error
        except (OSError, ValueError) as error:  # a line that is too long is a ValueError
            raise DriverUnavailable(f"{place}: {error}") from error

    async def close(self) -> None:
        """End it."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with deadline(END_TIMEOUT_S):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _ask(self, call: RayCall) -> RayAnswer:
        is_whole = False
        try:
            if self._process is None:
                await self._start()
            async with deadline(CALL_TIMEOUT_S):
                answer = await self._say(msgspec.json.encode(call))
            is_whole = True
        finally:
            if not is_whole:  # whoever is asked next begins with another process
                await self.close()
        return answer

    async def _start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            self._module,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,  # Ray's own talk; what matters comes as an answer
            limit=ANSWER_BYTES_MAX,
            start_new_session=True,  # a Ctrl-C at the terminal is for the parent
        )
        async with deadline(START_TIMEOUT_S):
            await self._say(msgspec.json.encode(self._order))

    async def _say(self, line: bytes) -> RayAnswer:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        said = b""
        with contextlib.suppress(ConnectionError):
            await feed(process.stdin, line + b"\n")
            said = await process.stdout.readline()
        if not said:
            raise DriverUnavailable(f"{self._order.address}: the process that speaks with it has ended")
        answer = msgspec.json.decode(said, type=RayAnswer)
        if answer.error is not None:
            raise DriverUnavailable(f"{self._order.address}: {answer.error}")
        return answer
