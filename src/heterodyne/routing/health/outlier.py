"""Outlier ejection: a replica that fails where its equals do not is left out for a while, longer each time.

The rules and their defaults are Envoy's: failures in a row, or a success rate far below the pool's; never more than a
share of the pool at once; every quiet interval after an ejection forgives one.
"""

from collections.abc import Callable
from math import ceil, inf, sqrt
from typing import Final

from heterodyne.routing.settings import RoutingSettings

SAME_S: Final = 2.0  # ejections that end within so long of each other are the same one, heard of twice


class Outlier:
    """What ejection knows of one replica; only its pool changes it, and calls `changed` when it leaves or returns."""

    __slots__ = (
        "attempts",
        "changed",
        "denied_until_s",
        "ejected_at_s",
        "ejections",
        "failures_in_a_row",
        "is_ejected",
        "is_heard",
        "returned_at_s",
        "successes",
        "times",
        "until_s",
    )

    def __init__(self, changed: Callable[[], None]) -> None:
        self.changed = changed
        self.failures_in_a_row = 0
        self.attempts = 0  # in this interval, those that say something
        self.successes = 0
        self.is_ejected = False
        self.is_heard = False  # ejected because another worker says so
        self.denied_until_s = -inf  # such an ejection that ends by then has been found wrong, or is over
        self.ejected_at_s = 0.0
        self.until_s = 0.0
        self.returned_at_s = -inf
        self.times = 0  # ejections not yet forgiven
        self.ejections = 0  # ever


class OutlierPool:
    """The replicas of one pool. `refused` counts ejections that the share of the pool did not allow.

    A pool that `may_be_empty` has nobody who must be left: others do its work as well, if later."""

    __slots__ = ("_ejected", "_interval_ends_at_s", "_may_be_empty", "_members", "_settings", "_times_max", "refused")

    def __init__(self, settings: RoutingSettings, *, may_be_empty: bool = False) -> None:
        self._settings = settings
        self._may_be_empty = may_be_empty
        self._times_max = max(1, ceil(settings.ejection_max_s / settings.ejection_base_s))
        self._members: dict[int, Outlier] = {}  # by identity, in the order they joined
        self._ejected = 0
        self._interval_ends_at_s = -inf
        self.refused = 0

    @property
    def ejected(self) -> int:
        """Replicas that are out now."""
        return self._ejected

    @property
    def ejected_max(self) -> int:
        """Replicas that may be out at once."""
        count, share = len(self._members), self._settings.ejection_share_max
        if self._may_be_empty and share:
            return count
        return max(1, int(count * share)) if count > 1 and share else 0

    def join(self, member: Outlier) -> None:
        """A replica enters the pool."""
        self._members[id(member)] = member

    def leave(self, member: Outlier, now_s: float) -> None:
        """A replica leaves it; a smaller pool may have to take ejected ones back."""
        del self._members[id(member)]
        if member.is_ejected:
            self._ejected -= 1
        self._advance_all(now_s)
        while self._ejected > self.ejected_max:
            out = [one for one in self._members.values() if one.is_ejected]
            self._return(min(out, key=lambda one: one.until_s), now_s)

    def on_success(self, member: Outlier, now_s: float) -> None:
        """A request to the replica succeeded."""
        if now_s >= self._interval_ends_at_s:
            self._end_interval(now_s)
        member.failures_in_a_row = 0
        member.attempts += 1
        member.successes += 1
        if member.is_heard:
            self._return(member, now_s)  # what it does for us counts for more than what it did to others

    def on_refused(self, member: Outlier, now_s: float) -> None:
        """The replica refused a request; that counts only in comparison with the others."""
        if now_s >= self._interval_ends_at_s:
            self._end_interval(now_s)
        member.attempts += 1

    def on_failure(self, member: Outlier, now_s: float) -> None:
        """A request to the replica failed."""
        if now_s >= self._interval_ends_at_s:
            self._end_interval(now_s)
        member.attempts += 1
        self.advance(member, now_s)
        if member.is_ejected:
            return
        member.failures_in_a_row += 1
        if member.failures_in_a_row >= self._settings.ejection_failures:
            self._try_eject(member, now_s)

    def on_probe(self, member: Outlier, now_s: float) -> None:
        """A health probe succeeded. Often it sees less than a request does, so it only shortens an ejection."""
        self.advance(member, now_s)
        if member.is_ejected and now_s - member.ejected_at_s >= self._settings.ejection_probe_min_s * max(
            1, member.times
        ):
            self._return(member, now_s)

    def hear(self, member: Outlier, until_s: float, now_s: float) -> None:
        """Another worker leaves it out until then, by failures that it has seen. So does this one, within the share of
        the pool, until the replica shows it otherwise; nothing is held against the replica for longer."""
        self.advance(member, now_s)
        if member.is_ejected:
            return
        until_s = min(until_s, now_s + self._settings.ejection_max_s)
        if until_s <= max(now_s, member.denied_until_s + SAME_S) or self._ejected >= self.ejected_max:
            return
        member.is_ejected = member.is_heard = True
        member.ejected_at_s, member.until_s = now_s, until_s
        self._ejected += 1
        member.changed()

    def unhear(self, member: Outlier, now_s: float) -> None:
        """No other worker leaves it out any more."""
        if member.is_heard:
            self._return(member, now_s)

    def advance(self, member: Outlier, now_s: float) -> None:
        """An ejection whose time is over ends, as of the moment it was over."""
        if member.is_ejected and now_s >= member.until_s:
            self._return(member, member.until_s)

    def _try_eject(self, member: Outlier, now_s: float) -> None:
        settings = self._settings
        if self._ejected >= self.ejected_max:
            self._advance_all(now_s)
            if self._ejected >= self.ejected_max:
                self.refused += 1
                return
        quiet_s = now_s - member.returned_at_s
        forgiven = member.times if quiet_s == inf else int(quiet_s / settings.ejection_interval_s)
        member.times = min(max(0, member.times - forgiven) + 1, self._times_max)
        member.ejections += 1
        member.is_ejected = True
        member.ejected_at_s = now_s
        member.until_s = now_s + min(settings.ejection_base_s * member.times, settings.ejection_max_s)
        self._ejected += 1
        member.changed()

    def _advance_all(self, now_s: float) -> None:
        for member in self._members.values():
            self.advance(member, now_s)

    def _return(self, member: Outlier, at_s: float) -> None:
        if member.is_heard:
            member.is_heard, member.denied_until_s = False, member.until_s
        member.is_ejected = False
        member.failures_in_a_row = 0
        member.returned_at_s = at_s
        self._ejected -= 1
        member.changed()

    def _end_interval(self, now_s: float) -> None:
        """Compare success rates; called before the first event of the next interval is counted."""
        length_s = self._settings.ejection_interval_s
        # After a quiet time the counts are of another day.
        if now_s < self._interval_ends_at_s + length_s:
            self._eject_by_success_rate(now_s)
        for member in self._members.values():
            member.attempts = member.successes = 0
        self._interval_ends_at_s = now_s + length_s

    def _eject_by_success_rate(self, now_s: float) -> None:
        settings = self._settings
        counted = [one for one in self._members.values() if one.attempts >= settings.success_rate_requests_min]
        if len(counted) < settings.success_rate_replicas_min:
            return
        rates = [one.successes / one.attempts for one in counted]
        mean = sum(rates) / len(rates)
        sigma = sqrt(sum((rate - mean) ** 2 for rate in rates) / len(rates))
        # Among five replicas a single error in a hundred requests is two sigma; the gap keeps that from mattering.
        threshold = mean - max(settings.success_rate_sigmas * sigma, settings.success_rate_gap_min)
        for rate, member in sorted(zip(rates, counted, strict=True), key=lambda pair: pair[0]):
            if rate >= threshold:
                break
            self.advance(member, now_s)
            if not member.is_ejected:
                self._try_eject(member, now_s)
