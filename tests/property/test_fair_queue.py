"""The fair queue, whatever is sent in whatever order: its bounds hold, nobody starves, nothing is lost or kept."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.admission.queue.dlpm import Dlpm
from heterodyne.admission.queue.fair_queue import CHARGE_LEAST, FairQueue
from heterodyne.admission.queue.order import QueueOrder
from heterodyne.admission.queue.vtc import Vtc
from heterodyne.admission.queue.waiting import StartVerdict, Waiting
from heterodyne.domain.errors import QueueFull
from heterodyne.domain.urgency import Urgency
from tests.support.splits import bounded

QUANTUM = 20.0
weights = st.floats(0.2, 5.0)
services = st.floats(0.2, 20.0)
tenants = st.lists(st.tuples(weights, st.lists(services, min_size=1, max_size=5)), min_size=2, max_size=6)
# Others come with so many requests, or the first of them leave, between two turns.
visits = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), services), min_size=10, max_size=80)
orders = st.sampled_from([Vtc, lambda: Dlpm(quantum=QUANTUM)])


def can_always_start(_: Waiting) -> StartVerdict:
    return StartVerdict.YES


def queue_of(order: Callable[[], QueueOrder] = Vtc, *, queue_max: int = 10_000, kv_tokens: float = 0.0) -> FairQueue:
    queue = FairQueue("m", queue_max=queue_max, tenant_queue_max=queue_max, order=order)
    queue.resize(queue_max=queue_max, tenant_queue_max=queue_max, kv_tokens=kv_tokens)
    return queue


class Crowd:
    """Tenants that always have somebody waiting; the requests of each repeat their services."""

    def __init__(self, queue: FairQueue, tenants: Sequence[tuple[float, list[float]]]) -> None:
        self.queue = queue
        self.weights = [weight for weight, _ in tenants]
        self.largest = [max(services) / weight for weight, services in tenants]  # over weight
        self.had = [0.0] * len(tenants)  # over weight
        self._services = [services for _, services in tenants]
        self._sent = [0] * len(tenants)
        for index in range(len(tenants)):
            self.send(index)
            self.send(index)

    def send(self, index: int) -> Waiting:
        services = self._services[index]
        waiting = Waiting(
            tenant=f"crowd-{index}",
            weight=self.weights[index],
            service=services[self._sent[index] % len(services)],
            cached_tokens=lambda: (7 * self._sent[index] + index) % 5,
            handle=index,
        )
        self._sent[index] += 1
        self.queue.push(waiting, 0.0)
        return waiting

    def taken(self, waiting: Waiting) -> None:
        if isinstance(waiting.handle, int):
            self.had[waiting.handle] += waiting.service / waiting.weight
            self.send(waiting.handle)


def visit(queue: FairQueue, visitors: list[Waiting], who: int, many: int, service: float) -> None:
    if many == 0:
        for waiting in visitors[:3]:
            queue.remove(waiting)
        del visitors[:3]
    for _ in range(many):
        visitors.append(Waiting(tenant=f"visitor-{who}", service=service))
        queue.push(visitors[-1], 0.0)


@bounded
@given(tenants, visits, orders)
def test_tenants_that_always_wait_get_the_same_by_weight_over_any_time(
    tenants: list[tuple[float, list[float]]], visits: list[tuple[int, int, float]], order: Callable[[], QueueOrder]
) -> None:
    queue = queue_of(order)
    crowd = Crowd(queue, tenants)
    visitors: list[Waiting] = []
    history = [list(crowd.had)]
    for who, many, service in visits:
        visit(queue, visitors, who, many, service)
        for _ in range(3):
            taken = queue.try_take(can_always_start, 0.0)
            assert taken is not None
            crowd.taken(taken)
        history.append(list(crowd.had))
    quanta = 0.0 if order is Vtc else 2 * QUANTUM
    for one in range(len(tenants)):
        for other in range(one):
            gaps = [had[one] - had[other] for had in history]
            bound = crowd.largest[one] + crowd.largest[other] + quanta
            assert max(gaps) - min(gaps) <= bound + 1e-6


@bounded
@given(tenants, visits, st.integers(0, 5))
def test_nobody_is_overtaken_by_more_than_the_formula_says(
    tenants: list[tuple[float, list[float]]], visits: list[tuple[int, int, float]], index: int
) -> None:
    queue = queue_of()
    crowd = Crowd(queue, tenants)
    index %= len(tenants)
    visitors: list[Waiting] = []
    for who, many, service in visits[:10]:
        visit(queue, visitors, who, many, service)
        taken = queue.try_take(can_always_start, 0.0)
        assert taken is not None
        crowd.taken(taken)
    shown = queue.snapshot(0.0).classes[0].tenants
    before = sum(tenant.service for tenant in shown if tenant.tenant == f"crowd-{index}")
    mine = crowd.send(index)
    overtook: dict[str, float] = defaultdict(float)
    largest: dict[str, float] = defaultdict(float)
    weight = {}
    steps = iter(visits)
    for _ in range(100_000):
        if (step := next(steps, None)) is not None:
            visit(queue, visitors, *step)
        taken = queue.try_take(can_always_start, 0.0)
        assert taken is not None
        if taken is mine:
            break
        crowd.taken(taken)
        overtook[taken.tenant] += taken.service
        weight[taken.tenant] = taken.weight
        largest[taken.tenant] = max(largest[taken.tenant], taken.service)
    else:
        pytest.fail("it was never its turn")
    own = overtook.pop(mine.tenant, 0.0)
    assert own == pytest.approx(before)
    for tenant, service in overtook.items():
        share = weight[tenant] * (before / mine.weight + crowd.largest[index])
        assert service <= share + largest[tenant] + 1e-6


@bounded
@given(tenants, st.lists(st.tuples(st.integers(0, 20), st.floats(0.0, 3.0)), max_size=60))
def test_counters_say_what_was_charged_after_corrections_and_refunds(
    tenants: list[tuple[float, list[float]]], ends: list[tuple[int, float]]
) -> None:
    queue = queue_of()
    crowd = Crowd(queue, tenants)
    charged: Counter[int] = Counter()
    running: list[Waiting] = []

    def counters_now() -> dict[str, float]:
        return {each.tenant: each.counter for each in queue.snapshot(0.0).classes[0].tenants}

    def assert_counters_agree() -> None:
        counters = counters_now()
        zero = counters["crowd-0"]
        for index, weight in enumerate(crowd.weights):
            expected = charged[index] / weight - charged[0] / crowd.weights[0]
            assert counters[f"crowd-{index}"] - zero == pytest.approx(expected, abs=1e-6)

    for which, factor in ends:
        counters = counters_now()
        taken = queue.try_take(can_always_start, 0.0)
        assert taken is not None
        assert counters[taken.tenant] == min(counters.values())
        assert isinstance(taken.handle, int)
        crowd.taken(taken)
        running.append(taken)
        charged[taken.handle] += taken.service  # type: ignore[assignment]
        assert_counters_agree()
        if which < len(running):
            over = running.pop(which)
            assert isinstance(over.handle, int)
            queue.correct(over, over.service * 1.5)
            queue.end(over, over.service * factor)
            charged[over.handle] += over.service * (max(factor, CHARGE_LEAST) - 1.0)  # type: ignore[assignment]
            assert_counters_agree()
    assert queue.snapshot(0.0).running == len(running)


@bounded
@given(
    st.lists(st.tuples(st.integers(0, 2), st.floats(1.0, 10.0), services, st.integers(0, 2)), max_size=60),
    st.booleans(),
    orders,
)
def test_no_room_is_left_unused_while_somebody_waits(
    sent: list[tuple[int, float, float, int]], same_size: bool, order: Callable[[], QueueOrder]
) -> None:
    queue = queue_of(order, kv_tokens=10.0)
    running: list[Waiting] = []

    def fits(waiting: Waiting) -> StartVerdict:
        return (
            StartVerdict.YES
            if sum(each.kv_tokens for each in running) + waiting.kv_tokens <= 10.0
            else StartVerdict.NONE
        )

    def fill() -> None:
        while (taken := queue.try_take(fits, 0.0)) is not None:
            running.append(taken)
        if queue.depth(Urgency.INTERACTIVE):
            free = 10.0 - sum(each.kv_tokens for each in running)
            assert running  # an empty pool has room for anybody
            assert free < (2.0 if same_size else 10.0)

    for who, kv_tokens, service, ended in sent:
        size = 2.0 if same_size else kv_tokens
        queue.push(Waiting(tenant=f"t{who}", service=service, kv_tokens=size), 0.0)
        fill()
        for _ in range(min(ended, len(running))):
            over = running.pop(0)
            queue.end(over, over.service)
        fill()
    while running:
        over = running.pop(0)
        queue.end(over, over.service)
        fill()
    assert len(queue) == 0
    assert queue.snapshot(0.0).kv_held_tokens == 0.0


@bounded
@given(
    st.lists(st.floats(0.5, 4.0), min_size=2, max_size=5),
    st.floats(1.0, 10.0),
    st.floats(0.5, 5.0),
    st.sampled_from([Vtc, lambda: Dlpm(quantum=5.0)]),
)
def test_an_aggressor_who_sends_a_hundred_times_as_much_gets_no_more(
    weights: list[float], giant: float, small: float, order: Callable[[], QueueOrder]
) -> None:
    queue = queue_of(order, queue_max=200)
    had = [0.0] * len(weights)

    def send(index: int) -> None:
        size = giant if index == 0 else small
        queue.push(Waiting(tenant=str(index), weight=weights[index], service=size, handle=index), 0.0)

    for index in range(len(weights)):
        for _ in range(100 if index == 0 else 1):
            send(index)
    # Until each has had about four times what two may differ by at any moment.
    apart = (giant + small) / min(weights) + 2 * 5.0
    while sum(had) < 4 * apart * sum(weights):
        taken = queue.try_take(can_always_start, 0.0)
        assert taken is not None
        assert isinstance(taken.handle, int)
        had[taken.handle] += taken.service
        send(taken.handle)
    shares = [each / weight for each, weight in zip(had, weights, strict=True)]
    assert sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares)) >= 0.98


actions = st.lists(
    st.tuples(
        st.sampled_from(["push", "push", "take", "remove", "expire"]),
        st.integers(0, 5),
        st.sampled_from(list(Urgency)),
        st.floats(0.0, 30.0),
        services,
    ),
    max_size=120,
)


@bounded
@given(actions, st.integers(1, 12), st.integers(1, 6), orders)
def test_each_request_ends_once_and_the_queue_keeps_its_bounds(
    actions: list[tuple[str, int, Urgency, float, float]],
    queue_max: int,
    tenant_queue_max: int,
    order: Callable[[], QueueOrder],
) -> None:
    queue = FairQueue("m", queue_max=queue_max, tenant_queue_max=tenant_queue_max, order=order)
    waits: list[Waiting] = []
    now_s = 0.0
    for what, number, urgency, allowed_s, service in actions:
        now_s += 1.0
        if what == "push":
            deadline_s = now_s + allowed_s if number % 2 else inf
            waiting = Waiting(tenant=f"t{number}", urgency=urgency, service=service, deadline_s=deadline_s, least_s=2.0)
            of_class = sum(each.urgency is urgency for each in waits)
            of_tenant = [each for each in waits if each.urgency is urgency and each.tenant == waiting.tenant]
            if len(waits) < queue_max and len(of_tenant) < tenant_queue_max:
                queue.push(waiting, now_s)
                waits.append(waiting)
            # Those too late still count for the class; for the tenant until they are set aside.
            elif of_class >= queue_max or sum(each.start_by_s > now_s for each in of_tenant) >= tenant_queue_max:
                with pytest.raises(QueueFull) as refused:
                    queue.push(waiting, now_s)
                assert 1 <= (refused.value.retry_after_s or 0) <= 60
        elif what == "take":
            taken = queue.try_take(can_always_start, now_s)
            if taken is None:
                assert all(each.start_by_s <= now_s for each in waits)
            else:
                assert taken.start_by_s > now_s
                earlier = [each for each in waits if each.tenant == taken.tenant and each.urgency is taken.urgency]
                assert next(each for each in earlier if each.start_by_s > now_s) is taken
                waits.remove(taken)
        elif what == "remove" and waits:
            gone = waits.pop(number % len(waits))
            assert queue.remove(gone)
            assert not queue.remove(gone)
        elif what == "expire":
            expired = queue.expire(now_s)
            assert set(expired) == {each for each in waits if each.start_by_s <= now_s}
            waits = [each for each in waits if each not in expired]
            assert queue.next_expiry_s() == min((each.start_by_s for each in waits), default=inf)
        assert len(queue) == len(waits)
    now_s = 10.0**9
    expired = queue.expire(now_s)
    rest = []
    while (taken := queue.try_take(can_always_start, now_s)) is not None:
        rest.append(taken)
    assert Counter(expired + rest) == Counter(waits)
    assert len(queue) == 0


@bounded
@given(st.lists(st.tuples(st.integers(0, 10_000), services), min_size=100, max_size=600), orders)
def test_tenants_that_left_are_forgotten(sent: list[tuple[int, float]], order: Callable[[], QueueOrder]) -> None:
    queue = queue_of(order)
    queue.push(Waiting(tenant="stays", service=1.0), 0.0)
    for who, service in sent:
        queue.push(Waiting(tenant=f"t{who}", service=service), 0.0)
        queue.push(Waiting(tenant="stays", service=service), 0.0)
        for _ in range(2):
            taken = queue.try_take(can_always_start, 0.0)
            assert taken is not None
            queue.end(taken, taken.service)
    # Those above the floor are few: whoever had its turn since the floor was last where they are.
    assert queue.snapshot(0.0).classes[0].tenants_remembered <= 200
