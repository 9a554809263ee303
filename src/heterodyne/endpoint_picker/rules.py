"""What an operator has said that holds for requests of proxies, as it is now."""

from collections.abc import Mapping
from typing import NamedTuple

from heterodyne.domain.errors import UnknownName
from heterodyne.domain.fleet import FleetSnapshot, PoolName, ReplicaId
from heterodyne.endpoint_picker.settings import EndpointPickerSettings


class PickerRules(NamedTuple):
    """The section of the settings, and what pools say of InferencePools."""

    settings: EndpointPickerSettings
    inference_pools: Mapping[PoolName, str]  # as `namespace/name`, of the pools that have their replicas from one
    models: frozenset[str]  # of those pools, served by somebody now or not

    def replicas_of(self, inference_pool: str, fleet: FleetSnapshot) -> frozenset[ReplicaId]:
        """Those of one InferencePool; raises for one that no pool is of."""
        pools = {pool for pool, name in self.inference_pools.items() if name == inference_pool}
        if not pools:
            raise UnknownName(
                f"x-heterodyne-inference-pool: no pool of the settings has `inference_pool` {inference_pool[:200]!r}."
            )
        return frozenset(replica.id for replica in fleet.replicas if replica.pool in pools)
