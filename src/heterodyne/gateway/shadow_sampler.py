"""Which users' requests both sides of a rollout are asked too, without anybody seeing the answers: few, in a budget."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.fleet import ModelRule
from heterodyne.domain.request import Request
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.gateway.finished import Finished
from heterodyne.rollout.asked_again import ASKED_AGAIN, body_again
from heterodyne.rollout.shadow import ShadowSample

WAITING_MAX: Final = 4
BODY_BYTES_MAX: Final = 256 << 10
ANSWER_TOKENS_MAX: Final = 256


class ShadowSampler:
    """One per worker."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.splits: dict[str, RolloutSplit] = {}  # by model; empty nearly always
        self._clock = clock
        self._next_at_s = 0.0
        self._waiting: deque[ShadowSample] = deque(maxlen=WAITING_MAX)
        self._some = asyncio.Event()

    def take(self, rules: Mapping[str, ModelRule]) -> None:
        """The rollouts of the moment."""
        splits = {model: rule.split for model, rule in rules.items() if rule.split is not None}
        self.splits = {model: split for model, split in splits.items() if split.has_copies}

    def offer(self, finished: Finished, ended: EndedRequest) -> None:
        """A request has ended; take it where it was answered and the budget has room."""
        split, request, now_s = self.splits.get(ended.model), finished.request, self._clock()
        if split is None or ended.reason or request.operation not in ASKED_AGAIN or now_s < self._next_at_s:
            return
        # Whoever may be answered in some regions only is not sent elsewhere as a copy either.
        if len(request.body) > BODY_BYTES_MAX or finished.routing_request.regions is not None:
            return
        self._next_at_s = now_s + 1.0 / split.copies_per_s
        self._waiting.append(
            ShadowSample(
                rollout=split.rollout,
                baseline_pools=split.baseline_pools,
                candidate_pools=split.candidate_pools,
                request=_copied(request, ended.model),
            )
        )
        self._some.set()

    async def next(self) -> ShadowSample:
        """Waits for one."""
        while not self._waiting:
            self._some.clear()
            await self._some.wait()
        return self._waiting.popleft()


def _copied(request: Request, model: str) -> Request:
    body = body_again(msgspec.json.decode(request.body), model, ANSWER_TOKENS_MAX)
    return Request(
        id=f"{request.id}-copy",
        operation=request.operation,
        model=model,
        body=msgspec.json.encode(body),
        cache_salt=request.cache_salt,
    )
