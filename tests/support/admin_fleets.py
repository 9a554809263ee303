"""A fleet for the admin API to ask: it has a replica or two, knows one request, and can do one thing of each kind."""

from heterodyne.console.errors import ChangeRefused
from heterodyne.console.fleet.forms import Addition, ReloadOrder, Selection
from heterodyne.console.fleet.pages import Changed, FleetPage, Reloaded, ReplicaCondition, ReplicaRow, WorkerRow
from heterodyne.domain.fleet import Health
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.price import Price
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.explanation.explanation import ExplainedRequest, Explanation, PastDecision
from heterodyne.routing.explanation.question import Question

KNOWN = RequestRecord(id="req_1", at=1.0, operation="chat", model="chat", status=200)
WORKER = WorkerRow(name="worker-0", pid=7, version=1, seen_ago_s=0.1, in_flight=0, restarts=0)
REPLICA = ReplicaRow(
    id="chat-0",
    pool="chat",
    model="chat",
    engine="vllm",
    url="http://h:1",
    state=ReplicaCondition.READY,
    health=Health.READY,
    is_drained=False,
    is_local=False,
    is_added=False,
    in_flight=0,
    problems=(),
    load=None,
    load_age_s=None,
    restarts=0,
    hardware="h100-sxm",
    tp=1,
    region=None,
    version=None,
    labels={},
    price=Price(usd_per_hour=3.6),
    workers=(),
)


class ScriptedDecisions:
    """Knows one request, and repeats what it is asked."""

    async def explain(self, question: Question) -> Explanation:
        asked = ExplainedRequest(
            model=question.model,
            policy=question.policy,
            urgency=Urgency(question.urgency),
            prompt_tokens=len(question.prompt or ""),
            output_tokens=1.0,
            slo_ttft_ms=question.slo_ttft_ms,
            slo_itl_ms=None,
        )
        return Explanation(asked=asked, candidates=(), reason=None, conclusion="nobody")

    async def decision(self, request_id: str) -> PastDecision:
        if request_id != KNOWN.id:
            raise unknown_name("decision", request_id, [KNOWN.id])
        return PastDecision(id=request_id, explanation=await self.explain(Question(model="chat")), record=KNOWN)

    async def decisions(self, limit: int) -> tuple[RequestRecord, ...]:
        return (KNOWN,) * limit


class ScriptedFleet:
    """Refuses restarts, and knows one replica and one pool."""

    def __init__(self) -> None:
        self.decisions = ScriptedDecisions()

    def page(self) -> FleetPage:
        return FleetPage(version=1, is_applied=True, workers=(WORKER,), replicas=(REPLICA,), reload=None)

    async def drain(self, selection: Selection) -> Changed:
        if selection.replica not in (None, REPLICA.id):
            raise unknown_name("replica", selection.replica, [REPLICA.id])
        return Changed(version=2, replicas=(REPLICA.id,), is_applied=True)

    undrain = remove = drain

    async def restart(self, selection: Selection) -> Changed:
        raise ChangeRefused(f"{selection} was not started here.")

    async def add(self, addition: Addition) -> Changed:
        raise unknown_name("pool", addition.pool, [REPLICA.pool])

    async def reload(self, order: ReloadOrder) -> Reloaded:
        return Reloaded(version=2, is_applied=True)
