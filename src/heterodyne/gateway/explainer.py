"""Says where a request would go and why, without sending it, and why one that was sent went where it did."""

from collections.abc import Sequence
from math import inf

import msgspec
from msgspec import structs

from heterodyne.domain.errors import HeterodyneError, UnknownModel, UnknownName
from heterodyne.domain.fleet import ModelRule, Purpose, Replica, ReplicaId, rule_against
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway.decision_log import USUAL_PER_S, Decided
from heterodyne.gateway.dialects import chat
from heterodyne.gateway.in_flight import InFlight
from heterodyne.gateway.request_handler import RequestHandler
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.routing_hints import RoutingHints
from heterodyne.gateway.routing_request_builder import RoutingRequestBuilder
from heterodyne.gateway.upstream import Upstream
from heterodyne.routing.context import check_context
from heterodyne.routing.explanation import exclusion
from heterodyne.routing.explanation.explain import explain
from heterodyne.routing.explanation.explanation import CandidateVerdict, Explanation, PastDecision, SloOutlook
from heterodyne.routing.explanation.question import Question
from heterodyne.routing.fallback import has_context
from heterodyne.routing.no_replica import unknown_model
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

NO_RULE = ModelRule()
DONE = {"flag": "wrote down", "mask": "masked", "block": "blocked"}  # what policies do about a finding
PROMPT_TOKENS = 1000  # where neither a prompt nor its length is given
HALF = 0.5  # of its share: a replica that comes back with less would more often than not be left out


class Explainer:
    """One per worker. It changes nothing: no request is counted, no chance taken, no rule of another system asked."""

    def __init__(
        self,
        *,
        upstream: Upstream,
        in_flight: InFlight,
        request_log: RequestLog,
        request_builder: RoutingRequestBuilder,
        request_handler: RequestHandler,
        worker: str,
    ) -> None:
        self._upstream = upstream
        self._in_flight = in_flight
        self._request_log = request_log
        self._request_builder = request_builder
        self._request_handler = request_handler
        self._worker = worker

    def explain(self, question: Question) -> Explanation:
        """The decision about a request like this; raises for a model that nobody has heard of."""
        snapshot = self._upstream.fleet.snapshot
        named = snapshot.aliases.get(question.model, question.model)
        model = snapshot.adapters.get(named, named)
        if not any(replica.model == model for replica in snapshot.replicas):
            raise UnknownModel(unknown_model(question.model, snapshot.names), param="model")
        request = self._request(question)
        routing_request = self._routing_request(question, request)
        explanation = self._explain(request, routing_request, adapter=named if named != model else None)
        rule, is_late = snapshot.rules.get(model, NO_RULE), _misses(explanation)
        if named == model and (is_late or _has_no_candidate(explanation)):
            others = rule.late_fallbacks if is_late else rule.fallbacks
            explanation = self._with_fallback(explanation, request, routing_request, others, in_time=is_late)
        if not rule.routing.is_overridable and (question.policy or question.slo_ttft_ms or question.slo_itl_ms):
            note = f"Requests may not ask for another policy or promise of {model}: this is what an operator would see."
            explanation = structs.replace(explanation, notes=(*explanation.notes, note))
        return structs.replace(
            explanation, worker=self._worker, notes=(*explanation.notes, *self._refusals(request, explanation))
        )

    def decision(self, request_id: str) -> PastDecision:
        """The decision about a request that was sent; raises when it is not kept."""
        decisions = self._request_log.decisions
        self._request_log.write_down()
        known = decisions.try_find(request_id)
        if known is None:
            running = (one.decided for one in self._in_flight.exchanges)
            known = next((one for one in running if one is not None and one.id == request_id), None)
        if known is None:
            raise UnknownName(_unknown(request_id, decisions.kept_max))
        return PastDecision(id=request_id, explanation=self._past(known), record=known.record)

    def decisions(self, limit: int) -> tuple[RequestRecord, ...]:
        """How the latest requests fared, the newest first."""
        self._request_log.write_down()
        return tuple(one.record for one in self._request_log.decisions.latest(limit) if one.record is not None)

    def _request(self, question: Question) -> Request:
        """As a client would send it: one user message, streamed."""
        body = {
            "model": question.model,
            "messages": [{"role": "user", "content": question.prompt or ""}],
            "stream": True,
            "max_tokens": question.output_tokens,
        }
        request = chat.read(msgspec.json.encode(body), "", inf, self._request_handler.settings)
        if question.prompt is None:
            request.prompt_tokens = question.prompt_tokens or PROMPT_TOKENS
        return request

    def _routing_request(self, question: Question, request: Request) -> RoutingRequest:
        tenant = self._request_handler.callers.salt_of(question.api_key_sha256)
        routing_hints = RoutingHints(session=question.session, urgency=Urgency(question.urgency))
        routing_request = self._request_builder.routing_request(
            request, routing_hints, tenant, self._upstream.fleet.snapshot
        )
        # An operator may ask what a policy would do that clients may not.
        routing_request.policy = question.policy
        if question.slo_ttft_ms is not None:
            routing_request.ttft_slo_s = question.slo_ttft_ms / 1000
        if question.slo_itl_ms is not None:
            routing_request.itl_slo_s = question.slo_itl_ms / 1000
        routing_request.output_tokens = self._output_tokens(question, routing_request)
        return routing_request

    def _output_tokens(self, question: Question, routing_request: RoutingRequest) -> float:
        if question.output_tokens is not None:
            return float(question.output_tokens)
        replicas = self._upstream.fleet.snapshot.by_model.get(routing_request.model, ())
        writes = all(replica.purpose in (None, Purpose.GENERATE) for replica in replicas)
        return routing_request.output_tokens if writes else 1.0

    def _explain(self, request: Request, routing_request: RoutingRequest, *, adapter: str | None = None) -> Explanation:
        upstream = self._upstream
        snapshot, now_s = upstream.fleet.snapshot, upstream.clock()
        replicas = [replica for replica in snapshot.replicas if replica.model == routing_request.model]
        usable = self._usable(routing_request.model, now_s)
        open_to_it = {one.id for one in usable}
        excluded = {one.id: self._exclusion(one, now_s) for one in replicas if one.id not in open_to_it}
        choice, refusal = None, ""
        try:
            usable = self._long_enough(usable, upstream.selector.context(request, routing_request), excluded)
        except HeterodyneError as error:
            usable, refusal = (), error.message
        if adapter is not None:
            usable = self._nearest(usable, adapter, excluded)
        router = upstream.router
        try:
            prefill_out = upstream.selector.health.prefill_out(routing_request.model, now_s, lambda: HALF)
            routing_request.prefill_out = prefill_out
            choice = router.try_dry_run(routing_request, usable, now_s) if usable else None
        except HeterodyneError as error:
            refusal = error.message
        forecasts = {one.state: one for one in router.compare(routing_request, replicas, now_s)}
        if choice is not None:
            forecasts |= {one.state: one for one in (*choice.others, choice.forecast)}
        return explain(
            routing_request,
            tuple(forecasts.values()),
            choice,
            router.objective(routing_request),
            policy=router.policy(routing_request),
            backup=self._backup(routing_request, choice, usable, now_s),
            exclusions=excluded,
            tiers=snapshot.tiers,
            refusal=refusal,
            notes=self._notes(routing_request.model),
        )

    def _usable(self, model: str, now_s: float) -> Sequence[Replica]:
        """Whom a request may be sent to, those that come back only once they take half of their share."""
        fleet_health = self._upstream.selector.health
        usable = fleet_health.usable(model, now_s)
        weights = [fleet_health.of(one.id).weight(now_s) for one in usable]
        most = max(weights, default=0.0)
        return [one for one, weight in zip(usable, weights, strict=True) if HALF * most < weight]

    def _exclusion(self, replica: Replica, now_s: float) -> str:
        rule = self._upstream.fleet.snapshot.rules.get(replica.model)
        fleet_health = self._upstream.selector.health.of(replica.id).snapshot(now_s)
        return (
            rule_against(replica, rule)
            or exclusion.by_state(replica)
            or exclusion.by_health(fleet_health, now_s)
            or exclusion.by_role(replica)
            or "another was preferred"
        )

    def _long_enough(
        self, usable: Sequence[Replica], context: float, excluded: dict[ReplicaId, str]
    ) -> Sequence[Replica]:
        """Of the usable those whose context should be enough; the others are excluded."""
        for one in usable:
            if not has_context(one, context):
                excluded[one.id] = f"its context of {one.context_tokens} tokens is too short"
        return [one for one in usable if one.id not in excluded]

    def _nearest(self, usable: Sequence[Replica], adapter: str, excluded: dict[ReplicaId, str]) -> list[Replica]:
        """Of the usable those nearest to an adapter; the others are excluded."""
        nearness = {one.id: self._upstream.adapters.nearness(one, adapter) for one in usable if adapter in one.adapters}
        nearest = min(nearness.values(), default=None)
        for one in usable:
            if one.id not in nearness:
                excluded[one.id] = f"may not hold the adapter {adapter}"
            elif nearness[one.id] is not nearest:
                excluded[one.id] = f"farther from the adapter {adapter} than another: it would have to be loaded"
        return [one for one in usable if one.id not in excluded]

    def _backup(
        self, routing_request: RoutingRequest, choice: RoutingChoice | None, usable: Sequence[Replica], now_s: float
    ) -> ReplicaId | None:
        """Who is asked when the first one fails."""
        if choice is None or len(usable) < 2:
            return None
        rest = [one for one in usable if one.id != choice.target.id]
        try:
            second = self._upstream.router.try_dry_run(routing_request, rest, now_s)
        except HeterodyneError:
            return None
        return None if second is None else second.target.id

    def _with_fallback(
        self,
        explanation: Explanation,
        request: Request,
        routing_request: RoutingRequest,
        others: Sequence[str],
        *,
        in_time: bool,
    ) -> Explanation:
        """The first model that can stand in for it, or would in time, with its own explanation."""
        for other in others:
            instead = self._explain(request, routing_request.of_model(other))
            if not _has_no_candidate(instead) and not (in_time and _misses(instead)):
                why = "in time" if in_time else "in its place"
                return structs.replace(
                    explanation,
                    instead=instead,
                    conclusion=f"{explanation.conclusion} {other} answers {why}: {instead.conclusion}",
                )
        return explanation

    def _notes(self, model: str) -> tuple[str, ...]:
        health = self._upstream.selector.health.snapshot(self._upstream.clock())
        panic = next((one for one in health.models if one.model == model), None)
        if panic is None or not panic.is_panicking:
            return ()
        return ("So many replicas fail that ejections and breakers are ignored.",)

    def _refusals(self, request: Request, explanation: Explanation) -> tuple[str, ...]:
        """What the door would say to the request once its replica is chosen."""
        answering = explanation.instead or explanation
        if answering.reason is None:
            return ()
        replica = self._upstream.fleet.wire(ReplicaId(answering.candidates[0].replica)).replica
        if replica.context_tokens is None:
            return ()
        try:
            check_context(request, replica.context_tokens)
        except HeterodyneError as error:
            return (f"It would be refused: {error.message}",)
        return ()

    def _past(self, known: Decided) -> Explanation:
        router, choice, routing_request = self._upstream.router, known.choice, known.routing_request
        routing_request.model = choice.target.model
        compared = {one.state: one for one in (*choice.others, choice.forecast)}
        explanation = explain(
            routing_request,
            tuple(compared.values()),
            choice,
            router.objective(routing_request),
            policy=router.policy(routing_request),
            tiers=self._upstream.fleet.snapshot.tiers,
            notes=_past_notes(known),
        )
        return structs.replace(explanation, worker=self._worker)


def _misses(explanation: Explanation) -> bool:
    """Whether the best that can be done breaks the promise."""
    return explanation.reason is not None and explanation.candidates[0].promise is SloOutlook.BROKEN


def _has_no_candidate(explanation: Explanation) -> bool:
    return all(candidate.verdict is CandidateVerdict.EXCLUDED for candidate in explanation.candidates)


def _past_notes(known: Decided) -> tuple[str, ...]:
    notes = []
    choice, record = known.choice, known.record
    if not choice.others:
        notes.append("Its replica was not compared by forecasts with any other.")
    if choice.target.model != known.model:
        notes.append(f"{choice.target.model} answered in the place of {known.model}.")
    if record is None:
        notes.append("It is still being answered.")
        return tuple(notes)
    if record.retries or record.continuations:
        notes.append(f"This is the last of its decisions: {_tries_before(record)}.")
    if record.is_hedged:
        notes.append(
            "A second replica was asked because the first was late; this is the decision about the one that answered."
        )
    if record.replica != choice.target.id:
        notes.append(f"{record.replica} answered.")
    notes += [f'The policy "{one.policy}" {DONE[one.action]} {one.rule} in {one.where}.' for one in record.guards]
    return tuple(notes)


def _tries_before(record: RequestRecord) -> str:
    """Which replicas failed it, and how often it was asked again."""
    words = []
    if record.retries:
        words.append("1 retry" if record.retries == 1 else f"{record.retries} retries")
    if record.continuations:
        words.append("1 continuation" if record.continuations == 1 else f"{record.continuations} continuations")
    failed = ", ".join(f"{one.replica} ({one.outcome.replace('_', ' ')})" for one in record.failed_tries)
    return f"{' and '.join(words)}, after {failed}" if failed else " and ".join(words)


def _unknown(request_id: str, kept_max: int) -> str:
    if not kept_max:
        return f'no decision about "{request_id}" is kept: `gateway.decisions_kept` is 0'
    return (
        f'no decision about "{request_id}" is kept: each worker keeps its latest {kept_max} '
        f"(`gateway.decisions_kept`), of usual requests {USUAL_PER_S} a second, and none for a request that was "
        "refused at the door"
    )
