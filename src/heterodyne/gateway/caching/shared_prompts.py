"""Prompts that several workers and gateways keep together: sealed, and missed where their store is away.

What the store has near a prompt is taken into this worker's own entries, where the decision is made as ever.
"""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Final

from heterodyne.caching.entry import CachedAnswer
from heterodyne.caching.semantic.fence import FencedPrompt
from heterodyne.caching.semantic.index import Vector
from heterodyne.caching.semantic.shared_prompt import (
    SharedPrompt,
    seal_prompt,
    shared_fence,
    shared_prompt,
    try_open_prompt,
)
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.errors import HeterodyneError, Overloaded, StoreInvalid, StoreUnavailable
from heterodyne.gateway.caching.absence import StoreAbsence
from heterodyne.gateway.stored.work import StoredWorks
from heterodyne.ports.prompt_store import PromptStore, StoredPrompt
from heterodyne.telemetry import log, metrics
from heterodyne.wire.responder import Responder

LOOK_UP_S: Final = 0.5  # at most; the store has a deadline of its own
KEEP_S: Final = 20.0  # for what nobody waits for

_log = log.get("gateway")


class SharedPrompts:
    """One per worker, where there is a store."""

    def __init__(self, store: PromptStore, secret: bytes, works: StoredWorks, clock: Callable[[], float]) -> None:
        self._store = store
        self._secret = secret
        self._works = works
        self._absence = StoreAbsence("prompts_not_shared", clock)
        self._dropped: frozenset[CacheDrop] = frozenset()

    @property
    def is_away(self) -> bool:
        """Whether nobody waits for it now."""
        return self._absence.is_now

    def try_begin(
        self,
        fenced: FencedPrompt,
        embedding_model: str,
        vector: Vector,
        tenant: bytes,
        *,
        found: Callable[[SharedPrompt], None],
        go_on: Callable[[], None],
        refused: Callable[[HeterodyneError], None],
    ) -> Responder | None:
        """Look for what is near; the request goes on when that is done. None: too much waits for stores already."""
        inside = shared_fence(fenced.fence, embedding_model)

        def looked_up(stored: list[bytes]) -> None:
            for one in stored:
                prompt = try_open_prompt(one, self._secret, fence=inside, tenant=tenant)
                if prompt is not None:
                    found(prompt)
                else:
                    metrics.cache_entries_refused.add(())
                    _log.warning("kept_prompt_refused", reason="its seal is not ours")
            go_on()

        try:
            return self._works.start(partial(self._nearest, inside, vector), looked_up, refused, LOOK_UP_S)
        except Overloaded:
            return None

    def keep(self, fenced: FencedPrompt, embedding_model: str, vector: Vector, answer: CachedAnswer) -> None:
        """Nobody waits for it."""
        inside = shared_fence(fenced.fence, embedding_model)
        prompt = shared_prompt(inside, fenced.text, vector, answer)
        stored = StoredPrompt(
            fence=inside,
            answer_key=answer.key,
            vector=vector.tolist(),
            model=answer.model_version.rpartition("@")[0],
            project=answer.project,
            tags=answer.tags,
            asked_at_s=answer.asked_at_s,
            sealed=seal_prompt(prompt, self._secret),
        )
        self._start(partial(self._put, stored, answer.expires_at_s - answer.stored_at_s))

    def take_drops(self, drops: Iterable[CacheDrop]) -> None:
        """They are believed no more in any case; here the store's room is given back."""
        known, self._dropped = self._dropped, frozenset(drops)
        for drop in self._dropped - known:
            self._start(partial(self._remove, drop))

    async def close(self) -> None:
        """Nothing is looked up any more."""
        await self._store.close()

    def _start(self, work: Callable[[], Awaitable[None]]) -> None:
        if not self._absence.is_now:
            try:
                self._works.start(work, _nothing, _nothing, KEEP_S)
            except Overloaded:
                return  # whoever asks next asks a replica

    async def _nearest(self, fence: bytes, vector: Vector) -> list[bytes]:
        try:
            stored = await self._store.nearest(fence, vector.tolist())
        except StoreUnavailable as error:
            self._absence.failed(error)
            return []
        self._absence.worked()
        return stored

    async def _put(self, prompt: StoredPrompt, ttl_s: float) -> None:
        try:
            await self._store.put(prompt, ttl_s)
        except StoreInvalid as error:
            self._absence.failed(StoreUnavailable(error.message))
        except StoreUnavailable as error:
            self._absence.failed(error)
        else:
            self._absence.worked()

    async def _remove(self, drop: CacheDrop) -> None:
        try:
            await self._store.remove(drop)
        except StoreUnavailable as error:
            self._absence.failed(error)


def _nothing(_: object) -> None:
    """Whatever came of it, somebody has been told."""
