"""The latest findings of policies, kept until the supervisor has fetched them."""

from collections import deque
from collections.abc import Callable
from secrets import token_hex
from typing import Final, final

from msgspec import Struct

from heterodyne.domain.guard_hit import GuardHit
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.domain.request import Request
from heterodyne.telemetry import metrics

HITS_MAX: Final = 5000  # that wait to be fetched
HITS_OF_REQUEST_MAX: Final = 20  # one long text may hold thousands
SENT_MAX: Final = 1000  # in one answer


class HitsSeen(Struct, frozen=True, kw_only=True):
    """What one worker has found since it was asked last."""

    life: str  # of the worker: another one counts anew
    found: int  # up to and with the last of these
    hits: tuple[GuardHit, ...]


class HitsAsked(Struct, frozen=True, kw_only=True):
    """How far whoever asks has got; of another life, nothing."""

    life: str = ""
    found: int = 0


@final
class GuardHits:
    """One per worker."""

    def __init__(self, wall_clock: Callable[[], float]) -> None:
        self._wall_clock = wall_clock
        self._life = token_hex(8)
        self._kept: deque[GuardHit] = deque(maxlen=HITS_MAX)
        self._found = 0

    def of_request(self, request: Request, project: str, model: str) -> "RequestHits":
        """What its verdicts are told."""
        return RequestHits(self, request.id, project, model)

    def add(self, request: str, project: str, model: str, verdict: GuardVerdict) -> None:
        """One more."""
        self._found += 1
        self._kept.append(
            GuardHit(
                id=f"{self._life}-{self._found}",
                at=self._wall_clock(),
                request=request,
                project=project,
                model=model,
                verdict=verdict,
            )
        )

    def since(self, asked: HitsAsked) -> HitsSeen:
        """Those that whoever asks has not had, the oldest first; what gave way meanwhile is in the audit log alone."""
        had = asked.found if asked.life == self._life else 0
        first = max(0, len(self._kept) - (self._found - had))
        kept = tuple(self._kept)[first : first + SENT_MAX]
        found = self._found - len(self._kept) + first + len(kept)
        return HitsSeen(life=self._life, found=found, hits=kept)


@final
class RequestHits:
    """Counts each verdict of one request, and keeps the first."""

    __slots__ = ("_hits", "_left", "_model", "_project", "_request")

    def __init__(self, hits: GuardHits, request: str, project: str, model: str) -> None:
        self._hits = hits
        self._request = request
        self._project = project
        self._model = model
        self._left = HITS_OF_REQUEST_MAX

    def __call__(self, verdict: GuardVerdict) -> None:
        metrics.guard_verdicts.add((verdict.policy, verdict.guard, verdict.rule, verdict.action, verdict.direction))
        if self._left:
            self._left -= 1
            self._hits.add(self._request, self._project, self._model, verdict)
