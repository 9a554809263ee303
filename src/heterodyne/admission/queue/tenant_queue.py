"""The requests of one tenant in one class, in the order they came, and what the tenant has had."""

from collections import OrderedDict

from heterodyne.admission.queue.waiting import Waiting

Entry = tuple[float, int, "TenantQueue"]  # counter, order of being placed, line: what a heap compares


class TenantQueue:
    """Changed by the queue and its order alone."""

    __slots__ = ("counter", "entry", "jumped", "passed", "pick", "service", "tenant", "waiting", "weight")

    def __init__(self, tenant: str, counter: float) -> None:
        self.tenant = tenant
        self.counter = counter  # service had, over weight; comparable between tenants of the class
        self.weight = 1.0  # of the request that came last
        self.waiting: OrderedDict[Waiting, None] = OrderedDict()
        self.service = 0.0  # of all that wait
        self.passed = 0  # times another request went before its head because there was no room for that one alone
        self.entry: Entry | None = None  # where it stands; any other entry of it is out of date
        self.pick: Waiting | None = None  # whose turn it is in place of the first that came
        self.jumped = 0  # times the first that came was not picked

    @property
    def head(self) -> Waiting:
        """Whose turn it is in this line: the first that came, unless the order has picked another."""
        return self.pick or next(iter(self.waiting))
