"""What a client wants of the decision, in the `x-heterodyne-*` headers of its request."""

from math import inf
from typing import Final, final

from heterodyne.domain.errors import InvalidField, OperatorError
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.catalogue import check_objective

SESSION_BYTES_MAX: Final = 256
MS_DIGITS_MAX: Final = 9
URGENCIES: Final = {one.value.encode(): one for one in Urgency}

SESSION: Final = b"x-heterodyne-session"
CLASS: Final = b"x-heterodyne-class"
POLICY: Final = b"x-heterodyne-policy"
TTFT: Final = b"x-heterodyne-slo-ttft-ms"
ITL: Final = b"x-heterodyne-slo-itl-ms"
POOL: Final = b"x-heterodyne-pool"  # of the console alone
ALL: Final = frozenset({SESSION, CLASS, POLICY, TTFT, ITL, POOL})


@final
class RoutingHints:
    """Nothing that is not asked for."""

    __slots__ = ("itl_slo_s", "policy", "pool", "session", "ttft_slo_s", "urgency")

    def __init__(
        self,
        *,
        session: str = "",
        urgency: Urgency | None = None,
        policy: str = "",
        ttft_slo_s: float = inf,
        itl_slo_s: float = inf,
        pool: str = "",
    ) -> None:
        self.session = session
        self.urgency = urgency
        self.policy = policy
        self.ttft_slo_s = ttft_slo_s
        self.itl_slo_s = itl_slo_s
        self.pool = pool

    @property
    def overrides(self) -> str:
        """The header that asks for another promise or policy than the model's own; empty: none does."""
        if self.policy:
            return POLICY.decode()
        if self.ttft_slo_s < inf:
            return TTFT.decode()
        return ITL.decode() if self.itl_slo_s < inf else ""


NONE: Final = RoutingHints()


def read_routing_hints(headers: dict[bytes, bytes]) -> RoutingHints:
    """Raise, with the header's name, what cannot be understood."""
    if ALL.isdisjoint(headers):
        return NONE
    get = headers.get
    return RoutingHints(
        session=_session(get(SESSION)),
        urgency=_urgency(get(CLASS)),
        policy=_policy(get(POLICY)),
        ttft_slo_s=_seconds(TTFT, get(TTFT)),
        itl_slo_s=_seconds(ITL, get(ITL)),
        pool=get(POOL, b"").decode("latin-1"),
    )


def _session(value: bytes | None) -> str:
    if value is None:
        return ""
    if not value or len(value) > SESSION_BYTES_MAX:
        raise _invalid(SESSION, f"1 to {SESSION_BYTES_MAX} characters are expected")
    return value.decode("latin-1")


def _urgency(value: bytes | None) -> Urgency | None:
    if value is None:
        return None
    urgency = URGENCIES.get(value)
    if urgency is None:
        raise _invalid(CLASS, f"one of {', '.join(Urgency)} is expected")
    return urgency


def _policy(value: bytes | None) -> str:
    if value is None:
        return ""
    policy = value.decode("latin-1")
    try:
        check_objective(policy)
    except OperatorError as error:
        raise _invalid(POLICY, str(error)) from error
    return policy


def _seconds(header: bytes, value: bytes | None) -> float:
    if value is None:
        return inf
    if not value.isdigit() or len(value) > MS_DIGITS_MAX or not int(value):
        raise _invalid(header, "a whole number of milliseconds above 0 is expected")
    return int(value) / 1000


def _invalid(header: bytes, expected: str) -> InvalidField:
    name = header.decode()
    return InvalidField(f"{name}: {expected}{'' if expected.endswith('?') else '.'}", param=name)
