"""An engine that lets its requests go one by one, when it is told to, and remembers the order in which they came."""

import asyncio

import msgspec

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall

DEADLINE_S = 5.0


class Turnstile:
    """A behaviour of `ScriptedEngine`. Requests are told apart by what their user says."""

    def __init__(self, tokens: int = 3) -> None:
        self.came: list[str] = []
        self.running = self.running_max = 0
        self._go = asyncio.Semaphore(0)
        self._answer = behaviours.stream(tokens)

    async def __call__(self, call: EngineCall) -> None:
        self.came.append(msgspec.convert(call.json["messages"], list[dict[str, str]])[0]["content"])
        self.running += 1
        self.running_max = max(self.running, self.running_max)
        try:
            await self._go.acquire()
            await self._answer(call)
        finally:
            self.running -= 1

    def let(self, count: int = 1) -> None:
        """So many may be answered, those that have yet to come included."""
        for _ in range(count):
            self._go.release()

    async def wait_came(self, count: int) -> list[str]:
        """All that came, once there are so many."""
        async with asyncio.timeout(DEADLINE_S):
            while len(self.came) < count:
                await asyncio.sleep(0.002)
        return self.came
