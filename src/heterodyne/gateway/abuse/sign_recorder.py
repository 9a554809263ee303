"""Chooses the requests that the supervisor is told of: those in which a policy against abuse looks for something."""

from typing import Final, Protocol

from heterodyne.admission.callers import JUDGE
from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.operation import Operation
from heterodyne.gateway.finished import Finished
from heterodyne.safety.abuse.policy import AbusePolicies

WRITES: Final = (Operation.CHAT, Operation.COMPLETION)  # whose prompts are read


class AddSign(Protocol):
    """Takes a request without its words, and the body that has them; empty: it is not to be read."""

    def __call__(self, about: AbuseSign, body: bytes, *, verbatim: bool) -> None: ...


class SignRecorder:
    """One per worker, made anew when the policies change."""

    def __init__(self, policies: AbusePolicies, add: AddSign) -> None:
        self._policies = policies
        self._add = add

    def ended(self, finished: Finished, ended: EndedRequest) -> None:
        """A request has ended, however it did. What the gateway asks a judge is nobody's abuse."""
        request, caller = finished.request, finished.hold.caller
        watched = self._policies.watched(caller.project, request.model, ended.model)
        if watched is None or caller.key == JUDGE.key:
            return
        about = AbuseSign(caller.key, caller.project, request.model, ended.model, ended.at, ended.usd or 0.0)
        is_read = watched.texts and request.operation in WRITES
        self._add(about, request.body if is_read else b"", verbatim=watched.verbatim)
