"""How far the pods of a pool are, between being asked for and being gone, and when they were first seen so."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.fleet.kubernetes.endpoints import life_id, pod_problems
from heterodyne.fleet.kubernetes.objects import Pod
from heterodyne.fleet.kubernetes.pool_discovery import FoundReplica
from heterodyne.ports.fleet_driver import DrivenReplica

ENDED = ("Succeeded", "Failed")
DISRUPTED = "DisruptionTarget"  # the cluster is about to take the pod away


class DrivenPods:
    """One per pool; pure but for what it remembers."""

    def __init__(self) -> None:
        self._is_begun = False
        self._asked_at_s: dict[ReplicaId, float] = {}
        self._ready_at_s: dict[ReplicaId, float] = {}
        self.replicas: tuple[DrivenReplica, ...] = ()

    def take(
        self,
        pods: Iterable[Pod],
        found: Sequence[FoundReplica],
        described: Mapping[ReplicaId, Replica],
        now_s: float,
    ) -> None:
        """As the cluster has them now; `described` is how gateways reach those that it has found."""
        there = {ReplicaId(life_id(pod)): pod for pod in pods if pod.status.phase not in ENDED}
        serving = {
            ReplicaId(one.endpoint.id) for one in found if one.endpoint.is_ready and not one.endpoint.is_terminating
        }
        for id, pod in there.items():
            # What was there before us says itself when it came; of the others we know it to the millisecond.
            self._asked_at_s.setdefault(
                id, now_s if self._is_begun else _seconds(pod.metadata.creation_timestamp, now_s)
            )
            if id in serving:
                self._ready_at_s.setdefault(id, now_s if self._is_begun else _ready_since(pod, now_s))
        self._is_begun = True
        for times in (self._asked_at_s, self._ready_at_s):
            for gone in times.keys() - there.keys():
                del times[gone]
        self.replicas = tuple(self._driven(id, pod, id in serving, described) for id, pod in there.items())

    def _driven(
        self, id: ReplicaId, pod: Pod, is_serving: bool, described: Mapping[ReplicaId, Replica]
    ) -> DrivenReplica:
        stage = _stage(pod, is_serving)
        problem = next((one.text for one in pod_problems((pod,))), None)
        has_served = id in self._ready_at_s
        return DrivenReplica(
            id=id,
            stage=stage,
            asked_at_s=self._asked_at_s[id],
            ready_at_s=max(self._ready_at_s[id], self._asked_at_s[id]) if has_served else None,
            # One that is not ready for a while keeps its place; its health is probed by those who ask it.
            replica=described.get(id) if has_served else None,
            taken_at_s=_taken_at_s(pod),
            problem=problem,
        )


def _stage(pod: Pod, is_serving: bool) -> ReplicaStage:
    if pod.metadata.deletion_timestamp is not None:
        return ReplicaStage.DRAINING
    if is_serving:
        return ReplicaStage.READY
    return ReplicaStage.PENDING if pod.spec.node_name is None else ReplicaStage.WARMING


def _ready_since(pod: Pod, now_s: float) -> float:
    since = next((one.last_transition_time for one in pod.status.conditions or () if one.type == "Ready"), None)
    return _seconds(since, now_s)


def _taken_at_s(pod: Pod) -> float | None:
    for one in pod.status.conditions or ():
        if one.type == DISRUPTED and one.status == "True" and one.last_transition_time is not None:
            return _seconds(one.last_transition_time, 0.0)
    return None


def _seconds(said: str | None, otherwise: float) -> float:
    """Since the epoch."""
    try:
        return otherwise if said is None else datetime.fromisoformat(said).timestamp()
    except ValueError:
        return otherwise
