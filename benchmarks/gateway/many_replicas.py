"""What more replicas cost a gateway: the same load on it with one behind it and with 64, in turn."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from benchmarks.gateway import running
from benchmarks.gateway.environments import PeerUnavailable
from benchmarks.gateway.measure import Sample
from benchmarks.gateway.peers import HETERODYNE, SGLANG_ROUTER, VLLM_ROUTER
from benchmarks.gateway.results import Row, make_row
from benchmarks.gateway.running import Gateway
from benchmarks.gateway.scenarios import REQUEST, STREAM

REPLICAS = 64
NAMES = (HETERODYNE, VLLM_ROUTER, SGLANG_ROUTER)  # gateways that choose between replicas of one model
SCENARIOS = (REQUEST.name, STREAM.name)

Rounds = Callable[[list[Gateway], Iterable[str]], list[Sample]]


class Measured(Struct, frozen=True, kw_only=True):
    """One start of a gateway with one replica and with many, and what was measured of all in that start."""

    one: Gateway
    many: Gateway
    samples: tuple[Sample, ...]


class ManyReplicas(Struct, frozen=True, kw_only=True):
    """One gateway twice."""

    one: Row
    many: Row

    @property
    def request_ratio(self) -> float | None:
        """CPU per request with many over that with one."""
        return _ratio(self.many.request_cpu_us, self.one.request_cpu_us)

    @property
    def stream_ratio(self) -> float | None:
        """The same per stream."""
        return _ratio(self.many.stream_cpu_us, self.one.stream_cpu_us)


def measure_many(
    ones: Iterable[Gateway], rounds: Rounds, folder: Path, environments: Path, absent: dict[str, str]
) -> tuple[Measured, ...]:
    """These gateways, which run with one replica, beside themselves with many; those that do not start are noted."""
    with ExitStack() as stack:
        ports = [replica.port for replica in stack.enter_context(running.upstream(folder, REPLICAS))]
        pairs = []
        for one in ones:
            if one.name not in NAMES:
                continue
            try:
                many = stack.enter_context(running.gateway(one.name, ports, folder, environments))
            except PeerUnavailable as unavailable:
                absent[f"{one.name} with {REPLICAS} replicas"] = unavailable.reason
            else:
                pairs.append((one, many))
        samples = rounds([gateway for pair in pairs for gateway in pair], SCENARIOS)
    return tuple(Measured(one=one, many=many, samples=tuple(samples)) for one, many in pairs)


def pair_up(measured: Iterable[Measured]) -> tuple[ManyReplicas, ...]:
    """The measures of all starts, one pair a gateway."""
    by_name: dict[str, list[Measured]] = {}
    for each in measured:
        by_name.setdefault(each.one.name, []).append(each)
    return tuple(
        ManyReplicas(
            one=make_row(starts[0].one, [sample for start in starts for sample in start.samples]),
            many=make_row(starts[0].many, [sample for start in starts for sample in start.samples]),
        )
        for starts in by_name.values()
    )


def _ratio(many: float | None, one: float | None) -> float | None:
    return many / one if many is not None and one else None
