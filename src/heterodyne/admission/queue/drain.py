"""How much service a second leaves the queue, measured while requests wait and forgotten with time."""

HALF_LIFE_S = 10.0
PRIOR_S = 0.2  # of measurement that the first guess is worth: little, for it may be off by an order of magnitude


class Drain:
    """A stall shows at once: the time since the last start counts."""

    __slots__ = ("_had", "_since_s", "_time_s")

    def __init__(self, per_s_prior: float) -> None:
        assert per_s_prior > 0.0
        self._had = per_s_prior * PRIOR_S
        self._time_s = PRIOR_S
        self._since_s: float | None = None  # the last start, or when a request began to wait; None: none waits

    def begin(self, now_s: float) -> None:
        """A request waits now, and none did."""
        self._since_s = now_s

    def add(self, service: float, now_s: float, *, others_wait: bool) -> None:
        """One that waited has started."""
        if self._since_s is not None:
            passed_s = now_s - self._since_s
            if passed_s > 0.0:
                kept = 0.5 ** (passed_s / HALF_LIFE_S)
                self._had *= kept
                self._time_s = self._time_s * kept + passed_s
            self._had += service
        self._since_s = now_s if others_wait else None

    def stop(self) -> None:
        """The last one left without having started."""
        self._since_s = None

    def per_s(self, now_s: float) -> float:
        """As measured until now."""
        stalled_s = 0.0 if self._since_s is None else max(0.0, now_s - self._since_s)
        return self._had / (self._time_s + stalled_s)
