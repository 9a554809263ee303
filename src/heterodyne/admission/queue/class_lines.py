"""The lines of one class: who waits in it, and whose counters are remembered although nobody does."""

from collections.abc import Iterator
from heapq import nsmallest

from heterodyne.admission.queue.drain import Drain
from heterodyne.admission.queue.line import Line
from heterodyne.admission.queue.order import Order
from heterodyne.admission.queue.waiting import Waiting

IDLE_MAX = 10_000  # tenants in debt without a request that a sweep leaves
SWEEP_MIN = 64


class ClassLines:
    """Every line is in the order while somebody waits in it; else it is idle, until it can be forgotten."""

    __slots__ = ("_lines", "_sweep_at", "_turned", "_weight", "credit", "depth", "order", "service", "share", "turning")

    def __init__(self, order: Order, share: float, turning_per_s_prior: float) -> None:
        self.order = order
        self.turning = Drain(turning_per_s_prior)  # what a line that always waits is given in a second, over its weight
        self._turned = 0.0  # of that, not yet told to it
        self._weight = 0.0  # of all lines in which somebody waits
        self.share = share  # of what goes to classes above that this one may have while it waits
        self.credit = 0.0  # how much of that it has not had
        self.depth = 0
        self.service = 0.0  # of all that wait
        self._lines: dict[str, Line] = {}
        self._sweep_at = SWEEP_MIN

    def find(self, tenant: str) -> Line | None:
        """The tenant's line, if it is remembered."""
        return self._lines.get(tenant)

    def waiting_lines(self) -> Iterator[Line]:
        """Those in which somebody waits, in no order."""
        return (line for line in self._lines.values() if line.waiting)

    def __contains__(self, waiting: Waiting) -> bool:
        line = self._lines.get(waiting.tenant)
        return line is not None and waiting in line.waiting

    def __len__(self) -> int:
        """Tenants that are remembered."""
        return len(self._lines)

    def add(self, waiting: Waiting) -> None:
        """One more at the end of its tenant's line."""
        order, tenant = self.order, waiting.tenant
        line = self._lines.get(tenant) or self._remember(tenant)
        if not line.waiting:
            if line.counter < order.floor:
                line.counter = order.floor
            order.join(line)
            self._weight += waiting.weight
        else:
            self._weight += waiting.weight - line.weight
        line.waiting[waiting] = None
        line.service += waiting.service
        line.weight = waiting.weight
        self.depth += 1
        self.service += waiting.service

    def drop(self, waiting: Waiting) -> Line:
        """One fewer, wherever it stands."""
        line = self._lines[waiting.tenant]
        if line.passed and waiting is line.head:
            line.passed = 0
        if line.pick is waiting:
            line.pick = None
        del line.waiting[waiting]
        if line.waiting:
            line.service -= waiting.service
        else:
            line.service = 0.0  # nothing is left of rounding
            self._weight -= line.weight
            self.order.leave(line)
        self.depth -= 1
        if self.depth:
            self.service -= waiting.service
        else:
            self.service = self.credit = self._weight = 0.0
        return line

    def serve(self, line: Line, waiting: Waiting) -> None:
        """One fewer: its turn has come, and its tenant is charged what is predicted."""
        self.order.advance(line)
        self._turned += waiting.service / self._weight
        self.drop(waiting)
        line.counter += waiting.service / waiting.weight
        if line.waiting:
            self.order.move(line)

    def note_turn(self, now_s: float) -> None:
        """One of the class has started."""
        turned, self._turned = self._turned, 0.0
        self.turning.add(turned, now_s, others_wait=self.depth > 0)

    def correct(self, tenant: str, counter_change: float) -> None:
        """What a tenant has had was more or less than thought; one that is forgotten has its floor."""
        line = self._lines.get(tenant) or self._remember(tenant)
        line.counter += counter_change
        if line.waiting:
            self.order.move(line)

    def _remember(self, tenant: str) -> Line:
        if len(self._lines) >= self._sweep_at:
            self._forget()
        line = self._lines[tenant] = Line(tenant, self.order.floor)
        return line

    def _forget(self) -> None:
        """Idle lines at the floor, where they would be lifted to anyway; and where too many are above it, the lowest.

        It looks at all of them, but only when there are twice as many as were left the last time.
        """
        floor = self.order.floor
        idle = [line for line in self._lines.values() if not line.waiting]
        owing = [line for line in idle if line.counter > floor]
        forgotten = [line for line in idle if line.counter <= floor]
        forgotten += nsmallest(len(owing) - IDLE_MAX, owing, key=lambda line: line.counter)
        for line in forgotten:
            del self._lines[line.tenant]
        self._sweep_at = 2 * len(self._lines) + SWEEP_MIN
