"""Every fleet that was simulated under a log, at the demand and with the headroom used up: does it keep the promise?"""

from collections.abc import Mapping, Sequence
from math import ceil

from msgspec import Struct

from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.physics.hardware import Accelerator, Link
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import Profile
from heterodyne.physics.step_time import Speculation
from heterodyne.planning.mix.interruptions import hourly_usd, rented
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind
from heterodyne.planning.mix.role_rate import KV_LINK
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.fleet import lay_out
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool
from heterodyne.simulator.fleet_text import pool_name
from heterodyne.simulator.promise import Promise
from heterodyne.simulator.report import SimulationReport, report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload

REQUESTS = 1200  # of a simulation that judges one of many fleets, or as many as are inside at once several times over
TURNS_MIN = 3.0  # answers one after the other in a short simulation
REQUESTS_MAX = 4000
POLICY, SEED = "slo", 11
TRANSFER = "nixl"  # by which KV goes from one replica to another
MARGIN = 0.1  # of the requests that may break the promise, kept for other days than the one simulated
MISSES_BEYOND = 2.0  # times as many may break it on a day that uses the headroom up


class Deployment(Struct, frozen=True, kw_only=True):
    """What every pool of the plan runs, and for whom."""

    model: ModelSpec
    name: str  # as pools and clients call it
    engine_model: str | None = None  # where its shape is to be found, if not under that name
    precision: Precision
    kv_precision: Precision
    speculation: Speculation | None = None
    promise: Promise
    kv_link: Link = KV_LINK  # of each chip, where prompts and answers are apart
    catalogue: Mapping[str, Accelerator]
    measured: tuple[Profile, ...] = ()


Replicas = tuple[tuple[str, int], ...]  # of each kind


def fleet_of(fleet: Replicas, kinds: Mapping[str, ReplicaKind], deployment: Deployment) -> FleetFile:
    """As a file has it; idle chips are no pools."""
    used = [(kinds[name], count) for name, count in fleet if kinds[name].requests_per_s]
    pools = {pool_name(kind.name): _pool(kind, count, deployment) for kind, count in used}
    return FleetFile(pools=pools, promise=deployment.promise)


def _pool(kind: ReplicaKind, count: int, deployment: Deployment) -> SimulatedPool:
    assert kind.hardware is not None, "of the catalogue"
    assert kind.engine is not None, "of the catalogue"
    link = deployment.kv_link
    return SimulatedPool(
        model=deployment.name,
        engine_model=deployment.engine_model,
        hardware=kind.hardware,
        engine=kind.engine,
        tp=kind.chips,
        precision=deployment.precision,
        kv_precision=deployment.kv_precision,
        speculation=deployment.speculation,
        slowdown=kind.slowdown,
        replicas=count,
        price_usd_per_hour=kind.usd_per_hour,
        role=kind.role,
        version=kind.handoff or None,  # those that understand each other are alike
        kv_transfer=TRANSFER if kind.handoff else None,
        kv_gb_per_s=link.pair_bytes_per_s * kind.chips / 1e9 if kind.handoff else None,
        kv_latency_ms=link.latency_s * 1e3,
    )


class Rehearsals:
    """Remembers them all."""

    def __init__(self, problem: MixProblem, deployment: Deployment, log: Sequence[TraceRequest]) -> None:
        self._deployment = deployment
        self._log = log
        self._headroom = problem.headroom
        self._kinds = {kind.name: kind for kind in problem.kinds}
        self._seen: dict[tuple[Replicas, int, bool], SimulationReport] = {}

    @property
    def simulations(self) -> int:
        """So far."""
        return len(self._seen)

    def fleets(self) -> list[Replicas]:
        """Those that were looked at, in order."""
        return list(dict.fromkeys(fleet for fleet, _, _ in self._seen))

    def usd_per_hour(self, fleet: Replicas) -> float:
        """All of it."""
        return hourly_usd(self._kinds, dict(fleet))

    def fleet(self, fleet: Replicas) -> FleetFile:
        """As a file has it, spares for what is taken back included."""
        everything = tuple((name, rented(self._kinds[name], count)) for name, count in fleet)
        return fleet_of(everything, self._kinds, self._deployment)

    def is_kept(self, fleet: Replicas, times: int = 1) -> bool:
        """The promise at the demand with a margin, and all but some more misses with the headroom used up.

        More demand is never easier, so what keeps the promise beyond is not asked again.
        """
        missed = 1.0 - self._deployment.promise.share
        enough = 1.0 - missed * (1.0 - MARGIN)
        beyond = self.beyond(fleet, times).attainment
        if beyond >= enough:
            return True
        return beyond >= 1.0 - missed * MISSES_BEYOND and self.seen(fleet, times).attainment >= enough

    def seen(self, fleet: Replicas, times: int = 1) -> SimulationReport:
        """At the demand, over so many times the usual requests."""
        return self._remembered(fleet, times, is_beyond=False)

    def beyond(self, fleet: Replicas, times: int = 1) -> SimulationReport:
        """With so much more demand as the headroom is for."""
        return self._remembered(fleet, times, is_beyond=True)

    def _remembered(self, fleet: Replicas, times: int, *, is_beyond: bool) -> SimulationReport:
        asked = fleet, times, is_beyond and self._headroom > 0
        if asked not in self._seen:
            self._seen[asked] = self._simulated(*asked)
        return self._seen[asked]

    def _simulated(self, fleet: Replicas, times: int, is_beyond: bool) -> SimulationReport:
        deployment = self._deployment
        promise = deployment.promise
        pools = lay_out(
            fleet_of(fleet, self._kinds, deployment),
            catalogue=deployment.catalogue,
            measured=deployment.measured,
            model_from=lambda _: deployment.model,
        )
        rate = promise.requests_per_s or 1.0
        if is_beyond:
            rate /= 1.0 - self._headroom
        mean_output = sum(one.output_tokens for one in self._log) / len(self._log)
        turns = rate * TURNS_MIN * (promise.slo.ttft_s + promise.slo.itl_s * mean_output) / 2
        requests = min(REQUESTS_MAX, max(REQUESTS, ceil(turns))) * times
        has_roles = any(self._kinds[name].handoff for name, _ in fleet)
        kv = KvStrategy.AUTO if has_roles else KvStrategy.PREFIX
        trial = Trial(policy=POLICY, seed=SEED, slo=promise.slo, kv=kv)
        return report(run(pools, workload(self._log, rate=rate, requests=requests), trial), trial)
