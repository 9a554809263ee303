"""Pure: what other workers have in flight on one replica, by their reports, beside what the replica's gauges say."""

from typing import Final, final

from heterodyne.routing.reports.report import ReplicaLoad

WORK_MAX: Final = 10.0  # times as fast as by the prior that prompts may be computed, to be believed


@final
class HeardLoad:
    """One per replica and worker."""

    __slots__ = (
        *("_gauged", "_most", "_most_before", "context_tokens", "decoding_tokens", "in_flight", "patient"),
        *("_heard_at_s", "_work_done_s", "until_s", "waiting", "waiting_tokens"),
    )

    def __init__(self, now_s: float) -> None:
        self.in_flight = self.waiting = self.patient = 0
        self.waiting_tokens = 0.0
        self.context_tokens = self.decoding_tokens = 0.0  # held by all of them, and by those that decode
        self.until_s = now_s  # when the prompts that wait are worked off
        self._work_done_s = self._heard_at_s = -1.0  # of prompts, ever, and when that was heard; below zero: never
        self._most = self._most_before = 0  # in flight, since gauges were last read, and in the time before that
        self._gauged = 0.0  # sequences that are not this worker's, when gauges were last read

    def hear(self, load: ReplicaLoad, now_s: float) -> float:
        """Newer reports take the place of those before. Returns the seconds of prompts, by the prior, that were
        computed in between."""
        self.in_flight, self.waiting, self.patient = load.in_flight, load.waiting, load.patient
        self.waiting_tokens, self.context_tokens = load.waiting_tokens, load.context_tokens
        decoding = load.in_flight - load.waiting
        self.decoding_tokens = load.context_tokens * decoding / load.in_flight if decoding else 0.0
        self.until_s = now_s + load.backlog_s
        if load.in_flight > self._most:
            self._most = load.in_flight
        # A worker that is heard for the first time brings along all that it has ever sent.
        done_s, most_s = load.work_done_s - self._work_done_s, WORK_MAX * (now_s - self._heard_at_s)
        is_known, self._work_done_s, self._heard_at_s = self._work_done_s >= 0.0, load.work_done_s, now_s
        return done_s if is_known and 0.0 < done_s <= most_s else 0.0

    def read_gauges(self, elsewhere: float) -> None:
        """The replica says that it has so many sequences beside this worker's."""
        self._gauged = elsewhere
        self._most_before, self._most = self._most, self.in_flight

    def sequences(self) -> float:
        """All that are not this worker's. Gauges contain what is reported, and reports are fresher: the rest of what
        they say is of strangers."""
        most = self._most if self._most > self._most_before else self._most_before
        return self.in_flight + (self._gauged - most if self._gauged > most else 0.0)
