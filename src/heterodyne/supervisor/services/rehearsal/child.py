"""The process of one rehearsal: the same requests through the simulator, once for each policy.

Run as `python -m heterodyne.supervisor.services.rehearsal.child` by the supervisor.
"""

from collections.abc import Sequence

from heterodyne.console.rehearsal.pages import RehearsalPool, RehearsalRow
from heterodyne.domain.errors import InvalidSpec, OperatorError
from heterodyne.physics.serving import Slo
from heterodyne.physics.settings import PhysicsSettings
from heterodyne.simulator.fleet import LaidOutPool, lay_out
from heterodyne.simulator.fleet_file import FleetFile
from heterodyne.simulator.report import SimulationReport, report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload
from heterodyne.supervisor.physics_facts import PhysicsFacts, physics_facts
from heterodyne.supervisor.services.child_main import run_once
from heterodyne.supervisor.services.rehearsal.order import RehearsalOrder, RehearsalResult

SEED = 7  # chance is the same for every policy, and every time
MS = 1000.0


def rehearse(order: RehearsalOrder) -> RehearsalResult:
    """Raises `InvalidSpec` where no pool is known to the performance model."""
    facts = physics_facts(PhysicsSettings(hardware=order.hardware, profiles=order.profiles))
    pools, left_out = _lay_out(order, facts)
    if not pools:
        why = "; ".join(left_out)
        raise InvalidSpec(
            f'No pool of "{order.model}" is known to the performance model, so none can be rehearsed: {why}'
        )
    slo = Slo(ttft_s=order.slo_ttft_s, itl_s=order.slo_itl_s)
    traffic = workload(order.arrivals)
    reports = []
    for policy in order.policies:
        trial = Trial(policy=policy, seed=SEED, slo=slo)
        reports.append(report(run(pools, traffic, trial), trial))
    return RehearsalResult(
        rows=tuple(_row(one, order.own_policy) for one in reports),
        left_out=left_out,
        refused=reports[0].refused,
        speeds=tuple(f"{pool.name}: {pool.basis}" for pool in pools),
    )


def _lay_out(order: RehearsalOrder, facts: PhysicsFacts) -> tuple[Sequence[LaidOutPool], tuple[str, ...]]:
    """Pool by pool, so that an unknown one costs no other."""
    pools: list[LaidOutPool] = []
    left_out = []
    for name, pool in order.pools.items():
        file = FleetFile(pools={name: pool}, left_out=())
        try:
            pools += lay_out(file, catalogue=facts.catalogue, measured=facts.measured)
        except OperatorError as error:
            left_out.append(error.message)
    return pools, tuple(left_out)


def _row(one: SimulationReport, own_policy: str) -> RehearsalRow:
    return RehearsalRow(
        policy=one.policy,
        is_used=one.policy == own_policy,
        attainment=one.attainment,
        ttft_p50_ms=one.ttft.p50_s * MS,
        ttft_p99_ms=one.ttft.p99_s * MS,
        itl_p50_ms=one.itl.p50_s * MS,
        usd=one.usd,
        usd_busy=one.usd_busy,
        usd_per_million_output_tokens_within_slo=one.usd_per_million_output_tokens_within_slo,
        pools=tuple(
            RehearsalPool(pool=pool.pool, requests=pool.requests, busy_share=pool.busy_share, usd=pool.usd)
            for pool in one.pools
        ),
    )


if __name__ == "__main__":
    run_once(RehearsalOrder, rehearse)
