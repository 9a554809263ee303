"""Builds what carries rollouts out, over the fleet's owner and the stores."""

from collections.abc import Sequence

from heterodyne.domain.errors import HeterodyneError
from heterodyne.ports.rollout_store import RolloutStore
from heterodyne.registry.catalog.reference import names_version
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.rollouts.golden_asker import golden_answers
from heterodyne.supervisor.rollouts.keeper import RolloutFleet, RolloutKeeper
from heterodyne.supervisor.rollouts.smoke import smoke_problem


def build_rollouts(owner: FleetOwner, store: RolloutStore) -> RolloutKeeper:
    """One per supervisor."""

    async def parity_problem(pools: Sequence[str]) -> str | None:
        """What the registry has against the weights of these pools; of others it knows nothing."""
        # What judges artifacts comes with their builders: a second that nobody without a rollout need wait.
        from heterodyne.assembly.catalog import open_catalog  # noqa: PLC0415
        from heterodyne.assembly.servable import servable_artifact  # noqa: PLC0415

        settings = owner.settings
        named = {name: settings.pools[name] for name in pools if name in settings.pools}
        registered = [pool for pool in named.values() if pool.weights is not None and names_version(pool.weights)]
        if not registered:
            return None
        try:
            async with open_catalog(settings) as catalog:
                for pool in registered:
                    assert pool.weights is not None
                    uri, engine = pool.weights, pool.engine
                    await servable_artifact(catalog, uri, engine, settings.registry, parity_required=True)
        except HeterodyneError as error:
            return error.message
        return None

    fleet = RolloutFleet(
        replicas=owner.replicas,
        views=owner.workers.views,
        publish=owner.take_splits,
        smoke_problem=smoke_problem,
        golden_answers=golden_answers,
        parity_problem=parity_problem,
    )
    return RolloutKeeper(store, fleet)
