"""The replicas of one model together: who may take a request, and what second attempts may cost.

Panic is judged here and not per pool: where another pool serves the model well, a pool whose only replica fails is
no reason to go on asking it.
"""

from collections.abc import Sequence

from heterodyne.domain.fleet import Health, Replica
from heterodyne.routing.health.hedging import HedgeBudget
from heterodyne.routing.health.panic import Panic
from heterodyne.routing.health.replica_health import FULL, PAUSED, ReplicaHealth
from heterodyne.routing.health.retry_budget import RetryBudget
from heterodyne.routing.health.snapshot import ModelHealthSnapshot
from heterodyne.routing.settings import RoutingSettings


class ModelHealth:
    """Counts its troubled replicas, so that with none of them the answer is ready."""

    __slots__ = ("_known", "_members", "_ready", "_troubled", "hedge_budget", "panic", "recovering", "retry_budget")

    def __init__(self, settings: RoutingSettings) -> None:
        self.panic = Panic(settings.panic_share)
        self.retry_budget = RetryBudget(
            share=settings.retry_share,
            window_s=settings.retry_window_s,
            reserve_tokens_per_s=settings.retry_reserve_tokens_per_s,
        )
        self.hedge_budget = HedgeBudget(settings.hedge_share)
        self._troubled = 0
        self.recovering = 0  # replicas that have come back and are given less than their share
        self._known = 0
        self._members: tuple[tuple[Replica, ReplicaHealth], ...] = ()
        self._ready: tuple[Replica, ...] = ()

    def publish(self, members: Sequence[tuple[Replica, ReplicaHealth]]) -> None:
        """These serve the model from now on. One that is still starting is neither usable nor missed."""
        self._known = sum(replica.health is not Health.STARTING and not replica.is_draining for replica, _ in members)
        self._members = tuple(pair for pair in members if pair[0].is_takeable)
        self._ready = tuple(replica for replica, _ in self._members)

    def on_request(self, tokens: int, now_s: float) -> None:
        """A first attempt starts."""
        self.retry_budget.deposit(tokens, now_s)
        self.hedge_budget.deposit()

    def on_trouble(self, change: int) -> None:
        """One replica more, or one fewer, needs a look."""
        self._troubled += change
        if not self._troubled:
            self.panic.is_on = False

    def on_recovering(self, change: int) -> None:
        """One replica more, or one fewer, is in its slow start."""
        self.recovering += change

    def usable(self, now_s: float) -> Sequence[Replica]:
        """The ready replicas that may take a request, in the order of the fleet; not the caller's to change.

        A learned limit sends work elsewhere and never away: with everybody at theirs, an engine's own queue is a
        better place than a refusal.
        """
        if not self._troubled:
            return self._ready
        taking, full, judged = [], [], 0
        for replica, replica_health in self._members:
            obstacle = replica_health.may_take(now_s) if replica_health.is_troubled else None
            if obstacle is None:
                taking.append(replica)
            elif obstacle is FULL:
                if not replica_health.is_crammed:
                    full.append(replica)
            elif obstacle is not PAUSED:
                judged += 1
        if not judged:
            self.panic.is_on = False
        elif self.panic.judge(len(self._members) - judged, self._known):
            taking = [replica for replica, replica_health in self._members if replica_health.fullness() is None]
        return taking or full

    @property
    def is_full(self) -> bool:
        """Whether some replica would be usable, held it not all that its operator allows."""
        return any(replica_health.is_crammed for _, replica_health in self._members)

    def snapshot(self, model: str, now_s: float) -> ModelHealthSnapshot:
        """How it stands now."""
        return ModelHealthSnapshot(
            model=model,
            usable=len(self.usable(now_s)),
            ready=len(self._ready),
            known=self._known,
            is_panicking=self.panic.is_on,
            panics=self.panic.begun,
            retry_tokens_available=self.retry_budget.available_tokens(now_s),
            retry_tokens_spent=self.retry_budget.spent_tokens,
            retries_refused=self.retry_budget.refused,
            hedges=self.hedge_budget.spent,
            hedges_refused=self.hedge_budget.refused,
        )
