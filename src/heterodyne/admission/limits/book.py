"""Pure: one worker's account of limits. Requests reserve from what it has leased, and settle with what they used.

What it has to lease, give back and correct it puts into calls to the source, one at a time; a client sends them.
"""

from collections.abc import Sequence
from typing import Final

from heterodyne.admission.limits.calendar import Calendar, LimitPeriod
from heterodyne.admission.limits.leased_counter import MEASURES, LeasedCounter, limits_of
from heterodyne.admission.limits.refusal import LimitRefusal, refused
from heterodyne.admission.limits.reservation import Amounts, PendingReservation, Reservation
from heterodyne.domain.tenant import Level
from heterodyne.ports.leases import LeaseAnswer, LeaseCall, LeaseReport, Want

LEASED_COUNTERS_MAX: Final = 50_000  # the one planned longest ago is closed for a new one
PLAN_S_MAX: Final = 60.0  # how long a caller's counters are kept ready without being looked up again
LEASED_COUNTER_IDLE_S: Final = 150.0  # since it was last planned; more than a plan lives
TOP_UPS_MAX: Final = 256  # in one call
# How long "there is no more" is believed, in ticks: what others give back may come at any time.
MEMORY_TICKS: Final = 0.2


class _Plan:
    """The leased counters of one caller, looked up once per window."""

    __slots__ = ("ends_s", "leased_counters", "levels")

    def __init__(self, levels: tuple[Level, ...], leased_counters: tuple[LeasedCounter, ...], ends_s: float) -> None:
        self.levels = levels
        self.leased_counters = leased_counters
        self.ends_s = ends_s


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
        self._lost: list[LeaseReport] = []  # for a source that began again
        self.outstanding = 0  # reservations that are neither settled nor released
        self.holders = holders  # workers that share the limits, as of the last answer

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
        for lease in leased_counters:
            if lease.free < amounts[lease.place]:
                return self._short(levels, leased_counters, amounts, now_s)
        return self._reserved(leased_counters, amounts)

    def settle(self, reservation: Reservation, tokens: int, micro_usd: int) -> None:
        """The request has ended, and this is what it really used. Nothing happens the second time."""
        self._correct(reservation, (1, tokens, micro_usd, 0))

    def release(self, reservation: Reservation) -> None:
        """The request never ran: it used nothing and does not count. Nothing happens the second time."""
        self._correct(reservation, (0, 0, 0, 0))

    def compose(self, waiting: Sequence[PendingReservation], now_s: float) -> LeaseCall | None:
        """The next call: leases for these requests, and what is to report. None: there is nothing to send.

        It is `answered` or `failed` before the next is composed.
        """
        reports, self._lost = self._lost, []
        top_ups: list[tuple[Want, ...]] = []
        if not now_s < self._next_tick_s <= now_s + self._tick_s:  # the clock may have been set back
            self._next_tick_s = now_s + self._tick_s
            self._tick(now_s, reports, top_ups)
        groups = self._pledge(waiting, now_s, reports)
        for lease in self._past:
            if lease.spare:
                reports.append(lease.hand_back(lease.spare))
        self._past.clear()
        if not reports and not groups and not top_ups:
            return None
        return self._call(reports, (*groups, *top_ups))

    def heartbeat(self) -> LeaseCall:
        """A call that only shows that this worker lives."""
        return self._call((), ())

    def answered(
        self, call: LeaseCall, answer: LeaseAnswer, waiting: Sequence[PendingReservation], now_s: float
    ) -> list[Reservation | LimitRefusal | PendingReservation]:
        """Book what was granted. For each waiting request: its place, or why not; rarely, that it has to ask again."""
        self._note_epoch(answer.epoch)
        self.holders = max(1, answer.holders)
        self._unpledge(waiting)
        known = {(lease.counter, lease.starts_s): lease for pending in waiting for lease in pending.leased_counters}
        known.update(((lease.counter, lease.starts_s), lease) for lease in self._topped)
        self._topped.clear()
        for wants, grants in zip(call.groups, answer.groups, strict=True):
            for want, grant in zip(wants, grants, strict=True):
                lease = known.get((want.counter, want.window)) or self._late(want)
                lease.held += grant.amount
                lease.free += grant.amount
                lease.left = grant.left
                lease.left_until_s = now_s + self._tick_s * MEMORY_TICKS
                if lease.is_past:
                    self._past.add(lease)
        return [self._reserve_granted(pending, now_s) for pending in waiting]

    def failed(self, waiting: Sequence[PendingReservation]) -> None:
        """There is no answer yet; the call itself is to be sent again, without these requests waiting for it."""
        self._unpledge(waiting)

    def reserve_alone(self, pending: PendingReservation, now_s: float) -> Reservation | LimitRefusal:
        """Without the source: this worker's part of each limit, or one request; it is reported as owed later."""
        leased_counters, amounts = self._planned(pending.levels, now_s).leased_counters, pending.amounts
        for lease in leased_counters:
            amount, used, part = amounts[lease.place], lease.used, lease.limit // self.holders
            if amount > lease.limit or (lease.free < amount and used > 0 and used + amount > part):
                return refused(lease, leased_counters, amount, part - used, now_s, gateways=self.holders)
        return self._reserved(leased_counters, amounts, is_alone=True)

    def retire(self) -> LeaseCall:
        """The last call: everything that no request holds is given back."""
        for lease in self._leased_counters.values():
            self._close(lease)
        self._leased_counters.clear()
        self._plans.clear()
        reports, self._lost = self._lost, []
        reports += [lease.hand_back(lease.spare) for lease in self._past if lease.spare]
        self._past.clear()
        return self._call(reports, ())

    def snapshot(self) -> dict[str, int]:
        """Sizes, for tests and metrics."""
        return {"plans": len(self._plans), "pots": len(self._leased_counters), "past": len(self._past)}

    def _reserved(
        self, leased_counters: tuple[LeasedCounter, ...], amounts: Amounts, *, is_alone: bool = False
    ) -> Reservation:
        self.outstanding += 1
        for lease in leased_counters:
            lease.free -= amounts[lease.place]
        return Reservation(leased_counters, amounts, is_alone)

    def _correct(self, reservation: Reservation, used: Amounts) -> None:
        if reservation.is_over:
            return
        reservation.is_over = True
        self.outstanding -= 1
        amounts = reservation.amounts
        for lease in reservation.leased_counters:
            place = lease.place
            lease.free += amounts[place] - used[place]
            if lease.is_past:
                self._past.add(lease)
        reservation.leased_counters = ()

    def _short(
        self, levels: tuple[Level, ...], leased_counters: tuple[LeasedCounter, ...], amounts: Amounts, now_s: float
    ) -> LimitRefusal | PendingReservation:
        for lease in leased_counters:
            amount = amounts[lease.place]
            if lease.free < amount:
                left = max(0, lease.free) + max(0, lease.left)
                is_known = now_s < lease.left_until_s <= now_s + self._tick_s * MEMORY_TICKS
                if amount > lease.limit or (amount > left and is_known):
                    return refused(lease, leased_counters, amount, left, now_s)
        return PendingReservation(levels, amounts)

    def _planned(self, levels: tuple[Level, ...], now_s: float) -> _Plan:
        plan = self._plans.get(id(levels))
        if plan is not None and plan.levels is levels and now_s < plan.ends_s:
            return plan
        leased_counters = tuple(
            self._leased_counter(level.name, *each, now_s) for level in levels for each in limits_of(level.limits)
        )
        plan = _Plan(
            levels,
            leased_counters,
            min([now_s + PLAN_S_MAX, *(lease.ends_s for lease in leased_counters)]),
        )
        self._plans[id(levels)] = plan
        return plan

    def _leased_counter(self, level: str, limit_name: str, limit: int, now_s: float) -> LeasedCounter:
        window = self._calendar.window(MEASURES[limit_name][1], now_s)
        lease = self._leased_counters.pop(f"{level} {limit_name}", None)
        # A window that begins later than now was planned before the clock was set back; it is not left again.
        if lease is None or lease.starts_s < window.starts_s:
            if lease is not None:
                self._close(lease)
            lease = LeasedCounter(level, limit_name, limit, window)
            if len(self._leased_counters) >= self._leased_counters_max:
                self._make_room()
        if lease.limit != limit:
            lease.limit, lease.left_until_s = limit, 0.0
        lease.planned_s = now_s
        self._leased_counters[lease.counter] = lease  # last in the order of planning
        return lease

    def _make_room(self) -> None:
        """No request reserves in a closed counter, so plans that have it are made again."""
        idle = next(
            (lease for lease in self._leased_counters.values() if not lease.is_running),
            None,
        )
        if idle is not None:
            self._close(idle)
            del self._leased_counters[idle.counter]
            self._plans.clear()

    def _close(self, lease: LeasedCounter) -> None:
        lease.is_past = True
        self._past.add(lease)

    def _tick(self, now_s: float, reports: list[LeaseReport], top_ups: list[tuple[Want, ...]]) -> None:
        """Give back what is leased for nothing, fetch what will be used before the next tick, forget what is idle."""
        self._plans = {key: plan for key, plan in self._plans.items() if now_s < plan.ends_s}
        for lease in list(self._leased_counters.values()):
            if now_s >= lease.ends_s or (now_s - lease.planned_s > LEASED_COUNTER_IDLE_S and not lease.is_running):
                self._close(lease)
                del self._leased_counters[lease.counter]
            elif lease.period is LimitPeriod.NONE:
                reports += lease.trim_running()
            else:
                self._trim(lease, reports, top_ups)

    def _trim(self, lease: LeasedCounter, reports: list[LeaseReport], top_ups: list[tuple[Want, ...]]) -> None:
        """Between a half and two ticks' use stay leased."""
        burn = max(0, lease.used - lease.burnt)
        lease.burnt, lease.chunk = lease.used, burn
        surplus = lease.spare - 2 * burn
        if lease.spare < 0:
            reports.append(lease.hand_back(lease.spare))
        elif surplus > 0:
            reports.append(lease.hand_back(surplus))
        elif 2 * lease.spare < burn and lease.left > 0 and len(top_ups) < TOP_UPS_MAX:
            self._topped.append(lease)
            top_ups.append((lease.want(1, burn - lease.spare),))

    def _pledge(
        self, waiting: Sequence[PendingReservation], now_s: float, reports: list[LeaseReport]
    ) -> list[tuple[Want, ...]]:
        """What each request lacks, after those before it; what there is is kept for them until the answer."""
        groups = []
        enlarged = set()
        for pending in waiting:
            pending.leased_counters = self._planned(pending.levels, now_s).leased_counters
            wants = []
            for lease in pending.leased_counters:
                if lease.spare < 0:
                    reports.append(lease.hand_back(lease.spare))
                amount = pending.amounts[lease.place]
                lacking = amount - max(0, min(amount, lease.free))
                lease.free -= amount
                lease.pledged += amount
                if lacking and lease not in enlarged:
                    enlarged.add(lease)
                    wants.append(lease.want(lacking, lacking + lease.chunk))
                    # If it is asked for again before the next tick, this was too little.
                    lease.chunk = min(lease.limit, 2 * lease.chunk + amount)
                elif lacking:
                    wants.append(lease.want(lacking, lacking))
            if wants:
                groups.append(tuple(wants))
        return groups

    def _unpledge(self, waiting: Sequence[PendingReservation]) -> None:
        for pending in waiting:
            for lease in pending.leased_counters:
                lease.free += pending.amounts[lease.place]
                lease.pledged -= pending.amounts[lease.place]

    def _reserve_granted(
        self, pending: PendingReservation, now_s: float
    ) -> Reservation | LimitRefusal | PendingReservation:
        """In the windows that were asked for, even if one of them has ended meanwhile."""
        leased_counters, amounts = pending.leased_counters, pending.amounts
        for lease in leased_counters:
            if lease.free < amounts[lease.place]:
                return self._short(pending.levels, leased_counters, amounts, now_s)
        return self._reserved(leased_counters, amounts)

    def _late(self, want: Want) -> LeasedCounter:
        """The counter of a grant that came after a failure; in a window that is gone it only gives back."""
        lease = self._leased_counters.get(want.counter)
        if lease is not None and lease.starts_s == want.window:
            return lease
        level, _, limit_name = want.counter.rpartition(" ")
        window = self._calendar.window(MEASURES[limit_name][1], want.window)
        lease = LeasedCounter(level, limit_name, want.limit, window)
        lease.is_past = True
        return lease

    def _note_epoch(self, epoch: str) -> None:
        """A source that lost its counters gets a report of what this worker has taken from them."""
        if self._epoch and epoch != self._epoch:
            self._lost = [
                lease.report_all()
                for lease in self._leased_counters.values()
                if lease.period is not LimitPeriod.NONE and lease.held > 0
            ]
        self._epoch = epoch

    def _call(self, reports: Sequence[LeaseReport], groups: Sequence[tuple[Want, ...]]) -> LeaseCall:
        self._sequence += 1
        return LeaseCall(holder=self._holder, sequence=self._sequence, reports=tuple(reports), groups=tuple(groups))
