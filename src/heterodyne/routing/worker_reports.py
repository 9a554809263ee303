"""Pure: one worker's side of the reports: what it tells of itself, and what it makes of what others tell."""

from collections.abc import Callable, Mapping

from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.reports.report import WorkerReport, decode, encode
from heterodyne.routing.reports.report_book import STALE_S, ReportBook
from heterodyne.routing.router import Router


class WorkerReports:
    """One per worker. Nothing that others say lasts longer than the last report that says it."""

    def __init__(
        self, router: Router, health: Callable[[], FleetHealth] | None, *, name: str, stale_s: float = STALE_S
    ) -> None:
        """`name` is what others hear it by; `health` has the one that holds at a time; None: nobody is ejected here."""
        self._router = router
        self._name = name
        self._health = health
        self._book = ReportBook(stale_s=stale_s)
        self._version = 0
        self._body = b""
        self._has_ejections = False

    def compose(self, now_s: float) -> tuple[int, bytes]:
        """The report of now, and its version, which is higher than that of another one before."""
        router = self._router
        ejections: dict[str, float] = {}
        if self._health is not None:
            keys = router.keys()
            for replica, left_s in self._health().own_ejections(now_s).items():
                if replica in keys:
                    ejections[keys[replica]] = left_s
        body = encode(WorkerReport(loads=router.loads(now_s), ejections=ejections, speeds=router.learned(now_s)))
        if body != self._body:
            self._version, self._body = self._version + 1, body
        return self._version, body

    def hear(self, sender: str, version: int, made_at_s: float, body: bytes | None) -> None:
        """A report of another worker, or that the one of this version still holds; raises `ValueError` where it cannot
        be read. Then nothing is known of what the sender does, until its next one."""
        try:
            report = None if body is None else decode(body)
        except ValueError:
            self._book.hear(sender, version, made_at_s, WorkerReport())
            raise
        self._book.hear(sender, version, made_at_s, report)

    def apply(self, now_s: float) -> None:
        """Go by what is known of others now."""
        book, router = self._book, self._router
        book.forget_stale(now_s)
        router.hear_learned(book.speeds())  # before loads: forecasts are settled by both
        router.hear_loads(book.loads(now_s), now_s)
        workers = sorted({self._name, *book.versions()})
        router.claims.settle(workers.index(self._name), len(workers), now_s)
        if self._health is not None:
            untils = book.ejections(now_s)
            if untils or self._has_ejections:
                self._has_ejections = bool(untils)
                keys = router.keys().items()
                self._health().hear_ejections({id: untils[key] for id, key in keys if key in untils}, now_s)

    def known(self) -> Mapping[str, int]:
        """The versions of others' reports that are known."""
        return self._book.versions()

    def oldest_s(self, now_s: float) -> float:
        """How old the oldest report is that counts."""
        return self._book.oldest_s(now_s)
