"""Samples of all rounds become one median row per gateway."""

from collections.abc import Iterable
from statistics import median

from msgspec import Struct

from benchmarks.gateway.measure import Sample
from benchmarks.gateway.running import Gateway
from benchmarks.gateway.scenarios import ALONE, HALF, PACED, PROMPT, REQUEST, STREAM, Scenario
from benchmarks.gateway.upstream import TOKENS


class Row(Struct, frozen=True, kw_only=True):
    """One gateway; None where that scenario was not measured."""

    name: str
    version: str
    replicas: int
    cpu_us: dict[str, tuple[float, ...]]  # a request's, by scenario: the median of each start, in their order
    request_cpu_us: float | None
    request_kernel_us: float | None
    requests_per_s: float | None
    stream_cpu_us: float | None
    streams_per_s: float | None
    prompt_cpu_ms: float | None
    loaded_p50_ms: float | None
    loaded_p99_ms: float | None
    alone_p50_ms: float | None
    alone_p99_ms: float | None
    half_p50_ms: float | None
    half_p99_ms: float | None
    gap_p50_ms: float | None
    gap_p99_ms: float | None
    rss_mib: float
    requests: int
    failures: int  # refused, incomplete and broken answers of all scenarios and rounds

    @property
    def token_cpu_us(self) -> float | None:
        """CPU per streamed token, the cost of opening the stream spread over its tokens."""
        return None if self.stream_cpu_us is None else self.stream_cpu_us / TOKENS


def make_row(gateway: Gateway, samples: Iterable[Sample]) -> Row:
    """The medians of one gateway's samples."""
    own = [one for one in samples if (one.gateway, one.replicas) == (gateway.name, gateway.replicas)]
    request, stream, prompt, alone, half, paced = (
        [sample for sample in own if sample.scenario == scenario.name]
        for scenario in (REQUEST, STREAM, PROMPT, ALONE, HALF, PACED)
    )
    prompt_cpu_us = _median(sample.cpu_us_per_request for sample in prompt)
    return Row(
        name=gateway.name,
        version=gateway.version,
        replicas=gateway.replicas,
        cpu_us={
            scenario.name: _by_start(of) for scenario, of in ((REQUEST, request), (STREAM, stream), (PROMPT, prompt))
        },
        request_cpu_us=_median(sample.cpu_us_per_request for sample in request),
        request_kernel_us=_median(
            sample.kernel_us_per_request for sample in request if sample.kernel_us_per_request is not None
        ),
        requests_per_s=_median(sample.load.requests / sample.load.elapsed_s for sample in request),
        stream_cpu_us=_median(sample.cpu_us_per_request for sample in stream),
        streams_per_s=_median(sample.load.requests / sample.load.elapsed_s for sample in stream),
        prompt_cpu_ms=None if prompt_cpu_us is None else prompt_cpu_us / 1000,
        loaded_p50_ms=_median(sample.load.p50_ms for sample in request),
        loaded_p99_ms=_median(sample.load.p99_ms for sample in request),
        alone_p50_ms=_median(sample.load.p50_ms for sample in alone),
        alone_p99_ms=_median(sample.load.p99_ms for sample in alone),
        half_p50_ms=_median(sample.load.p50_ms for sample in half),
        half_p99_ms=_median(sample.load.p99_ms for sample in half),
        gap_p50_ms=_median(sample.load.gap_p50_ms for sample in paced),
        gap_p99_ms=_median(sample.load.gap_p99_ms for sample in paced),
        rss_mib=max((sample.rss_bytes for sample in own), default=0) / 2**20,
        requests=sum(sample.load.requests for sample in own),
        failures=sum(sample.load.refused + sample.load.incomplete + sample.load.broken for sample in own),
    )


def cpu_ratios(ours: Row | None, theirs: Row | None, scenario: Scenario) -> tuple[float, ...]:
    """CPU of a request beside another gateway's, start by start: a busy minute of the machine falls on both."""
    if ours is None or theirs is None:
        return ()
    pairs = zip(ours.cpu_us.get(scenario.name, ()), theirs.cpu_us.get(scenario.name, ()), strict=False)
    return tuple(one / other for one, other in pairs)


def _by_start(samples: Iterable[Sample]) -> tuple[float, ...]:
    starts: dict[int, list[float]] = {}
    for sample in samples:
        starts.setdefault(sample.pid, []).append(sample.cpu_us_per_request)
    return tuple(map(median, starts.values()))


def _median(values: Iterable[float]) -> float | None:
    known = list(values)
    return median(known) if known else None
