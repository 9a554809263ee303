"""Makes of a request what the router wants to know of it: how long it is, what it shares, what was promised."""

from math import inf
from typing import Final

from heterodyne.admission.callers import CONSOLE
from heterodyne.admission.tokens import TokenEstimator
from heterodyne.domain.errors import InvalidField, NotAllowed
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.domain.routing_rule import KvStrategy, RoutingRule
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway.routing_hints import NONE, POOL, RoutingHints
from heterodyne.routing.kv.chain import BLOCK_ENDS, EMPTY, Chain, chain_of, salt_of
from heterodyne.routing.kv.sticky_sessions import session_of
from heterodyne.routing.peers.catalogue import READS_PREFIXES
from heterodyne.routing.prediction.output_length import OutputLengths
from heterodyne.routing.routing_request import RoutingRequest

NO_RULE: Final = RoutingRule()
INTERACTIVE: Final = Urgency.INTERACTIVE
PREFIX: Final = KvStrategy.PREFIX
STICKY: Final = KvStrategy.STICKY
EACH_MAX: Final = 1000  # answers that are all learned from; of later ones every fourth tells enough
GENERATES: Final = (Operation.CHAT, Operation.COMPLETION)


class RoutingRequestBuilder:
    """One per worker."""

    def __init__(self, tokens: TokenEstimator) -> None:
        self.tokens = tokens
        self._lengths = OutputLengths()
        self._answers = 0

    def routing_request(
        self, request: Request, routing_hints: RoutingHints, tenant: bytes, fleet: FleetSnapshot
    ) -> RoutingRequest:
        """For the model that the request means."""
        named = model = fleet.aliases.get(request.model, request.model)
        if fleet.adapters:
            model = fleet.adapters.get(named, named)
        rule = NO_RULE if model not in fleet.rules else fleet.rules[model].routing
        prompt_tokens = request.prompt_tokens or self.tokens.estimate(model, request.prompt_chars, tenant)
        urgency = routing_hints.urgency or INTERACTIVE
        output_tokens = 1.0
        if request.operation in GENERATES:
            each = self._lengths.expect((tenant, model, urgency), request.output_tokens_max)
            output_tokens = each * request.sequences
        is_shared = request.prompt is not None and len(fleet.by_model.get(model, ())) > 1
        if routing_hints is NONE and rule is NO_RULE and not is_shared:
            return RoutingRequest(
                model=model,
                tenant=tenant,
                prompt_tokens=prompt_tokens,
                output_tokens=output_tokens,
                sequences=request.sequences,
                streams=request.stream,
            )
        if routing_hints.overrides and not rule.is_overridable:
            raise InvalidField(
                f"{routing_hints.overrides}: what {request.model!r} promises may not be changed.",
                param=routing_hints.overrides,
            )
        if routing_hints.pool:
            _check_pool(routing_hints.pool, model, tenant, fleet)
        adapter = named if named != model else ""
        chain, session = EMPTY, ""
        if is_shared and (rule.kv is PREFIX or rule.policy in READS_PREFIXES):
            chain = _chain(request, tenant, adapter, prompt_tokens)
        if is_shared and (rule.kv is STICKY or routing_hints.session):
            session = _session(request, routing_hints, salt_of(tenant, adapter))
        has_rule_slo = urgency is INTERACTIVE
        return RoutingRequest(
            model=model,
            tenant=tenant,
            prompt_tokens=prompt_tokens,
            output_tokens=output_tokens,
            sequences=request.sequences,
            chain=chain,
            session=session,
            urgency=urgency,
            ttft_slo_s=_limit(routing_hints.ttft_slo_s, rule.ttft_slo_s if has_rule_slo else None),
            itl_slo_s=_limit(routing_hints.itl_slo_s, rule.itl_slo_s if has_rule_slo else None),
            streams=request.stream,
            policy=routing_hints.policy,
            pool=routing_hints.pool,
        )

    def learn(self, request: Request, routing_request: RoutingRequest, completion_tokens: int) -> None:
        """An answer was complete."""
        self._answers += 1
        if self._answers > EACH_MAX and self._answers & 3:
            return
        if completion_tokens and request.operation in GENERATES:
            answers = request.prompts * request.choices
            self._lengths.learn(
                (routing_request.tenant, routing_request.model, routing_request.urgency), completion_tokens / answers
            )

    def doubt(self, routing_request: RoutingRequest) -> None:
        """It was refused for how long it seems, and no engine will ever count it."""
        self.tokens.doubt(routing_request.model, routing_request.tenant)


def _check_pool(pool: str, model: str, tenant: bytes, fleet: FleetSnapshot) -> None:
    """Clients ask for a model; which pool answers is ours to say, and an operator's who tries one out."""
    name = POOL.decode()
    if tenant != CONSOLE.salt:
        raise NotAllowed(f"{name}: only the console's playground may choose a pool; ask for a model.", param=name)
    if model in fleet.by_model and all(replica.pool != pool for replica in fleet.by_model[model]):
        raise InvalidField(f"{name}: no replica of the pool {pool[:100]!r} serves {model!r}.", param=name)


def _chain(request: Request, tenant: bytes, adapter: str, prompt_tokens: int) -> Chain:
    assert request.prompt is not None
    if len(request.body) < BLOCK_ENDS[0]:
        return EMPTY  # not one block of it
    prompt = request.prompt.whole()
    # Tokens are counted for the whole prompt; what its bytes have besides text is spread over them.
    whole_bytes = request.prompt.whole_bytes or len(prompt)
    return chain_of(salt_of(tenant, adapter), prompt, prompt_tokens / whole_bytes) if prompt else EMPTY


def _session(request: Request, routing_hints: RoutingHints, salt: bytes) -> str:
    assert request.prompt is not None
    return session_of(salt, header=routing_hints.session, user=request.user, opening=(request.prompt.opening(),))


def _limit(hinted_s: float, ruled_s: float | None) -> float:
    """What the request says goes before what the model's rule says."""
    if hinted_s < inf:
        return hinted_s
    return inf if ruled_s is None else ruled_s
