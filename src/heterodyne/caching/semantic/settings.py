"""What may be set about the semantic cache."""

from msgspec import Struct

from heterodyne.caching.semantic import verifier
from heterodyne.caching.semantic.error_account import ErrorBound


class SemanticSettings(Struct, frozen=True, kw_only=True):
    """The decisions of one semantic cache."""

    error_bound: ErrorBound = ErrorBound(per_request=0.01)
    confidence: float = 0.95  # with which the bound holds, at all times together
    explored_share_min: float = 0.2  # of what would be served, once the budget is large
    explored_share_max: float = 0.7  # of the least sure ones
    headroom_max: float = 200.0  # wrong answers that a long good past may leave to a bad present
    reserve: float = 20.0  # wrong answers in hand at which the threshold aims at the bound itself
    memory_labels: float = 20_000.0  # compared answers after which an old one counts for a third
    vetoes: frozenset[str] = verifier.VETOES  # rules by which nothing is served
    is_shadow: bool = False  # decide, measure, and serve nothing
