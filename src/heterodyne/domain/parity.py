"""What was measured of an artifact beside the one it is judged by, and what came of it."""

from msgspec import Struct


class ParityMeasures(Struct, frozen=True, kw_only=True):
    """Two ways to run one model, on the same texts. Log-probabilities are natural."""

    positions: int  # of texts, at which both say what comes next
    top1_agreement: float  # share of positions with the same likeliest token
    unexplained_share: float  # of positions: they part although the reference saw no near-tie
    kl_nats: float  # mean, over the likeliest tokens that are named, all others as one
    kl_worst_nats: float
    perplexity: float
    reference_perplexity: float
    continued_tokens: int = 0  # that the candidate wrote without help, at temperature 0
    first_split: int | None = None  # tokens before the earliest that the reference would not have written; None: none
    first_split_gap_nats: float | None = None  # by how much it preferred its own there; None: more than was named

    @property
    def perplexity_ratio(self) -> float:
        return self.perplexity / self.reference_perplexity


class ParityVerdict(Struct, frozen=True, kw_only=True):
    """An artifact, judged as one engine runs it. The latest of each engine counts."""

    reference: str  # the digest of the artifact that it was judged by
    run_by: str  # what computed it
    at: float  # seconds since the epoch
    took_s: float = 0.0
    measures: ParityMeasures | None = None  # None: it was not run, for what was seen before is enough
    breaches: tuple[str, ...] = ()  # each in words, with its bound; none: it may serve

    @property
    def has_passed(self) -> bool:
        return not self.breaches
