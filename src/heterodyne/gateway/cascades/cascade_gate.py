"""Asks a cheap model first where a cascade says so, and gives its answer or lets the big one be asked.

The gateway asks itself, in the caller's name: the cheap model's requests have places in queues, limits and books as any
other. What is kept is told as an answer that needs no replica any more, past policies and in the words of the client's
API; a stream begins when the answer was judged.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from heterodyne.admission.scopes import check_scopes
from heterodyne.domain.errors import HeterodyneError, InvalidField
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.domain.urgency import Urgency
from heterodyne.engines.json_edit import put
from heterodyne.gateway import usage
from heterodyne.gateway.cascade_costs import BIG, CHEAP, TRIED, count_instead, note_sent, sent_for, word_of
from heterodyne.gateway.cascades.cascade import Cascade
from heterodyne.gateway.cascades.cascade_audits import CascadeAudits
from heterodyne.gateway.cascades.cascade_kept import CascadeKept
from heterodyne.gateway.inner_step import Answers, Ask, InnerStep, inner_post
from heterodyne.gateway.ready_answer import ReadyAnswers
from heterodyne.gateway.routed_head import Arrival
from heterodyne.gateway.routing_hints import CLASS, read_routing_hints
from heterodyne.gateway.routing_request_builder import RoutingRequestBuilder
from heterodyne.gateway.stored.inner_call import InnerAnswer
from heterodyne.gateway.tracer import Tracer
from heterodyne.gateway.upstream import Upstream
from heterodyne.routing.cascade.chat import prompt_of, question_of, try_answer, verifier_body, without_logprobs
from heterodyne.routing.cascade.decision import CascadeDecision, CascadeStep, StageTimes
from heterodyne.routing.fallback import NO_REPLICAS
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import metrics
from heterodyne.wire.responder import Responder

CASCADE: Final = b"x-heterodyne-cascade"
OFF: Final = b"off"
BODY_BYTES_MAX: Final = 64 * 1024  # of a request that is tried: it is read and written anew
CHAT_PATH: Final = b"/v1/chat/completions"
KEEPS: Final = (CascadeStep.KEEP, CascadeStep.ASK_CHEAP)

Later = Callable[[Arrival, Request], None]
Refused = Callable[[Arrival, HeterodyneError, Request], None]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class CascadeGate:
    """One per worker."""

    def __init__(
        self,
        upstream: Upstream,
        builder: RoutingRequestBuilder,
        ready: ReadyAnswers,
        tracer: Tracer | None,
        chance: Callable[[], float],
    ) -> None:
        self._upstream = upstream
        self._builder = builder
        self._ready = ready
        self._tracer = tracer
        self._clock = upstream.clock
        self._cascades: Mapping[str, Cascade] = {}
        self._audits = CascadeAudits(chance)
        self.ask: Ask | None = None  # set where the server is made

    def configure(self, cascades: Mapping[str, Cascade]) -> None:
        """Others from the next request on, by the name that is asked for."""
        self._cascades = cascades

    def take(self, arrival: Arrival, request: Request, *, later: Later, refused: Refused) -> Request | Responder:
        """The request that is admitted, or whoever answers it; `later` admits it when the cheap answer was judged."""
        if isinstance(request.cache, CascadeKept):
            return self._serve(arrival, request, request.cache.body)
        cascade = self._cascades.get(request.model)
        if cascade is None or request.cascade or not _is_wanted(arrival, request):
            note_sent(arrival.http.headers, request)
            return request
        if request.choices != 1 or self.ask is None:
            return request
        caller, hints = arrival.caller, read_routing_hints(arrival.http.headers)
        if caller.scopes:  # of the name that was asked for; the cheap model's own are checked when it is asked
            check_scopes(caller, request.operation, request.model, hints.urgency or Urgency.INTERACTIVE)
        body = _decode(request.body)
        times = self._times(arrival, request, cascade)
        decision = cascade.first(body, times)
        if decision.step is CascadeStep.ASK_CHEAP_FIRST:
            return self._try_cheap(arrival, request, cascade, body, times, later=later, refused=refused)
        _note(request, cascade, decision)
        if decision.step is CascadeStep.ASK_BIG:
            return request
        self._count_instead(arrival, request, cascade, None)
        return _asking(request, cascade.rule.cheap)

    def _times(self, arrival: Arrival, request: Request, cascade: Cascade) -> StageTimes:
        """What both stages are predicted to take, where that matters; judging takes about as long as the answer."""
        if cascade.rule.latency_budget_ms is None:
            return StageTimes(cheap_ms=0.0, judge_ms=0.0, big_ms=0.0)
        cheap_ms = self._predicted_ms(arrival, _asking(request, cascade.rule.cheap))
        judge_ms = (
            self._predicted_ms(arrival, _asking(request, cascade.verifier_model)) if cascade.verifier_model else 0.0
        )
        return StageTimes(cheap_ms=cheap_ms, judge_ms=judge_ms, big_ms=self._predicted_ms(arrival, request))

    def _predicted_ms(self, arrival: Arrival, request: Request) -> float:
        routing_request, choice = self._predict(arrival, request)
        if choice is None:
            return float("inf")
        forecast = choice.forecast
        return (forecast.ttft_s + forecast.itl_s * routing_request.output_tokens) * 1000

    def _count_instead(self, arrival: Arrival, request: Request, cascade: Cascade, told: bytes | None) -> None:
        """What the big model would have cost, had it been asked for what is not asked of it."""
        routing_request, choice = self._predict(arrival, request)
        cheap = None if told is None else usage.of_answer(told)[0]
        count_instead(cascade.rule.alias, routing_request, choice, cheap)

    def _predict(self, arrival: Arrival, request: Request) -> tuple[RoutingRequest, RoutingChoice | None]:
        """Where it would go now; None: nowhere."""
        routing_request = self._routing_request(arrival, request)
        return routing_request, self._upstream.try_decide(request, routing_request, NO_REPLICAS)

    def _routing_request(self, arrival: Arrival, request: Request) -> RoutingRequest:
        hints, fleet = read_routing_hints(arrival.http.headers), self._upstream.fleet.snapshot
        return self._builder.routing_request(request, hints, arrival.caller.salt, fleet)

    def _try_cheap(
        self,
        arrival: Arrival,
        request: Request,
        cascade: Cascade,
        body: dict[str, Any],
        times: StageTimes,
        *,
        later: Later,
        refused: Refused,
    ) -> Responder:
        began_s = self._clock()

        def judge(told: bytes | None, samples: bytes | None, verdict: bytes | None) -> None:
            answer = None if told is None else try_answer(told, samples, verdict, question=question_of(body))
            arrival.waited_s += self._clock() - began_s
            decision = cascade.next(body, answer, elapsed_ms=arrival.waited_s * 1000, big_ms=times.big_ms)
            _note(request, cascade, decision)
            if decision.step is CascadeStep.KEEP and told is not None:
                self._count_instead(arrival, request, cascade, told)
                assert self.ask is not None
                self._audits.kept(self.ask, cascade, body, told, arrival.caller)
                is_plain = "logprobs" not in cascade.judges or request.has_logprobs
                request.cache = CascadeKept(told if is_plain else without_logprobs(told))
            later(arrival, request)

        def answered(answers: Answers) -> None:
            told, samples = (_body(answers[0]), _body(answers[1]) if len(answers) > 1 else None)
            answer = None if told is None else try_answer(told)
            if not cascade.verifier_model or answer is None:
                judge(told, samples, None)
                return
            asked = verifier_body(cascade.verifier_model, prompt_of(body), answer)
            done = partial(_verified, partial(judge, told, samples))
            step = self._step(arrival, request, cascade, [asked], done=done, refused=refused)
            if arrival.connection.is_answering(arrival.http):
                arrival.connection.hand_over(step)

        return self._step(arrival, request, cascade, cascade.questions(body), done=answered, refused=refused)

    def _step(
        self,
        arrival: Arrival,
        request: Request,
        cascade: Cascade,
        bodies: list[dict[str, Any]],
        *,
        done: Callable[[Answers], None],
        refused: Refused,
    ) -> InnerStep:
        assert self.ask is not None
        wait_s = request.deadline_s - self._clock()
        urgency = arrival.http.headers.get(CLASS)
        headers = sent_for(TRIED, cascade.rule.alias) | ({} if urgency is None else {CLASS: urgency})
        posts = [
            inner_post(CHAT_PATH, _encode(body), arrival.caller, wait_s=wait_s, headers=headers) for body in bodies
        ]
        return InnerStep(self.ask, posts, wait_s, done=done, refused=lambda error: refused(arrival, error, request))

    def _serve(self, arrival: Arrival, request: Request, body: bytes) -> Responder:
        """The cheap answer, as the record has it: of the cheap model, at no cost of its own."""
        cheap = self._cascades[request.model].rule.cheap if request.model in self._cascades else request.model
        routing_request = self._routing_request(arrival, _asking(request, cheap))
        trace = None if self._tracer is None else self._tracer.begin(arrival.http.headers)
        return self._ready.begin(arrival, request, routing_request, trace, body)


def _is_wanted(arrival: Arrival, request: Request) -> bool:
    """Whether it is a chat that may be answered by another model than the one that was named."""
    said = arrival.http.headers.get(CASCADE)
    if said is not None and said != OFF:
        raise InvalidField(f"{CASCADE.decode()}: off is all that can be said.", param=CASCADE.decode())
    is_short = not request.is_large and len(request.body) <= BODY_BYTES_MAX
    return said is None and request.operation is Operation.CHAT and is_short


def _asking(request: Request, model: str) -> Request:
    other = request.copied()
    other.model = model
    other.body = put(request.body, {"model": msgspec.json.encode(model)})
    return other


def _note(request: Request, cascade: Cascade, decision: CascadeDecision) -> None:
    which = CHEAP if decision.step in KEEPS else BIG
    request.cascade, request.cascade_name = word_of(which, decision.reason), cascade.rule.alias
    metrics.cascade_decisions.add((cascade.rule.alias, which, decision.reason.value))


def _body(answer: InnerAnswer | None) -> bytes | None:
    return None if answer is None or answer.status != 200 else answer.body


def _verified(judge: Callable[[bytes | None], None], answers: Answers) -> None:
    judge(_body(answers[0]))
