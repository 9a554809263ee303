"""Reports of gateways in memory, with a clock and an outage of the test's own."""

from collections.abc import Callable

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.fleet_reports import ReportAnswer, ReportCall, ReportEntry

TTL_S = 3.0


class MemoryReports:
    """What several gateways of one test share."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.is_away = False
        self._clock = clock
        self._left: dict[str, tuple[float, ReportCall]] = {}

    async def exchange(self, call: ReportCall) -> ReportAnswer:
        if self.is_away:
            raise StoreUnavailable("it is away")
        now_s = self._clock()
        self._left[call.sender] = (now_s, call)
        entries = [
            ReportEntry(
                sender=sender,
                version=one.version,
                age_s=now_s - at_s,
                body=None if call.known.get(sender) == one.version else one.body,
            )
            for sender, (at_s, one) in self._left.items()
            if sender != call.sender and now_s - at_s <= TTL_S
        ]
        return ReportAnswer(entries=entries, gossip=(), gossip_to="")

    async def leave(self, sender: str) -> None:
        self._left.pop(sender, None)

    async def close(self) -> None:
        pass
