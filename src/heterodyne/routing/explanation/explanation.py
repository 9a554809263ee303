"""A decision as an operator reads it: every replica, what the request would take there, and why it is chosen or not."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.routing_rule import Reason
from heterodyne.domain.urgency import Urgency


class SloOutlook(StrEnum):
    """How well a replica would keep the SLO."""

    KEPT = "kept"
    LIKELY = "likely"
    CROWDED = "crowded"  # the replica is over capacity
    BROKEN = "broken"


class CandidateVerdict(StrEnum):
    """What became of one replica."""

    CHOSEN = "chosen"
    BACKUP = "backup"  # would be asked if the chosen one failed
    PASSED = "passed"
    EXCLUDED = "excluded"  # may not be asked now


class PredictedRange(Struct, frozen=True, kw_only=True):
    """A prediction: eight times out of ten the truth lies between the two ends."""

    ms: float
    low_ms: float
    high_ms: float


class Candidate(Struct, frozen=True, kw_only=True):
    """One replica and one request."""

    replica: str
    pool: str
    hardware: str | None
    tp: int
    region: str | None
    ttft: PredictedRange
    itl: PredictedRange
    wait_ms: float  # of the TTFT, in the replica's queue
    load: float  # share of its room that would be taken, 1 or more when it is full
    cached_tokens: int  # of the prompt
    usd: float | None  # of this request; None: the replica's price is not known
    usd_per_million_tokens: float | None  # of requests of this shape, prompt and answer together
    risk: float  # SLOs it would miss: its own, and those of other requests on the replica
    promise: SloOutlook | None  # None: there is no SLO
    verdict: CandidateVerdict
    reason: str  # a sentence without a full stop


class PossibleOrigin(Struct, frozen=True, kw_only=True):
    """One way for a replica to get the KV of the prompt."""

    origin: KvOrigin | None  # None: it computes what it has not
    replica: str  # that answers
    source: str = ""  # the replica that sends it
    store: str = ""
    tokens: int  # of the prompt, that need not be computed there
    byte_count: int = 0  # that move
    transfer_ms: float = 0.0  # to bring it, computing it elsewhere included
    ttft_ms: float  # what failing would cost included, by its chance
    usd: float | None  # None: nobody says what the replica costs
    saved_ms: float = 0.0  # against the best replica with nothing brought
    saved_usd: float = 0.0
    is_taken: bool
    words: str


class ExplainedRequest(Struct, frozen=True, kw_only=True):
    """The request, as far as its place depends on it; of its text nothing."""

    model: str
    policy: str
    urgency: Urgency
    prompt_tokens: int
    output_tokens: float  # expected
    slo_ttft_ms: float | None  # None: there is no SLO
    slo_itl_ms: float | None


class Explanation(Struct, frozen=True, kw_only=True):
    """One decision about one model."""

    asked: ExplainedRequest
    candidates: tuple[Candidate, ...]  # the chosen one first, then in the order of the policy, then those excluded
    reason: Reason | None  # None: no replica is chosen
    conclusion: str
    notes: tuple[str, ...] = ()
    origins: tuple[PossibleOrigin, ...] = ()  # of the prompt's KV; empty: nothing but computing it was looked at
    instead: "Explanation | None" = None  # of the model that answers in its place; None: none does
    worker: str = ""  # whose view this is: each worker counts its own requests and learns for itself


class PastDecision(Struct, frozen=True, kw_only=True):
    """A decision that was taken, and how the request fared."""

    id: str
    explanation: Explanation
    record: RequestRecord | None  # None: it is still being answered
