"""What more replicas cost a gateway: the same load on it with one behind it and with many, in turn."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from msgspec import Struct

from benchmarks.gateway import running
from benchmarks.gateway.environments import PeerUnavailable
from benchmarks.gateway.measure import Sample
from benchmarks.gateway.peers import HETERODYNE, SGLANG_ROUTER, VLLM_ROUTER
from benchmarks.gateway.results import Row, cpu_ratios, make_row
from benchmarks.gateway.running import Gateway
from benchmarks.gateway.scenarios import REQUEST, STREAM, Scenario

REPLICAS, MORE_REPLICAS = 64, 500
# Gateways that choose between replicas of one model, and with how many they are measured.
NAMES = {REPLICAS: (HETERODYNE, VLLM_ROUTER, SGLANG_ROUTER), MORE_REPLICAS: (HETERODYNE,)}
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
        return _ratio(self.many, self.one, REQUEST)

    @property
    def stream_ratio(self) -> float | None:
        """The same per stream."""
        return _ratio(self.many, self.one, STREAM)


def measure_many(
    ones: Iterable[Gateway], rounds: Rounds, folder: Path, environments: Path, absent: dict[str, str]
) -> tuple[Measured, ...]:
    """These gateways, which run with one replica, beside themselves with many; those that do not start are noted."""
    measured: list[Measured] = []
    for replicas, names in NAMES.items():
        with ExitStack() as stack:
            ports = [replica.port for replica in stack.enter_context(running.upstream(folder, replicas))]
            pairs = []
            for one in (one for one in ones if one.name in names):
                try:
                    many = stack.enter_context(running.gateway(one.name, ports, folder, environments))
                except PeerUnavailable as unavailable:
                    absent[f"{one.name} with {replicas} replicas"] = unavailable.reason
                else:
                    pairs.append((one, many))
            samples = tuple(rounds([gateway for pair in pairs for gateway in pair], SCENARIOS))
        measured += (Measured(one=one, many=many, samples=samples) for one, many in pairs)
    return tuple(measured)


def pair_up(measured: Iterable[Measured]) -> tuple[ManyReplicas, ...]:
    """The measures of all starts, one pair a gateway."""
    pairs: dict[tuple[str, int], list[Measured]] = {}
    for each in measured:
        pairs.setdefault((each.one.name, each.many.replicas), []).append(each)
    return tuple(
        ManyReplicas(
            one=make_row(starts[0].one, [sample for start in starts for sample in start.samples]),
            many=make_row(starts[0].many, [sample for start in starts for sample in start.samples]),
        )
        for starts in pairs.values()
    )


def _ratio(many: Row, one: Row, scenario: Scenario) -> float | None:
    by_start = cpu_ratios(many, one, scenario)
    return median(by_start) if by_start else None
