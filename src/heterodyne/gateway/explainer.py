"""Says where a request would go and why, without sending it, and why one that was sent went where it did."""

from collections.abc import Sequence
from math import inf

import msgspec
from msgspec import structs

from heterodyne.admission.context import check_context
from heterodyne.domain.errors import HeterodyneError, UnknownModel, UnknownName
from heterodyne.domain.fleet import ModelRule, Purpose, Replica, ReplicaId, rule_against
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway.backstage import Backstage
from heterodyne.gateway.decider import has_context
from heterodyne.gateway.decision_log import Decided
from heterodyne.gateway.dialects import chat
from heterodyne.gateway.wishes import Wishes
from heterodyne.routing import exclusion
from heterodyne.routing.ask import Ask
from heterodyne.routing.choice import Choice
from heterodyne.routing.explain import explain
from heterodyne.routing.explanation import Explanation, PastDecision, PromiseKept, Verdict
from heterodyne.routing.kv.chain import EMPTY
from heterodyne.routing.nobody import unknown_model
from heterodyne.routing.question import Question

NO_RULE = ModelRule()
PROMPT_TOKENS = 1000  # where neither a prompt nor its length is given
HALF = 0.5  # of its share: a replica that comes back with less would more often than not be left out


class Explainer:
    """One per worker. It changes nothing: no request is counted, no chance taken, no rule of another system asked."""

    def __init__(self, back: Backstage, worker: str) -> None:
        self._back = back
        self._worker = worker

    def explain(self, question: Question) -> Explanation:
        """The decision about a request like this; raises for a model that nobody has heard of."""
        back, snapshot = self._back, self._back.fleet.snapshot
        named = snapshot.aliases.get(question.model, question.model)
        model = snapshot.adapters.get(named, named)
        if not any(replica.model == model for replica in snapshot.replicas):
            raise UnknownModel(unknown_model(question.model, snapshot.names), param="model")
        request = self._request(question)
        ask = self._ask(question, request)
        told = self._explain(request, ask, adapter=named if named != model else None)
        rule, is_late = snapshot.rules.get(model, NO_RULE), _misses(told)
        if named == model and (is_late or _is_nobody(told)):
            others = rule.late_fallbacks if is_late else rule.fallbacks
            told = self._with_fallback(told, request, ask, others, in_time=is_late)
        if not rule.routing.is_overridable and (question.policy or question.slo_ttft_ms or question.slo_itl_ms):
            note = f"Requests may not ask for another policy or promise of {model}: this is what an operator would see."
            told = structs.replace(told, notes=(*told.notes, note))
        return structs.replace(told, worker=self._worker, notes=(*told.notes, *self._refusals(request, told, back)))

    def decision(self, request_id: str) -> PastDecision:
        """The decision about a request that was sent; raises when it is not kept."""
        back = self._back
        back.write_down()
        known = back.decisions.try_find(request_id)
        if known is None:
            running = (one.decided for one in back.exchanges)
            known = next((one for one in running if one is not None and one.id == request_id), None)
        if known is None:
            raise UnknownName(_unknown(request_id, back.decisions.kept_max))
        return PastDecision(id=request_id, explanation=self._past(known), record=known.record)

    def decisions(self, limit: int) -> tuple[RequestRecord, ...]:
        """How the latest requests fared, the newest first."""
        self._back.write_down()
        return tuple(one.record for one in self._back.decisions.latest(limit) if one.record is not None)

    def _request(self, question: Question) -> Request:
        """As a client would send it: one user message, streamed."""
        said = {
            "model": question.model,
            "messages": [{"role": "user", "content": question.prompt or ""}],
            "stream": True,
            "max_tokens": question.output_tokens,
        }
        request = chat.read(msgspec.json.encode(said), "", inf, self._back.settings)
        if question.prompt is not None:
            return request
        return structs.replace(request, prompt_tokens=question.prompt_tokens or PROMPT_TOKENS)

    def _ask(self, question: Question, request: Request) -> Ask:
        tenant = self._back.callers.salt_of(question.api_key_sha256)
        wishes = Wishes(session=question.session, urgency=Urgency(question.urgency))
        ask = self._back.asks.ask(request, wishes, tenant, self._back.fleet.snapshot)
        # An operator may ask what a policy would do that clients may not.
        return structs.replace(
            ask,
            policy=question.policy,
            ttft_slo_s=question.slo_ttft_ms / 1000 if question.slo_ttft_ms is not None else ask.ttft_slo_s,
            itl_slo_s=question.slo_itl_ms / 1000 if question.slo_itl_ms is not None else ask.itl_slo_s,
            output_tokens=self._output_tokens(question, ask),
        )

    def _output_tokens(self, question: Question, ask: Ask) -> float:
        if question.output_tokens is not None:
            return float(question.output_tokens)
        replicas = self._back.fleet.snapshot.by_model.get(ask.model, ())
        writes = all(replica.purpose in (None, Purpose.GENERATE) for replica in replicas)
        return ask.output_tokens if writes else 1.0

    def _explain(self, request: Request, ask: Ask, *, adapter: str | None = None) -> Explanation:
        back, snapshot, now_s = self._back, self._back.fleet.snapshot, self._back.clock()
        replicas = [replica for replica in snapshot.replicas if replica.model == ask.model]
        usable = self._usable(ask.model, now_s)
        open_to_it = {one.id for one in usable}
        excluded = {one.id: self._exclusion(one, now_s) for one in replicas if one.id not in open_to_it}
        choice, refusal = None, ""
        try:
            usable = self._long_enough(usable, back.decider.context(request, ask), excluded)
        except HeterodyneError as error:
            usable, refusal = (), error.message
        if adapter is not None:
            usable = self._nearest(usable, adapter, excluded)
        router = back.router
        try:
            choice = router.try_rehearse(ask, usable, now_s) if usable else None
        except HeterodyneError as error:
            refusal = error.message
        forecasts = {one.seat: one for one in router.compare(ask, replicas, now_s)}
        if choice is not None:
            forecasts |= {one.seat: one for one in (*choice.others, choice.forecast)}
        return explain(
            ask,
            tuple(forecasts.values()),
            choice,
            router.objective(ask),
            policy=router.policy(ask),
            backup=self._backup(ask, choice, usable, now_s),
            exclusions=excluded,
            tiers=snapshot.tiers,
            refusal=refusal,
            notes=self._notes(ask.model),
        )

    def _usable(self, model: str, now_s: float) -> Sequence[Replica]:
        """Whom a request may be sent to, those that come back only once they take half of their share."""
        standing = self._back.standing
        usable = standing.usable(model, now_s)
        weights = [standing.of(one.id).weight(now_s) for one in usable]
        most = max(weights, default=0.0)
        return [one for one, weight in zip(usable, weights, strict=True) if HALF * most < weight]

    def _exclusion(self, replica: Replica, now_s: float) -> str:
        rule = self._back.fleet.snapshot.rules.get(replica.model)
        standing = self._back.standing.of(replica.id).snapshot(now_s)
        return (
            rule_against(replica, rule)
            or exclusion.by_state(replica)
            or exclusion.by_standing(standing, now_s)
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
        nearness = {one.id: self._back.adapters.nearness(one, adapter) for one in usable if adapter in one.adapters}
        nearest = min(nearness.values(), default=None)
        for one in usable:
            if one.id not in nearness:
                excluded[one.id] = f"may not hold the adapter {adapter}"
            elif nearness[one.id] is not nearest:
                excluded[one.id] = f"farther from the adapter {adapter} than another: it would have to be loaded"
        return [one for one in usable if one.id not in excluded]

    def _backup(self, ask: Ask, choice: Choice | None, usable: Sequence[Replica], now_s: float) -> ReplicaId | None:
        """Who is asked when the first one fails."""
        if choice is None or len(usable) < 2:
            return None
        rest = [one for one in usable if one.id != choice.target.id]
        try:
            second = self._back.router.try_rehearse(ask, rest, now_s)
        except HeterodyneError:
            return None
        return None if second is None else second.target.id

    def _with_fallback(
        self, told: Explanation, request: Request, ask: Ask, others: Sequence[str], *, in_time: bool
    ) -> Explanation:
        """The first model that can stand in for it, or would in time, with its own explanation."""
        for other in others:
            instead = self._explain(request, structs.replace(ask, model=other, chain=EMPTY))
            if not _is_nobody(instead) and not (in_time and _misses(instead)):
                why = "in time" if in_time else "in its place"
                return structs.replace(
                    told, instead=instead, conclusion=f"{told.conclusion} {other} answers {why}: {instead.conclusion}"
                )
        return told

    def _notes(self, model: str) -> tuple[str, ...]:
        panic = next(
            (one for one in self._back.standing.snapshot(self._back.clock()).models if one.model == model), None
        )
        if panic is None or not panic.is_panicking:
            return ()
        return ("So many replicas fail that ejections and breakers are ignored.",)

    def _refusals(self, request: Request, told: Explanation, back: Backstage) -> tuple[str, ...]:
        """What the door would say to the request once its replica is chosen."""
        answering = told.instead or told
        if answering.reason is None:
            return ()
        replica = back.fleet.wire(ReplicaId(answering.candidates[0].replica)).replica
        if replica.context_tokens is None:
            return ()
        try:
            check_context(request, replica.context_tokens)
        except HeterodyneError as error:
            return (f"It would be refused: {error.message}",)
        return ()

    def _past(self, known: Decided) -> Explanation:
        router, choice, ask = self._back.router, known.choice, known.ask
        ask = structs.replace(ask, model=choice.target.model)
        compared = {one.seat: one for one in (*choice.others, choice.forecast)}
        told = explain(
            ask,
            tuple(compared.values()),
            choice,
            router.objective(ask),
            policy=router.policy(ask),
            tiers=self._back.fleet.snapshot.tiers,
            notes=_past_notes(known),
        )
        return structs.replace(told, worker=self._worker)


def _misses(told: Explanation) -> bool:
    """Whether the best that can be done breaks the promise."""
    return told.reason is not None and told.candidates[0].promise is PromiseKept.BROKEN


def _is_nobody(told: Explanation) -> bool:
    return all(candidate.verdict is Verdict.EXCLUDED for candidate in told.candidates)


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
        "(`gateway.decisions_kept`), and none for a request that was refused at the door"
    )
