"""Pure: one worker's account of limits. Requests reserve from what it has leased, and settle with what they used.

What it has to lease, give back and correct it puts into calls to the source, one at a time; somebody else sends them.
"""

from collections.abc import Sequence

from heterodyne.admission.limits.calendar import Calendar, LimitPeriod
from heterodyne.admission.limits.leased_counter import MEASURES, LeasedCounter, limits_of
from heterodyne.admission.limits.refusal import LimitRefusal, refused
from heterodyne.domain.tenant import Level
from heterodyne.ports.leases import LeaseAnswer, LeaseCall, LeaseReport, Want

LEASED_COUNTERS_MAX = 50_000  # the one planned longest ago is closed for a new one
PLAN_S_MAX = 60.0  # how long a caller's pots are kept ready without being looked up again
LEASED_COUNTER_IDLE_S = 150.0  # since it was last planned; more than a plan lives
TOP_UPS_MAX = 256  # in one call
MEMORY_TICKS = 0.2  # how long "there is no more" is believed, in ticks: what others give back may come at any time

Amounts = tuple[int, int, int, int]  # by Measure


class Reservation:
    """A request's claim, in the windows of the moment it was made; it is settled or released once."""

    __slots__ = ("amounts", "is_alone", "is_over", "leased_counters")

    def __init__(self, leased_counters: tuple[LeasedCounter, ...], amounts: Amounts, is_alone: bool = False) -> None:
        self.is_over = False
        self.leased_counters = leased_counters
        self.amounts = amounts
        self.is_alone = is_alone  # made without the source, as it could not be reached


class PendingReservation:
    """A request that the leases at hand do not suffice for; the source has to be asked."""

    __slots__ = ("amounts", "leased_counters", "levels")

    def __init__(self, levels: tuple[Level, ...], amounts: Amounts) -> None:
        self.levels = levels
        self.amounts = amounts
        self.leased_counters: tuple[LeasedCounter, ...] = ()  # pledged in, while a call is under way


class LimitBook:
    """Kept by one worker, under a name that no other worker has or had."""

    def __init__(
        self,
        holder: str,
        *,
        holders: int = 1,
        calendar: Calendar | None = None,
        tick_s: float = 0.5,
        leased_counters_max: int = LEASED_COUNTERS_MAX,
    ) -> None:
        self._holder = holder
        self._calendar = calendar or Calendar()
        self._tick_s = tick_s
        self._leased_counters_max = leased_counters_max
        self._next_tick_s = 0.0
        self._plans: dict[int, _Plan] = {}
        self._leased_counters: dict[str, LeasedCounter] = {}
        self._past: set[LeasedCounter] = set()  # closed ones with something to report
        self._sequence = 0
        self._topped: list[LeasedCounter] = []  # asked for in the call under way, for no request in particular
        self._epoch = ""
        self._lost: list[LeaseReport] = []  # what a source that began again has to be told
        self.outstanding = 0  # reservations that are neither settled nor released
        self.holders = holders  # workers that share the limits, as far as it has heard

    def reserve(
        self, levels: tuple[Level, ...], tokens: int, micro_usd: int, now_s: float
    ) -> Reservation | LimitRefusal | PendingReservation:
        """One request of about so many tokens and dollars, in all levels and windows or in none."""
        plan = self._plans.get(id(levels))
        if plan is None or now_s >= plan.ends_s or plan.levels is not levels:
            plan = self._planned(levels, now_s)
        # A request whose cost is not known counts for a grain of it, so that it is refused where nothing is left.
        amounts = (1, tokens or 1, micro_usd or 1, 1)
        leased_counters = plan.leased_counters
        for leased_counter in leased_counters:
            if leased_counter.free < amounts[leased_counter.place]:
                return self._short(levels, leased_counters, amounts, now_s)
        return self._reserved(leased_counters, amounts)

    def settle(self, reservation: Reservation, tokens: int, micro_usd: int) -> None:
        """The request has ended, and this is what it really used. Nothing happens the second time."""
        self._correct(reservation, (1, tokens, micro_usd, 0))

    def release(self, reservation: Reservation) -> None:
        """The request never ran: it used nothing and does not count. Nothing happens the second time."""
        self._correct(reservation, (0, 0, 0, 0))

    def compose(self, waiting: Sequence[PendingReservation], now_s: float) -> LeaseCall | None:
        """The next call: leases for these requests, and what is to report. None: there is nothing to say.

        It is `answered` or `failed` before the next is composed.
        """
        reports, self._lost = self._lost, []
        top_ups: list[tuple[Want, ...]] = []
        if not now_s < self._next_tick_s <= now_s + self._tick_s:  # the clock may have been set back
            self._next_tick_s = now_s + self._tick_s
            self._tick(now_s, reports, top_ups)
        groups = self._pledge(waiting, now_s, reports)
        for leased_counter in self._past:
            if leased_counter.spare:
                reports.append(leased_counter.hand_back(leased_counter.spare))
        self._past.clear()
        if not reports and not groups and not top_ups:
            return None
        return self._call(reports, (*groups, *top_ups))

    def heartbeat(self) -> LeaseCall:
        """A call that says no more than that this worker lives."""
        return self._call((), ())

    def answered(
        self, call: LeaseCall, answer: LeaseAnswer, waiting: Sequence[PendingReservation], now_s: float
    ) -> list[Reservation | LimitRefusal | PendingReservation]:
        """Book what was granted. For each waiting request: its place, or why not; rarely, that it has to ask again."""
        self._note_epoch(answer.epoch)
        self.holders = max(1, answer.holders)
        self._unpledge(waiting)
        known = {
            (leased_counter.counter, leased_counter.starts_s): leased_counter
            for pending_reservation in waiting
            for leased_counter in pending_reservation.leased_counters
        }
        known.update(
            ((leased_counter.counter, leased_counter.starts_s), leased_counter) for leased_counter in self._topped
        )
        self._topped.clear()
        for wants, grants in zip(call.groups, answer.groups, strict=True):
            for want, grant in zip(wants, grants, strict=True):
                leased_counter = known.get((want.counter, want.window)) or self._late(want)
                leased_counter.held += grant.amount
                leased_counter.free += grant.amount
                leased_counter.left = grant.left
                leased_counter.left_until_s = now_s + self._tick_s * MEMORY_TICKS
                if leased_counter.is_past:
                    self._past.add(leased_counter)
        return [self._reserve_granted(pending_reservation, now_s) for pending_reservation in waiting]

    def failed(self, waiting: Sequence[PendingReservation]) -> None:
        """There is no answer yet; the call itself is to be sent again, without these requests waiting for it."""
        self._unpledge(waiting)

    def reserve_alone(self, pending_reservation: PendingReservation, now_s: float) -> Reservation | LimitRefusal:
        """Without the source: this worker's part of each limit, or one request; it is reported as owed later."""
        leased_counters, amounts = (
            self._planned(pending_reservation.levels, now_s).leased_counters,
            pending_reservation.amounts,
        )
        for leased_counter in leased_counters:
            amount, used, part = (
                amounts[leased_counter.place],
                leased_counter.used,
                leased_counter.limit // self.holders,
            )
            if amount > leased_counter.limit or (leased_counter.free < amount and used > 0 and used + amount > part):
                return refused(leased_counter, leased_counters, amount, part - used, now_s, gateways=self.holders)
        return self._reserved(leased_counters, amounts, is_alone=True)

    def retire(self) -> LeaseCall:
        """The last call: everything that no request holds is given back."""
        for leased_counter in self._leased_counters.values():
            self._close(leased_counter)
        self._leased_counters.clear()
        self._plans.clear()
        reports, self._lost = self._lost, []
        reports += [
            leased_counter.hand_back(leased_counter.spare) for leased_counter in self._past if leased_counter.spare
        ]
        self._past.clear()
        return self._call(reports, ())

    def snapshot(self) -> dict[str, int]:
        """Sizes, for tests and metrics."""
        return {"plans": len(self._plans), "pots": len(self._leased_counters), "past": len(self._past)}

    def _reserved(
        self, leased_counters: tuple[LeasedCounter, ...], amounts: Amounts, *, is_alone: bool = False
    ) -> Reservation:
        self.outstanding += 1
        for leased_counter in leased_counters:
            leased_counter.free -= amounts[leased_counter.place]
        return Reservation(leased_counters, amounts, is_alone)

    def _correct(self, reservation: Reservation, used: Amounts) -> None:
        if reservation.is_over:
            return
        reservation.is_over = True
        self.outstanding -= 1
        amounts = reservation.amounts
        for leased_counter in reservation.leased_counters:
            place = leased_counter.place
            leased_counter.free += amounts[place] - used[place]
            if leased_counter.is_past:
                self._past.add(leased_counter)
        reservation.leased_counters = ()

    def _short(
        self, levels: tuple[Level, ...], leased_counters: tuple[LeasedCounter, ...], amounts: Amounts, now_s: float
    ) -> LimitRefusal | PendingReservation:
        for leased_counter in leased_counters:
            amount = amounts[leased_counter.place]
            if leased_counter.free < amount:
                left = max(0, leased_counter.free) + max(0, leased_counter.left)
                is_known = now_s < leased_counter.left_until_s <= now_s + self._tick_s * MEMORY_TICKS
                if amount > leased_counter.limit or (amount > left and is_known):
                    return refused(leased_counter, leased_counters, amount, left, now_s)
        return PendingReservation(levels, amounts)

    def _planned(self, levels: tuple[Level, ...], now_s: float) -> "_Plan":
        plan = self._plans.get(id(levels))
        if plan is not None and plan.levels is levels and now_s < plan.ends_s:
            return plan
        leased_counters = tuple(
            self._leased_counter(level.name, *each, now_s) for level in levels for each in limits_of(level.limits)
        )
        plan = _Plan(
            levels,
            leased_counters,
            min([now_s + PLAN_S_MAX, *(leased_counter.ends_s for leased_counter in leased_counters)]),
        )
        self._plans[id(levels)] = plan
        return plan

    def _leased_counter(self, level: str, limit_name: str, limit: int, now_s: float) -> LeasedCounter:
        window = self._calendar.window(MEASURES[limit_name][1], now_s)
        leased_counter = self._leased_counters.pop(f"{level} {limit_name}", None)
        # A window that begins later than now was planned before the clock was set back; it is not left again.
        if leased_counter is None or leased_counter.starts_s < window.starts_s:
            if leased_counter is not None:
                self._close(leased_counter)
            leased_counter = LeasedCounter(level, limit_name, limit, window)
            if len(self._leased_counters) >= self._leased_counters_max:
                self._make_room()
        if leased_counter.limit != limit:
            leased_counter.limit, leased_counter.left_until_s = limit, 0.0
        leased_counter.planned_s = now_s
        self._leased_counters[leased_counter.counter] = leased_counter  # last in the order of planning
        return leased_counter

    def _make_room(self) -> None:
        """Nobody reserves in a closed pot, so whoever has it in a plan must look again."""
        idle = next(
            (leased_counter for leased_counter in self._leased_counters.values() if not _is_running(leased_counter)),
            None,
        )
        if idle is not None:
            self._close(idle)
            del self._leased_counters[idle.counter]
            self._plans.clear()

    def _close(self, leased_counter: LeasedCounter) -> None:
        leased_counter.is_past = True
        self._past.add(leased_counter)

    def _tick(self, now_s: float, reports: list[LeaseReport], top_ups: list[tuple[Want, ...]]) -> None:
        """Give back what is leased for nothing, fetch what will be used before the next tick, forget what is idle."""
        self._plans = {key: plan for key, plan in self._plans.items() if now_s < plan.ends_s}
        for leased_counter in list(self._leased_counters.values()):
            if now_s >= leased_counter.ends_s or (
                now_s - leased_counter.planned_s > LEASED_COUNTER_IDLE_S and not _is_running(leased_counter)
            ):
                self._close(leased_counter)
                del self._leased_counters[leased_counter.counter]
            elif leased_counter.period is LimitPeriod.NONE:
                self._trim_running(leased_counter, reports)
            else:
                self._trim(leased_counter, reports, top_ups)

    def _trim_running(self, leased_counter: LeasedCounter, reports: list[LeaseReport]) -> None:
        """Places that were free at the last tick too go back; what is held is said again, should it be forgotten."""
        surplus = (
            min(leased_counter.spare, leased_counter.free_before) if leased_counter.spare > 0 else leased_counter.spare
        )
        if leased_counter.held or surplus:
            reports.append(leased_counter.hand_back(surplus))
        leased_counter.free_before, leased_counter.chunk = max(0, leased_counter.spare), 0

    def _trim(self, leased_counter: LeasedCounter, reports: list[LeaseReport], top_ups: list[tuple[Want, ...]]) -> None:
        """Between a half and two ticks' use stay leased."""
        burn = max(0, leased_counter.used - leased_counter.burnt)
        leased_counter.burnt, leased_counter.chunk = leased_counter.used, burn
        surplus = leased_counter.spare - 2 * burn
        if leased_counter.spare < 0:
            reports.append(leased_counter.hand_back(leased_counter.spare))
        elif surplus > 0:
            reports.append(leased_counter.hand_back(surplus))
        elif 2 * leased_counter.spare < burn and leased_counter.left > 0 and len(top_ups) < TOP_UPS_MAX:
            self._topped.append(leased_counter)
            top_ups.append((_want(leased_counter, 1, burn - leased_counter.spare),))

    def _pledge(
        self, waiting: Sequence[PendingReservation], now_s: float, reports: list[LeaseReport]
    ) -> list[tuple[Want, ...]]:
        """What each request lacks, after those before it; what there is is kept for them until the answer."""
        groups = []
        enlarged = set()
        for pending_reservation in waiting:
            pending_reservation.leased_counters = self._planned(pending_reservation.levels, now_s).leased_counters
            wants = []
            for leased_counter in pending_reservation.leased_counters:
                if leased_counter.spare < 0:
                    reports.append(leased_counter.hand_back(leased_counter.spare))
                amount = pending_reservation.amounts[leased_counter.place]
                lacking = amount - max(0, min(amount, leased_counter.free))
                leased_counter.free -= amount
                leased_counter.pledged += amount
                if lacking and leased_counter not in enlarged:
                    enlarged.add(leased_counter)
                    wants.append(_want(leased_counter, lacking, lacking + leased_counter.chunk))
                    leased_counter.chunk = min(
                        leased_counter.limit, 2 * leased_counter.chunk + amount
                    )  # asked again before the next tick: too little
                elif lacking:
                    wants.append(_want(leased_counter, lacking, lacking))
            if wants:
                groups.append(tuple(wants))
        return groups

    def _unpledge(self, waiting: Sequence[PendingReservation]) -> None:
        for pending_reservation in waiting:
            for leased_counter in pending_reservation.leased_counters:
                leased_counter.free += pending_reservation.amounts[leased_counter.place]
                leased_counter.pledged -= pending_reservation.amounts[leased_counter.place]

    def _reserve_granted(
        self, pending_reservation: PendingReservation, now_s: float
    ) -> Reservation | LimitRefusal | PendingReservation:
        """In the windows that were asked for, even if one of them has ended meanwhile."""
        leased_counters, amounts = pending_reservation.leased_counters, pending_reservation.amounts
        for leased_counter in leased_counters:
            if leased_counter.free < amounts[leased_counter.place]:
                return self._short(pending_reservation.levels, leased_counters, amounts, now_s)
        return self._reserved(leased_counters, amounts)

    def _late(self, want: Want) -> LeasedCounter:
        """The pot of a grant that came after a failure; in a window that is gone it is only there to be given back."""
        leased_counter = self._leased_counters.get(want.counter)
        if leased_counter is not None and leased_counter.starts_s == want.window:
            return leased_counter
        level, _, limit_name = want.counter.rpartition(" ")
        window = self._calendar.window(MEASURES[limit_name][1], want.window)
        leased_counter = LeasedCounter(level, limit_name, want.limit, window)
        leased_counter.is_past = True
        return leased_counter

    def _note_epoch(self, epoch: str) -> None:
        """A source that lost its counters is told what this worker has taken from them."""
        if self._epoch and epoch != self._epoch:
            self._lost = [
                LeaseReport(
                    counter=leased_counter.counter,
                    window=leased_counter.starts_s,
                    ends_s=leased_counter.ends_s,
                    amount=leased_counter.held,
                )
                for leased_counter in self._leased_counters.values()
                if leased_counter.period is not LimitPeriod.NONE and leased_counter.held > 0
            ]
        self._epoch = epoch

    def _call(self, reports: Sequence[LeaseReport], groups: Sequence[tuple[Want, ...]]) -> LeaseCall:
        self._sequence += 1
        return LeaseCall(holder=self._holder, sequence=self._sequence, reports=tuple(reports), groups=tuple(groups))


class _Plan:
    """The pots of one caller, looked up once per window."""

    __slots__ = ("ends_s", "leased_counters", "levels")

    def __init__(self, levels: tuple[Level, ...], leased_counters: tuple[LeasedCounter, ...], ends_s: float) -> None:
        self.levels = levels
        self.leased_counters = leased_counters
        self.ends_s = ends_s


def _is_running(leased_counter: LeasedCounter) -> bool:
    """Its holder is known by all that it holds, so there must not be a second pot of that name beside it."""
    return leased_counter.period is LimitPeriod.NONE and leased_counter.used != 0


def _want(leased_counter: LeasedCounter, at_least: int, wanted: int) -> Want:
    return Want(
        counter=leased_counter.counter,
        window=leased_counter.starts_s,
        ends_s=0.0 if leased_counter.period is LimitPeriod.NONE else leased_counter.ends_s,
        limit=leased_counter.limit,
        at_least=at_least,
        wanted=max(at_least, wanted),
    )
