"""Guards elsewhere, as one request and its answer ask them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import final

from heterodyne.admission.scopes import allowed_regions
from heterodyne.domain.guard_verdict import Direction
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.guards.quick import policies_of
from heterodyne.gateway.guards.remote.remote_guards import LookedAt, RemoteGuards
from heterodyne.gateway.offload.job import GatherTexts
from heterodyne.safety.policy import GuardRule
from heterodyne.safety.remote.judged import Looked, guarded_by
from heterodyne.safety.remote.looks import PendingLook
from heterodyne.safety.request_guard import RequestGuard
from heterodyne.telemetry import log

_log = log.get("gateway")


@final
class RequestLooks:
    """One for each request that such a policy is about."""

    __slots__ = ("_caller", "_guard", "_model", "_remote", "_request_id")

    def __init__(self, remote: RemoteGuards, guard: RequestGuard, request_id: str, caller: Caller, model: str) -> None:
        self._remote = remote
        self._guard = guard
        self._request_id = request_id
        self._caller = caller
        self._model = model

    def flag(self, direction: Direction, pieces: Sequence[bytes], media_type: str = "") -> None:
        rules = [rule for rule in self._guard.plan.remote(direction) if rule.action == "flag"]
        if rules:
            self._remote.flag(rules, self._at(direction, pieces, media_type), partial(self._flagged, direction))

    def ask(
        self, direction: Direction, pieces: Sequence[bytes], done: Callable[[Looked], None], media_type: str = ""
    ) -> PendingLook:
        rules = [rule for rule in self._guard.plan.remote(direction) if rule.action == "block"]
        return self._remote.look(rules, self._at(direction, pieces, media_type), done)

    def _at(self, direction: Direction, pieces: Sequence[bytes], media_type: str) -> LookedAt:
        is_answer, guard = direction == "output", self._guard
        here: tuple[GuardRule, ...] = guard.plan.output if is_answer else ()
        values = dict(guard.placeholders.values) if here else {}
        job = GatherTexts(media_type=media_type, is_answer=is_answer, policies=policies_of(here), values=values)
        caller = self._caller
        return LookedAt(
            request_id=self._request_id,
            direction=direction,
            project=caller.project,
            model=self._model,
            owner=caller.salt,
            regions=allowed_regions(caller),
            pieces=tuple(pieces),
            job=job,
            here=here,
        )

    def _flagged(self, direction: Direction, looked: Looked) -> None:
        """The request may have been written down meanwhile: then the log and the metrics alone have it."""
        guarded = guarded_by(looked, direction)
        for one in guarded.verdicts:
            _log.info(
                "guard_flagged", request_id=self._request_id, policy=one.policy, rule=one.rule, direction=direction
            )
        self._guard.take(guarded)  # which refuses nothing, as no policy among them blocks
