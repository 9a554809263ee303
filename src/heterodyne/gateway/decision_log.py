"""The latest decisions of one worker, each with how its request fared. Rendered only when somebody asks.

A busy worker decides so often that the latest would all be of one moment, and what is kept for so short a time costs
most to forget: it has left the processor's caches by then. So of one second there are USUAL_PER_S usual ones at most;
those of requests that somebody may ask about are kept in any case.
"""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Final, final

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.record import RequestRecord
from heterodyne.gateway.ended import BROKEN
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

USUAL_PER_S: Final = 100


@final
class Decided:
    """One decision. The prompt's block hashes, which may be long, are not kept, and nothing of its text."""

    __slots__ = (
        "_ended",
        "choice",
        "id",
        "itl_slo_s",
        "model",
        "output_tokens",
        "policy",
        "prompt_tokens",
        "ttft_slo_s",
        "urgency",
    )

    def __init__(
        self, request_id: str, routing_request: RoutingRequest, choice: RoutingChoice, ended: EndedRequest | None
    ) -> None:
        self.id = request_id
        self.choice = choice
        self._ended = ended  # None: the request is still being answered
        self.model = routing_request.model
        self.prompt_tokens = routing_request.prompt_tokens
        self.output_tokens = routing_request.output_tokens
        self.urgency = routing_request.urgency
        self.ttft_slo_s = routing_request.ttft_slo_s
        self.itl_slo_s = routing_request.itl_slo_s
        self.policy = routing_request.policy

    @property
    def record(self) -> RequestRecord | None:
        """How its request fared; None: it is still being answered."""
        return None if self._ended is None else self._ended.record()

    @property
    def routing_request(self) -> RoutingRequest:
        """What the decision was about."""
        return RoutingRequest(
            model=self.model,
            prompt_tokens=self.prompt_tokens,
            output_tokens=self.output_tokens,
            urgency=self.urgency,
            ttft_slo_s=self.ttft_slo_s,
            itl_slo_s=self.itl_slo_s,
            policy=self.policy,
        )


class DecisionLog:
    """Bounded: the oldest goes when there is no room."""

    __slots__ = ("_kept", "_second_s", "_usual", "add")

    def __init__(self, kept_max: int) -> None:
        self._second_s = 0.0  # when the second began that is counted
        self._usual = 0  # in it
        self.keep(kept_max)

    def has_room(self, now_s: float) -> bool:
        """Whether another usual decision of this second is kept."""
        if not 0.0 <= now_s - self._second_s < 1.0:
            self._second_s, self._usual = now_s, 0
        self._usual += 1
        return self._usual <= USUAL_PER_S

    def keep(self, kept_max: int) -> None:
        """So many from now on."""
        before = getattr(self, "_kept", ())
        self._kept: deque[Decided] = deque(before, maxlen=kept_max)
        self.add = self._kept.append  # on the request path one call less

    @property
    def kept_max(self) -> int:
        """How many there may be."""
        return self._kept.maxlen or 0

    def latest(self, limit: int) -> Iterator[Decided]:
        """The newest first."""
        return islice(reversed(self._kept), limit)

    def try_find(self, request_id: str) -> Decided | None:
        """The decision about a request; None: it is not kept, or not any more."""
        return next((one for one in reversed(self._kept) if one.id == request_id), None)

    def __len__(self) -> int:
        return len(self._kept)


def is_unusual(ended: EndedRequest) -> bool:
    """Whether somebody may want to know where a request went, and why."""
    return bool(ended.reason or ended.retries or ended.continuations or ended.is_hedged or ended.promise == BROKEN)
