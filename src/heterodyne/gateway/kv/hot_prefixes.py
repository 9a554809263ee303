"""What many prompts begin with, worked out anew every few seconds: in a thread, for it may take long."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.kv_seen import KvPrefixSeen
from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.conversations import HotPrefix, KvConversation, hottest_of
from heterodyne.routing.router import Router

INTERVAL_S: Final = 5.0
SHARE_MAX: Final = 0.005  # of the worker's time
PREFIXES_MAX: Final = 20
PROMPTS_MIN: Final = 1.5  # lately; what only one began with is nobody's beginning
HOLDERS_MAX: Final = 100
HASH_DIGITS: Final = 12


class HotPrefixes:
    """One per worker."""

    def __init__(self, router: Router, clock: Callable[[], float]) -> None:
        self._router = router
        self._clock = clock
        self.is_on = False  # prompts are looked at
        self.latest: tuple[KvPrefixSeen, ...] = ()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            took_s = await self.look()
            await asyncio.sleep(max(INTERVAL_S, took_s / SHARE_MAX))

    async def look(self) -> float:
        """Once; returns how long that took."""
        began_s = self._clock()
        known = self._router.fabric.conversations.by_model() if self.is_on else {}
        found = await asyncio.to_thread(_hottest, known, began_s) if known else []
        self.latest = tuple(
            KvPrefixSeen(
                model=model,
                hash=f"{prefix.chain.hashes[-1]:016x}"[-HASH_DIGITS:],
                tokens=prefix.tokens,
                prompts=prefix.wants,
                held_by=self._holders(prefix.chain),
            )
            for model, prefix in found
        )
        return self._clock() - began_s

    def _holders(self, chain: Chain) -> tuple[ReplicaId, ...]:
        """Replicas that should have all of it."""
        held = self._router.index.matches(chain).by_place()
        states = (self._router.state(id) for id in self._router.trusts())
        full = [one.replica_id for one in states if one and held.get(one.place, 0.0) >= chain.ends[-1]]
        return tuple(sorted(full)[:HOLDERS_MAX])


def _hottest(known: Mapping[str, Sequence[KvConversation]], now_s: float) -> list[tuple[str, HotPrefix]]:
    found = [(model, prefix) for model, of in known.items() for prefix in hottest_of(of, PREFIXES_MAX, now_s)]
    shared = [(model, prefix) for model, prefix in found if prefix.wants >= PROMPTS_MIN]
    return sorted(shared, key=lambda pair: -pair[1].wants * pair[1].tokens)[:PREFIXES_MAX]
