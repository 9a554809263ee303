"""Counts and histograms that grow with a run; memory does not."""

from collections import Counter
from itertools import pairwise

from msgspec import Struct

from heterodyne.bench.failure import ExchangeFailed
from heterodyne.bench.latency_histogram import LatencyHistogram

DETAIL_LETTERS_MAX = 300


class ResponseTiming(Struct, frozen=True, kw_only=True):
    """One complete answer; times on the run's clock."""

    meant_at_s: float  # when the request was meant to be sent; latencies count from here
    sent_at_s: float
    content_at_s: list[float]
    finished_at_s: float
    prompt_tokens: int
    completion_tokens: int
    is_usage_reported: bool


class BenchTally:
    """Owned by one run."""

    def __init__(self) -> None:
        self.sent = 0
        self.succeeded = 0
        self.failures: Counter[str] = Counter()
        self.first_details: dict[str, str] = {}  # one example per kind of failure
        self.ttft = LatencyHistogram()
        self.itl = LatencyHistogram()
        self.e2e = LatencyHistogram()
        self.send_delay = LatencyHistogram()  # how late the generator itself was
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.usages_reported = 0

    @property
    def failed(self) -> int:
        """Failures of every kind."""
        return self.failures.total()

    def add(self, timing: ResponseTiming) -> None:
        """Count one complete answer."""
        self.succeeded += 1
        self.e2e.add(timing.finished_at_s - timing.meant_at_s)
        self.send_delay.add(timing.sent_at_s - timing.meant_at_s)
        self.prompt_tokens += timing.prompt_tokens
        self.completion_tokens += timing.completion_tokens
        self.usages_reported += timing.is_usage_reported
        content_at_s = timing.content_at_s
        if content_at_s:
            self.ttft.add(content_at_s[0] - timing.meant_at_s)
        for before_s, after_s in pairwise(content_at_s):
            self.itl.add(after_s - before_s)

    def add_failure(self, failed: ExchangeFailed) -> None:
        """Count one request that got no whole answer."""
        self.failures[failed.failure.value] += 1
        self.first_details.setdefault(failed.failure.value, failed.detail[:DETAIL_LETTERS_MAX])
