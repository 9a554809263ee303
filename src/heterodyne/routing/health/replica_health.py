"""One replica: what its attempts have shown, and whether it may take the next one.

    trial = health.on_start(now_s, prompt_tokens)
    health.on_first_token(now_s, expected_s, actual_s, trial)
    health.on_end(outcome, now_s, trial)

Every start has exactly one end.
"""

from typing import Final, Protocol

from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.provider_limit import ToldLimits
from heterodyne.routing.health.adaptive_limit import AdaptiveLimit
from heterodyne.routing.health.breaker import CLOSED, HALF_OPEN, NO_TRIAL, Breaker
from heterodyne.routing.health.hedging import HedgeTimer
from heterodyne.routing.health.outcome import FAILURES, Outcome
from heterodyne.routing.health.outlier import Outlier, OutlierPool
from heterodyne.routing.health.rate_limits import RateLimits
from heterodyne.routing.health.snapshot import Obstacle, ReplicaHealthSnapshot
from heterodyne.routing.settings import RoutingSettings

UNBOUNDED: Final = 1 << 31
SUCCESS: Final = Outcome.SUCCESS
REFUSED_BUSY: Final = Outcome.REFUSED_BUSY
EJECTED: Final = Obstacle.EJECTED
BREAKER_OPEN: Final = Obstacle.BREAKER_OPEN
TRIAL_RUNNING: Final = Obstacle.TRIAL_RUNNING
FULL: Final = Obstacle.FULL
PAUSED: Final = Obstacle.PAUSED
RATE_LIMITED: Final = Obstacle.RATE_LIMITED


class Group(Protocol):
    """The replicas of one model, as each of them sees it."""

    def on_request(self, tokens: int, now_s: float) -> None:
        """A first attempt starts somewhere in the group."""

    def on_trouble(self, change: int) -> None:
        """One replica more, or one fewer, has to be looked at before it is given work."""

    def on_recovering(self, change: int) -> None:
        """One replica more, or one fewer, has come back and is given less than its share."""


class ReplicaHealth:
    """Keeps its own count of requests in flight; `is_troubled` is False whenever it may certainly take a request."""

    __slots__ = (
        "_breaker",
        "_group",
        "_hedge_timer",
        "_limit",
        "_outcomes",
        "_outlier",
        "_pool",
        "_rate_limits",
        "_recovered_at_s",
        "_slow_start_s",
        "_slow_start_share_min",
        "_successes",
        "in_flight",
        "in_flight_max",
        "is_troubled",
        "replica",
    )

    def __init__(self, replica: ReplicaId, settings: RoutingSettings, pool: OutlierPool, group: Group) -> None:
        self.replica = replica
        self.in_flight = 0
        self.in_flight_max = UNBOUNDED  # what an operator allows; the learned limit is not for going beyond
        self.is_troubled = False
        self._group = group
        self._pool = pool
        self._outlier = Outlier(self._ejection_changed)
        pool.join(self._outlier)
        self._breaker = Breaker(
            failures=settings.breaker_failures, window_s=settings.breaker_window_s, open_s=settings.breaker_open_s
        )
        self._limit = AdaptiveLimit(
            initial=settings.concurrency_initial,
            lowest=settings.concurrency_min,
            highest=settings.concurrency_max,
            tolerance=settings.concurrency_tolerance,
            queue=settings.concurrency_queue,
            smoothing=settings.concurrency_smoothing,
            samples=settings.concurrency_samples,
            pause_s=settings.refusal_pause_s,
            pause_max_s=settings.refusal_pause_max_s,
        )
        self._hedge_timer = HedgeTimer(
            quantile=settings.hedge_quantile, factor_max=settings.hedge_factor_max, min_s=settings.hedge_min_s
        )
        self._rate_limits: RateLimits | None = None  # None: its provider has said nothing of any
        self._slow_start_s = settings.slow_start_s
        self._slow_start_share_min = settings.slow_start_share_min
        self._recovered_at_s: float | None = None  # None: at full weight
        self._successes = 0
        self._outcomes = dict.fromkeys(Outcome, 0)  # all but the successes

    # What happens to requests.

    def on_start(self, now_s: float, tokens: int) -> int:
        """An attempt starts. `tokens` are its prompt's, or 0 for a retry or a hedge, which earn nothing.

        The number returned is not 0 when the attempt is the trial of a half-open breaker; hand it back at its end.
        """
        self.in_flight += 1
        if tokens:
            self._group.on_request(tokens, now_s)
        trial = NO_TRIAL if self._breaker.state is CLOSED else self._breaker.try_trial(now_s)
        if (self.in_flight >= self._limit.limit or self.in_flight >= self.in_flight_max) and not self.is_troubled:
            self._settle()
        if self._rate_limits is not None:
            self._rate_limits.on_start(now_s)
            self._settle()
        return trial

    def on_first_token(self, now_s: float, expected_s: float, actual_s: float, trial: int = NO_TRIAL) -> None:
        """`expected_s` is the TTFT predicted for this request without waiting; 0 when there is no prediction.

        The loser of a hedge reports the time it has taken so far, and then ends as cancelled: otherwise a replica that
        is always outrun would never be known to be slow.
        """
        if expected_s > 0.0:
            ratio = actual_s / expected_s
            self._limit.on_sample(ratio, self.in_flight)
            self._hedge_timer.on_sample(ratio)
        if trial and self._breaker.on_good(trial):
            self._begin_slowly(now_s)
        if self.is_troubled or self.in_flight >= self._limit.limit:
            self._settle()

    def on_end(self, outcome: Outcome, now_s: float, trial: int = NO_TRIAL) -> None:
        """An attempt ends, exactly once."""
        assert self.in_flight > 0, f"{self.replica}: an attempt ended that never started"
        self.in_flight -= 1
        if outcome is SUCCESS:
            self._successes += 1
            self._pool.on_success(self._outlier, now_s)
            if self._limit.refusals_in_a_row:
                self._limit.on_taken()
            if trial and self._breaker.on_good(trial):
                self._begin_slowly(now_s)
        else:
            self._on_other_end(outcome, now_s, trial)
        if self.is_troubled:
            self._settle()

    def on_limits(self, told: ToldLimits, now_s: float, *, is_refusal: bool) -> None:
        """An answer of a provider's says what is left of its rate limits, or when to come back."""
        rate_limits = self._rate_limits
        if rate_limits is None:
            rate_limits = self._rate_limits = RateLimits()
        rate_limits.on_told(told.limits, now_s)
        if is_refusal:
            rate_limits.on_refused(told.retry_after_s, now_s)
        self._settle()

    def allow(self, in_flight_max: int) -> None:
        """What its operator allows it to hold from now on, which may be less than it holds."""
        self.in_flight_max = in_flight_max
        self._settle()

    def on_probe(self, now_s: float) -> None:
        """A health probe found the replica ready."""
        self._pool.on_probe(self._outlier, now_s)

    def on_recovered(self, now_s: float) -> None:
        """The replica was down and is ready: begin with little."""
        self._begin_slowly(now_s)
        self._outlier.failures_in_a_row = 0

    def hear_ejection(self, until_s: float, now_s: float) -> None:
        """Another worker leaves it out until then; not later than now: none does."""
        if until_s > now_s:
            self._pool.hear(self._outlier, until_s, now_s)
        else:
            self._pool.unhear(self._outlier, now_s)

    # What is asked.

    def own_ejection_s(self, now_s: float) -> float:
        """How much longer this worker leaves it out by what it has seen itself; 0: it does not."""
        outlier, left_s = self._outlier, 0.0
        if outlier.is_ejected and not outlier.is_heard:
            left_s = outlier.until_s - now_s
        return max(0.0, left_s, self._breaker.open_s(now_s))

    def may_take(self, now_s: float, tokens: int = 0) -> Obstacle | None:
        """None when the replica may be given a request of so many prompt tokens now, else what stands in the way."""
        if not self.is_troubled:
            return None
        self._advance(now_s)
        if self._outlier.is_ejected:
            return EJECTED
        if self._breaker.state is not CLOSED:
            if self._breaker.state is not HALF_OPEN:
                return BREAKER_OPEN
            if self._breaker.trial:
                return TRIAL_RUNNING
        return self.fullness(now_s, tokens)

    @property
    def answers(self) -> int:
        """Whole answers it has given us."""
        return self._successes

    @property
    def is_crammed(self) -> bool:
        """Whether it holds all that its operator allows."""
        return self.in_flight >= self.in_flight_max

    @property
    def is_slow(self) -> bool:
        """Whether it was in its slow start when its weight was last asked for."""
        return self._recovered_at_s is not None

    @property
    def rate_limit_wait_s(self) -> float:
        """How long the request that was last asked about has to wait for a rate limit."""
        return 0.0 if self._rate_limits is None else self._rate_limits.wait_s

    def fullness(self, now_s: float, tokens: int = 0) -> Obstacle | None:
        """What stands in the way when failures are left aside: it has enough to do."""
        if self._rate_limits is not None and self._rate_limits.is_spent(now_s, tokens):
            return RATE_LIMITED
        if self.in_flight >= self._limit.limit or self.is_crammed:
            return FULL
        return PAUSED if self._limit.is_paused else None

    def weight(self, now_s: float) -> float:
        """Its share of the work it would otherwise get: below 1 for a while after it came back."""
        recovered_at_s = self._recovered_at_s
        if recovered_at_s is None:
            return 1.0
        weight = slow_start_weight(
            recovered_at_s, now_s, window_s=self._slow_start_s, share_min=self._slow_start_share_min
        )
        if weight >= 1.0:
            self._recovered_at_s = None
            self._group.on_recovering(-1)
        return weight

    def hedge_after_s(self, expected_s: float) -> float:
        """How long a request waits for its first token here before it is worth a hedge."""
        return self._hedge_timer.after_s(expected_s)

    def snapshot(self, now_s: float) -> ReplicaHealthSnapshot:
        """As it is now."""
        obstacle, outlier = self.may_take(now_s), self._outlier
        return ReplicaHealthSnapshot(
            replica=self.replica,
            obstacle=obstacle,
            breaker=self._breaker.state,
            weight=self.weight(now_s),
            in_flight=self.in_flight,
            in_flight_limit=min(self._limit.limit, self.in_flight_max),
            failures_in_a_row=outlier.failures_in_a_row,
            ejected_until_s=outlier.until_s if outlier.is_ejected else None,
            ejections=outlier.ejections,
            breaker_opened=self._breaker.opened,
            ttft_ratio=self._hedge_timer.ratio,
            outcomes={outcome.value: count for outcome, count in self._outcomes.items()}
            | {SUCCESS.value: self._successes},
            remaining={} if self._rate_limits is None else self._rate_limits.remaining(now_s),
        )

    def leave(self, now_s: float, pool: OutlierPool, group: Group) -> None:
        """The replica is no longer in the fleet; attempts still running report to a pool and a group of its own."""
        self._pool.leave(self._outlier, now_s)
        if self.is_troubled:
            self._group.on_trouble(-1)
            group.on_trouble(1)
        if self._recovered_at_s is not None:
            self._group.on_recovering(-1)
            group.on_recovering(1)
        self._pool, self._group = pool, group
        self._outlier = Outlier(self._ejection_changed)
        pool.join(self._outlier)
        self._settle()

    def _on_other_end(self, outcome: Outcome, now_s: float, trial: int) -> None:
        self._outcomes[outcome] += 1
        if outcome in FAILURES:
            self._breaker.on_failure(trial, now_s)
            self._pool.on_failure(self._outlier, now_s)
            self._settle()
        elif outcome is REFUSED_BUSY:
            self._breaker.on_nothing(trial)
            self._limit.on_refused(now_s)
            self._pool.on_refused(self._outlier, now_s)
            self._settle()
        else:
            self._breaker.on_nothing(trial)

    def _advance(self, now_s: float) -> None:
        """Let what is over by now be over."""
        self._breaker.advance(now_s)
        self._limit.advance(now_s)
        if self._rate_limits is not None:
            self._rate_limits.advance(now_s)
        self._pool.advance(self._outlier, now_s)
        self._settle()

    def _ejection_changed(self) -> None:
        returned_at_s = self._outlier.returned_at_s
        # The end of an ejection may be noticed late, after the replica has come back from something else.
        if not self._outlier.is_ejected and (self._recovered_at_s is None or returned_at_s > self._recovered_at_s):
            self._begin_slowly(returned_at_s)
        self._settle()

    def _begin_slowly(self, at_s: float) -> None:
        if self._recovered_at_s is None:
            self._group.on_recovering(1)
        self._recovered_at_s = at_s

    def _settle(self) -> None:
        is_troubled = (
            self._outlier.is_ejected
            or self._breaker.state is not CLOSED
            or self.in_flight >= self._limit.limit
            or self.in_flight >= self.in_flight_max
            or self._limit.is_paused
            or (self._rate_limits is not None and self._rate_limits.is_low)
        )
        if is_troubled is not self.is_troubled:
            self.is_troubled = is_troubled
            self._group.on_trouble(1 if is_troubled else -1)


def slow_start_weight(recovered_at_s: float, now_s: float, *, window_s: float, share_min: float) -> float:
    """The weight of a replica that has come back: from `share_min` to 1 in a straight line.

    It has an empty prefix cache and perhaps kernels to compile; full traffic at once would make it fail again.
    """
    grown = (now_s - recovered_at_s) / window_s
    if grown >= 1.0:
        return 1.0
    return max(share_min, grown)
