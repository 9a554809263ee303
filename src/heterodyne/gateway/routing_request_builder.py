"""Makes of a request what the router wants to know of it: how long it is, what it shares, what was promised."""

from math import inf
from typing import Final, final

from heterodyne.admission.callers import CONSOLE, LOCAL
from heterodyne.admission.tokens import TokenEstimator
from heterodyne.domain.errors import InvalidField, NotAllowed
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.domain.routing_rule import KvStrategy, RoutingRule
from heterodyne.domain.urgency import Urgency
from heterodyne.engines.cache_salt import cache_salt
from heterodyne.gateway.routing_hints import NONE, POOL, RoutingHints
from heterodyne.routing.arms import Arm, Arms
from heterodyne.routing.kv.chain import BLOCK_ENDS, EMPTY, Chain, chain_of, salt_of
from heterodyne.routing.kv.sticky_sessions import session_of
from heterodyne.routing.peers.catalogue import READS_PREFIXES
from heterodyne.routing.prediction.output_length import OutputLengths
from heterodyne.routing.routing_request import RoutingRequest

NO_RULE: Final = RoutingRule()
INTERACTIVE: Final = Urgency.INTERACTIVE
STATELESS: Final = KvStrategy.STATELESS
STICKY: Final = KvStrategy.STICKY
EACH_MAX: Final = 1000  # answers that are all learned from; of later ones every fourth tells enough
GENERATES: Final = (Operation.CHAT, Operation.COMPLETION)


@final
class MeantModel:
    """What a name stands for in one fleet, and what was said of that model."""

    __slots__ = (
        "adapter",
        "has_rule",
        "is_kv_shared",
        "is_overridable",
        "is_prefix",
        "is_replicated",
        "is_sticky",
        "itl_slo_s",
        "model",
        "split",
        "ttft_slo_s",
    )

    def __init__(self, name: str, fleet: FleetSnapshot) -> None:
        named = fleet.aliases.get(name, name)
        model = fleet.adapters.get(named, named)
        said = fleet.rules.get(model)
        rule = NO_RULE if said is None else said.routing
        self.model = model
        self.adapter = named if named != model else ""
        self.has_rule = said is not None
        replicas = fleet.by_model.get(model, ())
        # What a single one is asked is known to those that are to come, where they are warmed up by it.
        is_warmed = any(replica.kv_warm_up is not None for replica in replicas)
        self.is_replicated = len(replicas) > 1 or is_warmed or model in fleet.prefill
        self.is_overridable = rule.is_overridable
        self.is_kv_shared = rule.is_kv_shared
        self.is_prefix = rule.kv not in (STATELESS, STICKY) or rule.policy in READS_PREFIXES
        self.is_sticky = rule.kv is STICKY
        self.split = None if said is None else said.split
        self.ttft_slo_s = inf if rule.ttft_slo_s is None else rule.ttft_slo_s
        self.itl_slo_s = inf if rule.itl_slo_s is None else rule.itl_slo_s


class RoutingRequestBuilder:
    """One per worker."""

    def __init__(self, tokens: TokenEstimator) -> None:
        self.tokens = tokens
        self._fleet: FleetSnapshot | None = None
        self._meant: dict[str, MeantModel] = {}  # by the names of that fleet
        self._lengths = OutputLengths()
        self._answers = 0
        self.arms = Arms()

    def routing_request(
        self, request: Request, routing_hints: RoutingHints, tenant: bytes, fleet: FleetSnapshot
    ) -> RoutingRequest:
        """For the model that the request means."""
        meant = self._what_is_meant(request.model, fleet)
        model = meant.model
        prompt_tokens = request.prompt_tokens or self.tokens.estimate(model, request.prompt_chars, tenant)
        urgency = routing_hints.urgency or INTERACTIVE
        output_tokens = 1.0
        if request.operation in GENERATES:
            each = self._lengths.expect((tenant, model, urgency), request.output_tokens_max)
            output_tokens = each * request.sequences
        is_shared = meant.is_replicated and request.prompt is not None
        if routing_hints is NONE and not meant.has_rule and not is_shared:
            return RoutingRequest(
                model=model,
                tenant=tenant,
                prompt_tokens=prompt_tokens,
                output_tokens=output_tokens,
                sequences=request.sequences,
                streams=request.stream,
            )
        if routing_hints.overrides and not meant.is_overridable:
            raise InvalidField(
                f"{routing_hints.overrides}: what {request.model!r} promises may not be changed.",
                param=routing_hints.overrides,
            )
        if routing_hints.pool:
            _check_pool(routing_hints.pool, model, tenant, fleet)
        chain, session = EMPTY, ""
        if is_shared and meant.is_prefix:
            chain = _chain(request, b"" if meant.is_kv_shared else tenant, meant.adapter, prompt_tokens)
        if is_shared and (meant.is_sticky or routing_hints.session):
            session = _session(request, routing_hints, salt_of(tenant, meant.adapter))
        # What the request says goes before what the model's rule says, which is for those that a user waits for.
        ttft_slo_s, itl_slo_s = routing_hints.ttft_slo_s, routing_hints.itl_slo_s
        if urgency is INTERACTIVE:
            ttft_slo_s = ttft_slo_s if ttft_slo_s < inf else meant.ttft_slo_s
            itl_slo_s = itl_slo_s if itl_slo_s < inf else meant.itl_slo_s
        return RoutingRequest(
            model=model,
            tenant=tenant,
            prompt_tokens=prompt_tokens,
            output_tokens=output_tokens,
            sequences=request.sequences,
            chain=chain,
            session=session,
            urgency=urgency,
            ttft_slo_s=ttft_slo_s,
            itl_slo_s=itl_slo_s,
            streams=request.stream,
            policy=routing_hints.policy,
            pool=routing_hints.pool,
            arm=self._try_arm(request, routing_hints, tenant, meant, session),
        )

    def _try_arm(
        self, request: Request, routing_hints: RoutingHints, tenant: bytes, meant: MeantModel, session: str
    ) -> Arm | None:
        """The side of a rollout that it is on; None: there is none, or it is for one pool alone."""
        if meant.split is None or routing_hints.pool:
            return None
        if meant.split.share <= 0.0:
            return self.arms.baseline(meant.split)
        conversation = session or _conversation(request, routing_hints, salt_of(tenant, meant.adapter))
        # Only of one that nobody remembers: it reads the prompt.
        goes_on = not self.arms.is_known(meant.split, conversation) and _goes_on(request)
        return self.arms.arm(meant.split, conversation, goes_on=goes_on)

    def cache_salt(self, model: str, tenant: bytes, fleet: FleetSnapshot) -> str:
        """What engines keep the KV of the tenant's prompts apart by; empty: from nobody."""
        if tenant == LOCAL.salt or self._what_is_meant(model, fleet).is_kv_shared:
            return ""
        return cache_salt(tenant)

    def _what_is_meant(self, name: str, fleet: FleetSnapshot) -> MeantModel:
        meant = self._meant.get(name) if fleet is self._fleet else None
        return self._look_up(name, fleet) if meant is None else meant

    def _look_up(self, name: str, fleet: FleetSnapshot) -> MeantModel:
        """Once for each name of a fleet; a name that it does not have is not kept, for there is no end of those."""
        if fleet is not self._fleet:
            self._fleet, self._meant = fleet, {}
        meant = MeantModel(name, fleet)
        if meant.model in fleet.by_model:
            self._meant[name] = meant
        return meant

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


def _conversation(request: Request, routing_hints: RoutingHints, salt: bytes) -> str:
    """What is to see one version alone. Vectors of two versions do not compare: without a prompt, the tenant."""
    if request.prompt is None:
        return salt.hex() or request.id
    return _session(request, routing_hints, salt)


def _goes_on(request: Request) -> bool:
    """Whether it has been answered before: more is said than its opening."""
    prompt = request.prompt
    if prompt is None:
        return False
    return (prompt.whole_bytes or len(prompt.whole())) > len(prompt.opening())
