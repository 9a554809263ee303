"""The latest decisions of one worker, each with how its request fared. Rendered only when somebody asks."""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import final

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.record import RequestRecord
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest


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

    __slots__ = ("_kept", "add")

    def __init__(self, kept_max: int) -> None:
        self.keep(kept_max)

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
