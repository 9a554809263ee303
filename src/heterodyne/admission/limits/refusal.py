"""Pure: a refusal by a limit, as the caller gets it."""

from math import ceil

from msgspec import Struct

from heterodyne.admission.limits.calendar import LimitPeriod
from heterodyne.admission.limits.leased_counter import MICRO_USD_PER_USD, LeasedCounter, Measure
from heterodyne.domain.errors import BudgetSpent, LimitReached

RETRY_RUNNING_S = 1  # when a running request ends is not known

_UNITS = {Measure.REQUESTS: "requests", Measure.TOKENS: "tokens", Measure.RUNNING: "concurrent requests"}


class LimitRefusal(Struct, frozen=True, kw_only=True):
    """The limit that refused. Amounts are whole: requests, tokens, micro-dollars."""

    level: str  # project:acme/search
    limit_name: str  # tokens_per_minute
    measure: Measure
    period: LimitPeriod
    limit: int
    asked: int
    remaining: int
    reset_s: float  # to the next window; 0 where there is none
    leased_counters: tuple[LeasedCounter, ...]  # of the request, for its headers
    gateways: int | None = None  # the limit was shared out among so many, as its counters cannot be reached; None: no

    @property
    def is_hopeless(self) -> bool:
        """No window would ever have room."""
        return self.asked > self.limit

    @property
    def retry_after_s(self) -> int | None:
        """None: the same request will not pass."""
        if self.is_hopeless:
            return None
        return RETRY_RUNNING_S if self.period is LimitPeriod.NONE else max(1, ceil(self.reset_s))

    @property
    def message(self) -> str:
        return f"{self.level.replace(':', ' ', 1)}: {_reason(self)}{_shared(self)}"

    def as_error(self) -> LimitReached:
        """What a door raises."""
        kind = BudgetSpent if self.measure is Measure.MICRO_USD else LimitReached
        return kind(self.message, retry_after_s=self.retry_after_s)


def refused(
    leased_counter: LeasedCounter,
    leased_counters: tuple[LeasedCounter, ...],
    asked: int,
    remaining: int,
    now_s: float,
    **more: int,
) -> LimitRefusal:
    """By this counter, of these."""
    return LimitRefusal(
        level=leased_counter.level,
        limit_name=leased_counter.limit_name,
        measure=leased_counter.measure,
        period=leased_counter.period,
        limit=leased_counter.limit,
        asked=asked,
        remaining=max(0, remaining),
        reset_s=0.0 if leased_counter.period is LimitPeriod.NONE else max(0.0, leased_counter.ends_s - now_s),
        leased_counters=leased_counters,
        gateways=more.get("gateways"),
    )


def _reason(no: LimitRefusal) -> str:
    if no.period is LimitPeriod.NONE:
        return f"{no.limit} requests may run at once, and they do; try again when one has ended."
    allowed, asked = f"{_amount(no, no.limit)} per {no.period}", _amount(no, no.asked)
    if no.limit == 0:
        return f"{allowed} are allowed, which is none."
    if no.is_hopeless:
        return f"the request may need {asked}, and {allowed} are allowed; ask for a shorter answer or send less."
    again = f"the next {no.period} begins in {_duration(no.reset_s)}."
    if no.remaining == 0:
        return f"{allowed} are used up; {again}"
    return f"the request may need {asked}, and of {allowed} {_amount(no, no.remaining)} are left; {again}"


def _shared(no: LimitRefusal) -> str:
    if no.gateways is None:
        return ""
    return f" The counters cannot be reached: each of {no.gateways} gateway workers allows its part of the limit."


def _amount(no: LimitRefusal, amount: int) -> str:
    if no.measure is Measure.MICRO_USD:
        dollars = amount / MICRO_USD_PER_USD
        return f"${dollars:.2f}" if dollars >= 0.01 or not amount else f"${dollars:.6f}"
    return f"{amount} {_UNITS[no.measure]}"


def _duration(seconds: float) -> str:
    whole = max(1, ceil(seconds))
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{ceil(whole / 60)} min"
    return f"{ceil(whole / 3600)} h" if whole < 172_800 else f"{ceil(whole / 86_400)} days"
