"""Pure: what other workers have in flight on one replica, by their reports, beside what the replica's gauges say."""

from typing import final

from heterodyne.routing.reports.report import ReplicaLoad


@final
class HeardLoad:
    """One per replica and worker."""

    __slots__ = (
        *("_gauged", "_most", "_most_before", "context_tokens", "decoding_tokens", "in_flight", "patient"),
        *("until_s", "waiting", "waiting_tokens"),
    )

    def __init__(self, now_s: float) -> None:
        self.in_flight = self.waiting = self.patient = 0
        self.waiting_tokens = 0.0
        self.context_tokens = self.decoding_tokens = 0.0  # held by all of them, and by those that decode
        self.until_s = now_s  # when the prompts that wait are worked off
        self._most = self._most_before = 0  # in flight, since gauges were last read, and in the time before that
        self._gauged = 0.0  # sequences that are not this worker's, when gauges were last read

    def hear(self, load: ReplicaLoad, now_s: float) -> None:
        """Newer reports take the place of those before."""
        self.in_flight, self.waiting, self.patient = load.in_flight, load.waiting, load.patient
        self.waiting_tokens, self.context_tokens = load.waiting_tokens, load.context_tokens
        decoding = load.in_flight - load.waiting
        self.decoding_tokens = load.context_tokens * decoding / load.in_flight if decoding else 0.0
        self.until_s = now_s + load.backlog_s
        if load.in_flight > self._most:
            self._most = load.in_flight

    def read_gauges(self, elsewhere: float) -> None:
        """The replica says that it has so many sequences beside this worker's."""
        self._gauged = elsewhere
        self._most_before, self._most = self._most, self.in_flight

    def sequences(self) -> float:
        """All that are not this worker's. Gauges contain what is reported, and reports are fresher: the rest of what
        they say is of strangers."""
        most = self._most if self._most > self._most_before else self._most_before
        return self.in_flight + (self._gauged - most if self._gauged > most else 0.0)
