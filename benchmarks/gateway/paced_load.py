"""An open-loop load: paced_load.py PORT SCENARIO SECONDS WARM_UP_SECONDS REQUESTS_PER_S.

Requests come at random moments, so many a second on average, whether or not those before them are answered, and a
latency counts from the moment a request was due. It speaks to whoever measures as `load.py` does.
"""

import asyncio
import gc
import random
import sys
import threading
import time
from collections import deque

import uvloop

from benchmarks.gateway.load import DRAIN_S_MAX, Counts, Pattern, User, learn_pattern, summary
from benchmarks.gateway.scenarios import SCENARIOS, Scenario

SEED = 7


class PacedUser(User):
    """A connection that waits for the next request that is due."""

    def __init__(self, load: "PacedLoad") -> None:
        super().__init__(load.scenario, load.pattern, 0.0, load.counts)
        self._load = load

    def ask(self) -> None:
        """It is connected, or answered."""
        self._load.rest(self)

    def begin(self, due_s: float) -> None:
        """Ask what was due then."""
        self.tail, self.size_bytes, self.asked_at_s = b"", 0, due_s
        self.transport.write(self.request)

    def connection_lost(self, error: Exception | None) -> None:
        """Nobody waits for a single user."""
        self._load.lose()


class PacedLoad:
    """One phase: a thread keeps the pace, since the loop's own timers count whole milliseconds."""

    def __init__(self, port: int, scenario: Scenario, pattern: Pattern) -> None:
        self._port = port
        self._connections = scenario.connections
        self.scenario, self.pattern = scenario, pattern
        self.counts = Counts()
        self._due: deque[float] = deque()
        self._resting: list[PacedUser] = []
        self._lost = 0  # connections
        self._is_over = False
        self._done = asyncio.Event()

    async def run(self, per_s: float, seconds: float) -> float:
        """The time until the last answer."""
        loop = asyncio.get_running_loop()
        users = [
            (await loop.create_connection(lambda: PacedUser(self), "127.0.0.1", self._port))[1]
            for _ in range(self._connections)
        ]
        began_s = time.perf_counter()
        pacing = threading.Thread(target=self._pace, args=(loop, per_s, began_s + seconds), daemon=True)
        pacing.start()
        try:
            async with asyncio.timeout(seconds + DRAIN_S_MAX):
                await self._done.wait()
        finally:
            pacing.join()
            for user in users:
                user.transport.abort()
        return time.perf_counter() - began_s

    def rest(self, user: PacedUser) -> None:
        """A connection is free."""
        if self._due:
            user.begin(self._due.popleft())
            return
        self._resting.append(user)
        self._end()

    def lose(self) -> None:
        """A connection is gone, refused or broken."""
        self._lost += 1
        if not self._done.is_set():
            self.counts.broken = self._lost - self.counts.refused
            self._end()

    def _arrive(self, due_s: float) -> None:
        if self._resting:
            self._resting.pop().begin(due_s)
        else:
            self._due.append(due_s)

    def _last(self) -> None:
        self._is_over = True
        self._end()

    def _end(self) -> None:
        if self._is_over and len(self._resting) + self._lost >= self._connections:
            self._done.set()

    def _pace(self, loop: asyncio.AbstractEventLoop, per_s: float, ends_at_s: float) -> None:
        chance, due_s = random.Random(SEED), time.perf_counter()
        while (due_s := due_s + chance.expovariate(per_s)) < ends_at_s:
            left_s = due_s - time.perf_counter()
            if left_s > 0.0:
                time.sleep(left_s)
            loop.call_soon_threadsafe(self._arrive, due_s)
        loop.call_soon_threadsafe(self._last)


async def main(port: int, scenario: Scenario, seconds: float, warm_up_seconds: float, per_s: float) -> None:
    """Warm up, wait for the word, measure, print."""
    pattern = learn_pattern(port, scenario.request())
    await PacedLoad(port, scenario, pattern).run(per_s, warm_up_seconds)
    gc.disable()
    print("ready", flush=True)
    sys.stdin.readline()
    load = PacedLoad(port, scenario, pattern)
    elapsed_s = await load.run(per_s, seconds)
    print(summary(load.counts, elapsed_s), flush=True)


if __name__ == "__main__":
    port, name, *numbers = sys.argv[1:]
    seconds, warm_up_seconds, per_s = map(float, numbers)
    uvloop.run(main(int(port), SCENARIOS[name], seconds, warm_up_seconds, per_s))
