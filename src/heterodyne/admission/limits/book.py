"""Pure: one worker's account of limits. Requests reserve from what it has leased, and settle with what they used.

What it has to lease, give back and correct it puts into calls to the source, one at a time; somebody else sends them.
"""

from collections.abc import Sequence

from heterodyne.admission.limits.calendar import Calendar, Span
from heterodyne.admission.limits.pot import MEASURES, Pot, limits_of
from heterodyne.admission.limits.refusal import Refused, refused
from heterodyne.domain.tenant import Level
from heterodyne.ports.leases import LeaseAnswer, LeaseCall, Report, Want

POTS_MAX = 50_000  # the one planned longest ago is closed for a new one
PLAN_S_MAX = 60.0  # how long a caller's pots are kept ready without being looked up again
POT_IDLE_S = 150.0  # since it was last planned; more than a plan lives
TOP_UPS_MAX = 256  # in one call
MEMORY_TICKS = 0.2  # how long "there is no more" is believed, in ticks: what others give back may come at any time

Amounts = tuple[int, int, int, int]  # by Measure


class Reservation:
    """A request's claim, in the windows of the moment it was made; it is settled or released once."""

    __slots__ = ("amounts", "is_alone", "is_over", "pots")

    def __init__(self, pots: tuple[Pot, ...], amounts: Amounts, is_alone: bool = False) -> None:
        self.is_over = False
        self.pots = pots
        self.amounts = amounts
        self.is_alone = is_alone  # made without the source, as it could not be reached


class Wanting:
    """A request that the leases at hand do not suffice for; the source has to be asked."""

    __slots__ = ("amounts", "levels", "pots")

    def __init__(self, levels: tuple[Level, ...], amounts: Amounts) -> None:
        self.levels = levels
        self.amounts = amounts
        self.pots: tuple[Pot, ...] = ()  # pledged in, while a call is under way


class LimitBook:
    """Kept by one worker, under a name that no other worker has or had."""

    def __init__(
        self,
        holder: str,
        *,
        holders: int = 1,
        calendar: Calendar | None = None,
        tick_s: float = 0.5,
        pots_max: int = POTS_MAX,
    ) -> None:
        self._holder = holder
        self._calendar = calendar or Calendar()
        self._tick_s = tick_s
        self._pots_max = pots_max
        self._next_tick_s = 0.0
        self._plans: dict[int, _Plan] = {}
        self._pots: dict[str, Pot] = {}
        self._past: set[Pot] = set()  # closed ones with something to report
        self._sequence = 0
        self._topped: list[Pot] = []  # asked for in the call under way, for no request in particular
        self._epoch = ""
        self._lost: list[Report] = []  # what a source that began again has to be told
        self.outstanding = 0  # reservations that are neither settled nor released
        self.holders = holders  # workers that share the limits, as far as it has heard

    def reserve(
        self, levels: tuple[Level, ...], tokens: int, micro_usd: int, now_s: float
    ) -> Reservation | Refused | Wanting:
        """One request of about so many tokens and dollars, in all levels and windows or in none."""
        plan = self._plans.get(id(levels))
        if plan is None or now_s >= plan.ends_s or plan.levels is not levels:
            plan = self._planned(levels, now_s)
        # A request whose cost is not known counts for a grain of it, so that it is refused where nothing is left.
        amounts = (1, tokens or 1, micro_usd or 1, 1)
        pots = plan.pots
        for pot in pots:
            if pot.free < amounts[pot.place]:
                return self._short(levels, pots, amounts, now_s)
        return self._reserved(pots, amounts)

    def settle(self, reservation: Reservation, tokens: int, micro_usd: int) -> None:
        """The request has ended, and this is what it really used. Nothing happens the second time."""
        self._correct(reservation, (1, tokens, micro_usd, 0))

    def release(self, reservation: Reservation) -> None:
        """The request never ran: it used nothing and does not count. Nothing happens the second time."""
        self._correct(reservation, (0, 0, 0, 0))

    def compose(self, waiting: Sequence[Wanting], now_s: float) -> LeaseCall | None:
        """The next call: leases for these requests, and what is to report. None: there is nothing to say.

        It is `answered` or `failed` before the next is composed.
        """
        reports, self._lost = self._lost, []
        top_ups: list[tuple[Want, ...]] = []
        if not now_s < self._next_tick_s <= now_s + self._tick_s:  # the clock may have been set back
            self._next_tick_s = now_s + self._tick_s
            self._tick(now_s, reports, top_ups)
        groups = self._pledge(waiting, now_s, reports)
        for pot in self._past:
            if pot.spare:
                reports.append(pot.hand_back(pot.spare))
        self._past.clear()
        if not reports and not groups and not top_ups:
            return None
        return self._call(reports, (*groups, *top_ups))

    def heartbeat(self) -> LeaseCall:
        """A call that says no more than that this worker lives."""
        return self._call((), ())

    def answered(
        self, call: LeaseCall, answer: LeaseAnswer, waiting: Sequence[Wanting], now_s: float
    ) -> list[Reservation | Refused | Wanting]:
        """Book what was granted. For each waiting request: its place, or why not; rarely, that it has to ask again."""
        self._note_epoch(answer.epoch)
        self.holders = max(1, answer.holders)
        self._unpledge(waiting)
        known = {(pot.counter, pot.starts_s): pot for wanting in waiting for pot in wanting.pots}
        known.update(((pot.counter, pot.starts_s), pot) for pot in self._topped)
        self._topped.clear()
        for wants, grants in zip(call.groups, answer.groups, strict=True):
            for want, grant in zip(wants, grants, strict=True):
                pot = known.get((want.counter, want.window)) or self._late(want)
                pot.held += grant.amount
                pot.free += grant.amount
                pot.left = grant.left
                pot.left_until_s = now_s + self._tick_s * MEMORY_TICKS
                if pot.is_past:
                    self._past.add(pot)
        return [self._reserve_granted(wanting, now_s) for wanting in waiting]

    def failed(self, waiting: Sequence[Wanting]) -> None:
        """There is no answer yet; the call itself is to be sent again, without these requests waiting for it."""
        self._unpledge(waiting)

    def reserve_alone(self, wanting: Wanting, now_s: float) -> Reservation | Refused:
        """Without the source: this worker's part of each limit, or one request; it is reported as owed later."""
        pots, amounts = self._planned(wanting.levels, now_s).pots, wanting.amounts
        for pot in pots:
            amount, used, part = amounts[pot.place], pot.used, pot.limit // self.holders
            if amount > pot.limit or (pot.free < amount and used > 0 and used + amount > part):
                return refused(pot, pots, amount, part - used, now_s, gateways=self.holders)
        return self._reserved(pots, amounts, is_alone=True)

    def retire(self) -> LeaseCall:
        """The last call: everything that no request holds is given back."""
        for pot in self._pots.values():
            self._close(pot)
        self._pots.clear()
        self._plans.clear()
        reports, self._lost = self._lost, []
        reports += [pot.hand_back(pot.spare) for pot in self._past if pot.spare]
        self._past.clear()
        return self._call(reports, ())

    def snapshot(self) -> dict[str, int]:
        """Sizes, for tests and metrics."""
        return {"plans": len(self._plans), "pots": len(self._pots), "past": len(self._past)}

    def _reserved(self, pots: tuple[Pot, ...], amounts: Amounts, *, is_alone: bool = False) -> Reservation:
        self.outstanding += 1
        for pot in pots:
            pot.free -= amounts[pot.place]
        return Reservation(pots, amounts, is_alone)

    def _correct(self, reservation: Reservation, used: Amounts) -> None:
        if reservation.is_over:
            return
        reservation.is_over = True
        self.outstanding -= 1
        amounts = reservation.amounts
        for pot in reservation.pots:
            place = pot.place
            pot.free += amounts[place] - used[place]
            if pot.is_past:
                self._past.add(pot)
        reservation.pots = ()

    def _short(
        self, levels: tuple[Level, ...], pots: tuple[Pot, ...], amounts: Amounts, now_s: float
    ) -> Refused | Wanting:
        for pot in pots:
            amount = amounts[pot.place]
            if pot.free < amount:
                left = max(0, pot.free) + max(0, pot.left)
                is_known = now_s < pot.left_until_s <= now_s + self._tick_s * MEMORY_TICKS
                if amount > pot.limit or (amount > left and is_known):
                    return refused(pot, pots, amount, left, now_s)
        return Wanting(levels, amounts)

    def _planned(self, levels: tuple[Level, ...], now_s: float) -> "_Plan":
        plan = self._plans.get(id(levels))
        if plan is not None and plan.levels is levels and now_s < plan.ends_s:
            return plan
        pots = tuple(self._pot(level.name, *each, now_s) for level in levels for each in limits_of(level.limits))
        plan = _Plan(levels, pots, min([now_s + PLAN_S_MAX, *(pot.ends_s for pot in pots)]))
        self._plans[id(levels)] = plan
        return plan

    def _pot(self, level: str, limit_name: str, limit: int, now_s: float) -> Pot:
        window = self._calendar.window(MEASURES[limit_name][1], now_s)
        pot = self._pots.pop(f"{level} {limit_name}", None)
        # A window that begins later than now was planned before the clock was set back; it is not left again.
        if pot is None or pot.starts_s < window.starts_s:
            if pot is not None:
                self._close(pot)
            pot = Pot(level, limit_name, limit, window)
            if len(self._pots) >= self._pots_max:
                self._make_room()
        if pot.limit != limit:
            pot.limit, pot.left_until_s = limit, 0.0
        pot.planned_s = now_s
        self._pots[pot.counter] = pot  # last in the order of planning
        return pot

    def _make_room(self) -> None:
        """Nobody reserves in a closed pot, so whoever has it in a plan must look again."""
        idle = next((pot for pot in self._pots.values() if not _is_running(pot)), None)
        if idle is not None:
            self._close(idle)
            del self._pots[idle.counter]
            self._plans.clear()

    def _close(self, pot: Pot) -> None:
        pot.is_past = True
        self._past.add(pot)

    def _tick(self, now_s: float, reports: list[Report], top_ups: list[tuple[Want, ...]]) -> None:
        """Give back what is leased for nothing, fetch what will be used before the next tick, forget what is idle."""
        self._plans = {key: plan for key, plan in self._plans.items() if now_s < plan.ends_s}
        for pot in list(self._pots.values()):
            if now_s >= pot.ends_s or (now_s - pot.planned_s > POT_IDLE_S and not _is_running(pot)):
                self._close(pot)
                del self._pots[pot.counter]
            elif pot.span is Span.NONE:
                self._trim_running(pot, reports)
            else:
                self._trim(pot, reports, top_ups)

    def _trim_running(self, pot: Pot, reports: list[Report]) -> None:
        """Places that were free at the last tick too go back; what is held is said again, should it be forgotten."""
        surplus = min(pot.spare, pot.free_before) if pot.spare > 0 else pot.spare
        if pot.held or surplus:
            reports.append(pot.hand_back(surplus))
        pot.free_before, pot.chunk = max(0, pot.spare), 0

    def _trim(self, pot: Pot, reports: list[Report], top_ups: list[tuple[Want, ...]]) -> None:
        """Between a half and two ticks' use stay leased."""
        burn = max(0, pot.used - pot.burnt)
        pot.burnt, pot.chunk = pot.used, burn
        surplus = pot.spare - 2 * burn
        if pot.spare < 0:
            reports.append(pot.hand_back(pot.spare))
        elif surplus > 0:
            reports.append(pot.hand_back(surplus))
        elif 2 * pot.spare < burn and pot.left > 0 and len(top_ups) < TOP_UPS_MAX:
            self._topped.append(pot)
            top_ups.append((_want(pot, 1, burn - pot.spare),))

    def _pledge(self, waiting: Sequence[Wanting], now_s: float, reports: list[Report]) -> list[tuple[Want, ...]]:
        """What each request lacks, after those before it; what there is is kept for them until the answer."""
        groups = []
        enlarged = set()
        for wanting in waiting:
            wanting.pots = self._planned(wanting.levels, now_s).pots
            wants = []
            for pot in wanting.pots:
                if pot.spare < 0:
                    reports.append(pot.hand_back(pot.spare))
                amount = wanting.amounts[pot.place]
                lacking = amount - max(0, min(amount, pot.free))
                pot.free -= amount
                pot.pledged += amount
                if lacking and pot not in enlarged:
                    enlarged.add(pot)
                    wants.append(_want(pot, lacking, lacking + pot.chunk))
                    pot.chunk = min(pot.limit, 2 * pot.chunk + amount)  # asked again before the next tick: too little
                elif lacking:
                    wants.append(_want(pot, lacking, lacking))
            if wants:
                groups.append(tuple(wants))
        return groups

    def _unpledge(self, waiting: Sequence[Wanting]) -> None:
        for wanting in waiting:
            for pot in wanting.pots:
                pot.free += wanting.amounts[pot.place]
                pot.pledged -= wanting.amounts[pot.place]

    def _reserve_granted(self, wanting: Wanting, now_s: float) -> Reservation | Refused | Wanting:
        """In the windows that were asked for, even if one of them has ended meanwhile."""
        pots, amounts = wanting.pots, wanting.amounts
        for pot in pots:
            if pot.free < amounts[pot.place]:
                return self._short(wanting.levels, pots, amounts, now_s)
        return self._reserved(pots, amounts)

    def _late(self, want: Want) -> Pot:
        """The pot of a grant that came after a failure; in a window that is gone it is only there to be given back."""
        pot = self._pots.get(want.counter)
        if pot is not None and pot.starts_s == want.window:
            return pot
        level, _, limit_name = want.counter.rpartition(" ")
        window = self._calendar.window(MEASURES[limit_name][1], want.window)
        pot = Pot(level, limit_name, want.limit, window)
        pot.is_past = True
        return pot

    def _note_epoch(self, epoch: str) -> None:
        """A source that lost its counters is told what this worker has taken from them."""
        if self._epoch and epoch != self._epoch:
            self._lost = [
                Report(counter=pot.counter, window=pot.starts_s, ends_s=pot.ends_s, amount=pot.held)
                for pot in self._pots.values()
                if pot.span is not Span.NONE and pot.held > 0
            ]
        self._epoch = epoch

    def _call(self, reports: Sequence[Report], groups: Sequence[tuple[Want, ...]]) -> LeaseCall:
        self._sequence += 1
        return LeaseCall(holder=self._holder, sequence=self._sequence, reports=tuple(reports), groups=tuple(groups))


class _Plan:
    """The pots of one caller, looked up once per window."""

    __slots__ = ("ends_s", "levels", "pots")

    def __init__(self, levels: tuple[Level, ...], pots: tuple[Pot, ...], ends_s: float) -> None:
        self.levels = levels
        self.pots = pots
        self.ends_s = ends_s


def _is_running(pot: Pot) -> bool:
    """Its holder is known by all that it holds, so there must not be a second pot of that name beside it."""
    return pot.span is Span.NONE and pot.used != 0


def _want(pot: Pot, at_least: int, wanted: int) -> Want:
    return Want(
        counter=pot.counter,
        window=pot.starts_s,
        ends_s=0.0 if pot.span is Span.NONE else pot.ends_s,
        limit=pot.limit,
        at_least=at_least,
        wanted=max(at_least, wanted),
    )
