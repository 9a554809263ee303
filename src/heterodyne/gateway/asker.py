"""Makes of a request what the router wants to know of it: how long it is, what it shares, what was promised."""

from math import inf

from heterodyne.admission.tokens import TokenEstimator
from heterodyne.domain.errors import InvalidField
from heterodyne.domain.fleet import FleetSnapshot, ModelRule
from heterodyne.domain.request import Operation, Request
from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.gateway.wishes import Wishes
from heterodyne.routing.ask import Ask, Urgency
from heterodyne.routing.kv.chain import EMPTY, Chain, chain_of, salt_of
from heterodyne.routing.kv.sticky import session_of
from heterodyne.routing.peers.catalogue import READS_PREFIXES
from heterodyne.routing.prediction.output_length import OutputLengths

NO_RULE = ModelRule()
INTERACTIVE, PREFIX, STICKY = Urgency.INTERACTIVE, KvStrategy.PREFIX, KvStrategy.STICKY
GENERATES = (Operation.CHAT, Operation.COMPLETION)


class AskMaker:
    """One per worker."""

    def __init__(self, tokens: TokenEstimator) -> None:
        self._tokens = tokens
        self._lengths = OutputLengths()

    def ask(self, request: Request, wishes: Wishes, tenant: bytes, fleet: FleetSnapshot) -> Ask:
        """For the model that the request means."""
        named = fleet.aliases.get(request.model, request.model)
        model = fleet.adapters.get(named, named) if fleet.adapters else named
        rule = fleet.rules.get(model, NO_RULE).routing
        if wishes.overrides and not rule.is_overridable:
            raise InvalidField(
                f"{wishes.overrides}: what {request.model!r} promises may not be changed.", param=wishes.overrides
            )
        urgency = wishes.urgency or INTERACTIVE
        prompt_tokens = request.prompt_tokens or self._tokens.estimate(model, request.prompt_chars)
        chain, session = EMPTY, ""
        if request.prompt and len(fleet.by_model.get(model, ())) > 1:
            adapter = named if named != model else ""
            if rule.kv is PREFIX or rule.policy in READS_PREFIXES:
                chain = _chain(request, tenant, adapter, prompt_tokens)
            if rule.kv is STICKY or wishes.session:
                session = session_of(
                    salt_of(tenant, adapter),
                    header=wishes.session,
                    user=request.user,
                    opening=(request.prompt[: request.opening_bytes],),
                )
        is_promised = urgency is INTERACTIVE
        return Ask(
            model=model,
            tenant=tenant,
            prompt_tokens=prompt_tokens,
            output_tokens=(
                self._lengths.expect((tenant, model, urgency), request.output_tokens_max)
                if request.operation in GENERATES
                else 1.0
            ),
            chain=chain,
            session=session,
            urgency=urgency,
            ttft_slo_s=_limit(wishes.ttft_slo_s, rule.ttft_slo_s if is_promised else None),
            itl_slo_s=_limit(wishes.itl_slo_s, rule.itl_slo_s if is_promised else None),
            streams=request.stream,
            policy=wishes.policy,
        )

    def learn(self, request: Request, ask: Ask, completion_tokens: int) -> None:
        """An answer was complete."""
        if completion_tokens and request.operation in GENERATES:
            self._lengths.learn((ask.tenant, ask.model, ask.urgency), completion_tokens)


def _chain(request: Request, tenant: bytes, adapter: str, prompt_tokens: int) -> Chain:
    # Tokens are counted for the whole prompt; what its bytes have besides text is spread over them.
    return chain_of(salt_of(tenant, adapter), request.prompt, prompt_tokens / len(request.prompt))


def _limit(wished_s: float, ruled_s: float | None) -> float:
    """What the request says goes before what the model's rule says."""
    if wished_s < inf:
        return wished_s
    return inf if ruled_s is None else ruled_s
