"""The replicas of one model together: which may take a request, and how many second attempts there may be.

Panic is judged here and not per pool: where another pool serves the model well, a pool whose only replica fails is
no reason to go on asking it.
"""

from collections.abc import Sequence
from typing import Final

from heterodyne.domain.fleet import Health, Replica, ReplicaId
from heterodyne.domain.residency import may_answer
from heterodyne.routing.health.replica_health import FULL, PAUSED, RATE_LIMITED, ReplicaHealth
from heterodyne.routing.health.snapshot import ModelHealthSnapshot
from heterodyne.routing.settings import RoutingSettings

SLOTS: Final = 10  # of the window of retries; what is forgotten is forgotten a slot at a time
QUEUED_S_MAX: Final = 60.0  # a rate limit that is back later is no reason to wait in a queue
BUSY: Final = (FULL, PAUSED, RATE_LIMITED)
CREDIT_MAX: Final = 10.0  # hedges that a quiet time may save up


class ModelHealth:
    """Counts its troubled replicas, so that with none of them the answer is ready, and with a few soon found."""

    __slots__ = (
        "_known",
        "_left",
        "_members",
        "_out",
        "_ready",
        "_slow",
        "_suspects",
        "_troubled",
        "hedge_budget",
        "panic",
        "recovering",
        "retry_budget",
    )

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
        self._suspects: list[int] | None = None  # numbers of the members that are troubled; None: to be found
        self._slow: list[int] | None = None  # the same of those in their slow start
        self._out: list[int] = []  # numbers of members that were not usable last
        self._left: Sequence[Replica] = ()  # those that were

    def publish(self, members: Sequence[tuple[Replica, ReplicaHealth]]) -> None:
        """These serve the model from now on. One that is still starting is neither usable nor missed."""
        self._known = sum(replica.health is not Health.STARTING and not replica.is_draining for replica, _ in members)
        self._members = tuple(pair for pair in members if pair[0].is_takeable)
        self._ready = tuple(replica for replica, _ in self._members)
        self._suspects = self._slow = None
        self._out, self._left = [], self._ready

    def on_request(self, tokens: int, now_s: float) -> None:
        """A first attempt starts."""
        self.retry_budget.deposit(tokens, now_s)
        self.hedge_budget.deposit()

    def on_trouble(self, change: int) -> None:
        """One replica more, or one fewer, needs a look."""
        self._troubled += change
        self._suspects = None
        if not self._troubled:
            self.panic.is_on = False

    def on_recovering(self, change: int) -> None:
        """One replica more, or one fewer, is in its slow start."""
        self.recovering += change
        self._slow = None

    def usable(self, now_s: float, tokens: int = 0) -> Sequence[Replica]:
        """The ready replicas that may take a request of so many prompt tokens, in the order of the fleet; not the
        caller's to change.

        A learned limit sends work elsewhere and never away: with all replicas at theirs, an engine's own queue is a
        better place than a refusal.
        """
        if not self._troubled:
            return self._ready
        out: list[int] = []
        full: list[Replica] = []
        judged = 0
        suspects = self._find_suspects()
        for number in suspects:
            replica, replica_health = self._members[number]
            obstacle = replica_health.may_take(now_s, tokens)
            if obstacle is None:
                continue
            out.append(number)
            if obstacle is FULL:
                if not replica_health.is_crammed:
                    full.append(replica)
            elif obstacle is not PAUSED and obstacle is not RATE_LIMITED:
                judged += 1
        if not judged:
            self.panic.is_on = False
        elif self.panic.judge(len(self._members) - judged, self._known):
            out = [number for number in suspects if self._members[number][1].fullness(now_s, tokens) is not None]
        return self._without(out) if len(out) < len(self._members) else full

    def slow(self, now_s: float) -> list[tuple[ReplicaId, float]]:
        """The ready replicas that are in their slow start, in the order of the fleet, and their weights."""
        slow = self._slow
        if slow is None:
            slow = [number for number in range(len(self._members)) if self._members[number][1].is_slow]
            self._slow = slow
        weights: list[tuple[ReplicaId, float]] = []
        for number in slow:
            replica_health = self._members[number][1]
            weight = replica_health.weight(now_s)
            if weight < 1.0:
                weights.append((replica_health.replica, weight))
        return weights

    def _find_suspects(self) -> list[int]:
        suspects = self._suspects
        if suspects is None:
            suspects = [number for number in range(len(self._members)) if self._members[number][1].is_troubled]
            self._suspects = suspects
        return suspects

    def _without(self, out: list[int]) -> Sequence[Replica]:
        """The same object while the same are left out, so that what was made of it holds."""
        if out != self._out:
            left = list(self._ready)
            for number in reversed(out):
                del left[number]
            self._out, self._left = out, left if out else self._ready
        return self._left

    @property
    def is_full(self) -> bool:
        """Whether some replica would be usable, held it not all that its operator allows, or its rate limit soon."""
        return any(one.is_crammed or 0.0 < one.rate_limit_wait_s < QUEUED_S_MAX for _, one in self._members)

    def is_full_in(self, regions: frozenset[str], now_s: float, tokens: int) -> bool:
        """Whether some replica in these regions only has enough to do now: what may go nowhere else waits for it, also
        where a learned limit would send others elsewhere."""
        return any(
            may_answer(regions, replica)
            and one.may_take(now_s, tokens) in BUSY
            and one.rate_limit_wait_s < QUEUED_S_MAX
            for replica, one in self._members
        )

    @property
    def rate_limit_wait_s(self) -> float:
        """How soon a rate limit leaves room for the request that was last asked about; 0: none is in its way."""
        return min([one.rate_limit_wait_s for _, one in self._members if one.rate_limit_wait_s], default=0.0)

    def snapshot(self, model: str, now_s: float) -> ModelHealthSnapshot:
        """As it is now."""
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


class Panic:
    """Whether the judgement of replicas is being ignored, and how often that began; one per model.

    If most replicas fail, the cause is more likely common to all (a bad request, a network, a dependency), and the few
    that are left could not carry the load anyway. Spreading over all of them loses less.
    """

    __slots__ = ("_share", "begun", "is_on")

    def __init__(self, share: float) -> None:
        self._share = share
        self.is_on = False
        self.begun = 0

    def judge(self, usable: int, known: int) -> bool:
        """`usable` of the `known` replicas are healthy."""
        is_on = usable < self._share * known
        if is_on and not self.is_on:
            self.begun += 1
        self.is_on = is_on
        return is_on


class RetryBudget:
    """How much may be retried, in tokens; one per model.

    Tokens, because repeating one prompt of 100,000 costs what repeating a thousand small ones does. First attempts
    deposit a share of their prompt tokens, retries withdraw all of theirs, and both are forgotten after a window: over
    any window, retries are at most the deposits of that window and a reserve, which lets a quiet model retry too. So
    retries never multiply the load of a model that is failing.
    """

    __slots__ = ("_balance", "_reserve", "_share", "_slot", "_slots", "_slots_per_s", "refused", "spent_tokens")

    def __init__(self, *, share: float, window_s: float, reserve_tokens_per_s: float) -> None:
        self._share = share
        self._slots_per_s = SLOTS / window_s
        self._reserve = reserve_tokens_per_s * window_s
        self._slots = [0.0] * SLOTS  # deposits less withdrawals
        self._slot = 0
        self._balance = self._reserve
        self.spent_tokens = 0
        self.refused = 0

    def deposit(self, tokens: int, now_s: float) -> None:
        """A first attempt of this many prompt tokens starts."""
        slot = int(now_s * self._slots_per_s)
        if slot > self._slot:
            self._advance(slot)
        earned = tokens * self._share
        self._slots[self._slot % SLOTS] += earned
        self._balance += earned

    def try_spend(self, tokens: int, now_s: float) -> bool:
        """Whether a request of this many prompt tokens may be sent once more; if so, it is paid for."""
        slot = int(now_s * self._slots_per_s)
        if slot > self._slot:
            self._advance(slot)
        if tokens > self._balance:
            self.refused += 1
            return False
        self._slots[self._slot % SLOTS] -= tokens
        self._balance -= tokens
        self.spent_tokens += tokens
        return True

    def available_tokens(self, now_s: float) -> float:
        """What could be spent now; never negative."""
        slot = int(now_s * self._slots_per_s)
        if slot > self._slot:
            self._advance(slot)
        return max(0.0, self._balance)

    def _advance(self, slot: int) -> None:
        for passed in range(max(self._slot + 1, slot - SLOTS + 1), slot + 1):
            self._slots[passed % SLOTS] = 0.0
        self._slot = slot
        self._balance = self._reserve + sum(self._slots)  # anew each time, so that rounding cannot pile up


class HedgeBudget:
    """At most a share of the requests is hedged; one per model."""

    __slots__ = ("_credit", "_share", "refused", "spent")

    def __init__(self, share: float) -> None:
        self._share = share
        self._credit = 0.0
        self.spent = 0
        self.refused = 0

    def deposit(self) -> None:
        """A request starts."""
        credit = self._credit + self._share
        self._credit = credit if credit < CREDIT_MAX else CREDIT_MAX

    def try_spend(self) -> bool:
        """Whether one more hedge may be sent; if so, it is paid for."""
        if self._credit < 1.0:
            self.refused += 1
            return False
        self._credit -= 1.0
        self.spent += 1
        return True
