"""Pure: who else changes a workload's count, and whether that is a fight, in which we are the one that yields."""

from collections import deque

import msgspec

from heterodyne.fleet.kubernetes.objects import ManagedFields, ScaledWorkload

FIGHT_CHANGES = 3  # so many of a rival's, each after one of ours
FIGHT_S = 1800.0  # within so long; and for so long the workload is left alone then
HPA_MANAGER = "kube-controller-manager"


def last_scaler(workload: ScaledWorkload) -> str | None:
    """Who has set the count last, as the API keeps it; None: it does not say."""
    said = [one for one in workload.metadata.managed_fields or () if _sets_replicas(one)]
    if not said:
        return None
    last = max(said, key=lambda one: one.time)
    if last.manager == HPA_MANAGER:
        return f"{last.manager}, for a HorizontalPodAutoscaler"
    return last.manager


class Rivalry:
    """One per workload."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._ours: int | None = None  # that we asked for last, until somebody else has changed it
        self._changes: deque[float] = deque(maxlen=FIGHT_CHANGES)  # of rivals, after ours
        self._rival = ""

    def ask(self, count: int) -> None:
        """It was we who changed it."""
        self._ours = count

    def see(self, count: int, scaler: str | None, now_s: float) -> str | None:
        """Whose change this count is; None: nobody's but ours."""
        if self._ours is None or count == self._ours:
            return None
        self._ours = None
        self._rival = scaler or "somebody who gives no name"
        self._changes.append(now_s)
        return self._rival

    def complaint(self, now_s: float) -> str | None:
        """Why nothing is changed here any more; None: there is no fight."""
        if len(self._changes) < FIGHT_CHANGES:
            return None
        first_s, last_s = self._changes[0], self._changes[-1]
        if last_s - first_s > FIGHT_S or now_s - last_s > FIGHT_S:
            return None
        return (
            f"{self._name}: {self._rival} changed the count {FIGHT_CHANGES} times after the autoscaler had, within "
            f"{(last_s - first_s) / 60:.0f} minutes; it is left to that for "
            f"{FIGHT_S / 60:.0f} minutes. Keep one of the two."
        )


def _sets_replicas(one: ManagedFields) -> bool:
    try:
        fields = msgspec.json.decode(one.fields, type=dict[str, dict[str, object]])
    except msgspec.DecodeError:
        return False
    return "f:replicas" in fields.get("f:spec", {})
