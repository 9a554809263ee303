"""Who is next, who waits, and who is told to go away."""

from math import inf

import pytest

from heterodyne.admission.queue.class_queue import IDLE_MAX, SWEEP_MIN
from heterodyne.admission.queue.dlpm import JUMPS_MAX, Dlpm
from heterodyne.admission.queue.fair_queue import CHARGE_LEAST, PASSED_MAX, TENANTS_SHOWN, FairQueue
from heterodyne.admission.queue.waiting import StartVerdict, Waiting
from heterodyne.domain.errors import QueueFull
from heterodyne.domain.urgency import Urgency

BATCH, BACKGROUND = Urgency.BATCH, Urgency.BACKGROUND


def can_always_start(_: Waiting) -> StartVerdict:
    return StartVerdict.YES


def can_never_start(_: Waiting) -> StartVerdict:
    return StartVerdict.NONE


def queue_of(*, kv_tokens: float = 0.0, **fields: object) -> FairQueue:
    queue = FairQueue("m", **{"queue_max": 1000, "tenant_queue_max": 1000, **fields})  # type: ignore[arg-type]
    queue.resize(
        queue_max=fields.get("queue_max", 1000),  # type: ignore[arg-type]
        tenant_queue_max=fields.get("tenant_queue_max", 1000),  # type: ignore[arg-type]
        kv_tokens=kv_tokens,
    )
    return queue


def push(queue: FairQueue, tenant: str, service: float = 1.0, now_s: float = 0.0, **fields: object) -> Waiting:
    waiting = Waiting(tenant=tenant, service=service, **fields)  # type: ignore[arg-type]
    queue.push(waiting, now_s)
    return waiting


def take_all(queue: FairQueue) -> list[Waiting]:
    taken = []
    while (waiting := queue.try_take(can_always_start, 0.0)) is not None:
        taken.append(waiting)
    return taken


def test_the_requests_of_one_tenant_go_in_the_order_they_came() -> None:
    queue = queue_of()
    sent = [push(queue, "a", service) for service in (9.0, 1.0, 5.0)]
    assert take_all(queue) == sent


def test_tenants_take_turns_by_weight() -> None:
    queue = queue_of()
    for _ in range(30):
        push(queue, "a", weight=2.0)
        push(queue, "b")
    order = "".join(taken.tenant for taken in take_all(queue))
    for turns in range(3, 45, 3):
        assert abs(order[:turns].count("a") - 2 * order[:turns].count("b")) <= 2


def test_a_tenant_that_was_away_has_not_saved_anything_up() -> None:
    queue = queue_of()
    for _ in range(50):
        push(queue, "busy")
    for _ in range(20):
        queue.try_take(can_always_start, 0.0)
    for _ in range(10):
        push(queue, "new")
    first_ten = [queue.try_take(can_always_start, 0.0) for _ in range(10)]
    assert sum(taken is not None and taken.tenant == "busy" for taken in first_ten) == 5


def test_a_tenant_that_comes_back_stands_where_the_others_are_by_now() -> None:
    queue = queue_of()
    push(queue, "was here")
    for _ in range(50):
        push(queue, "busy")
    for _ in range(21):
        queue.try_take(can_always_start, 0.0)
    for _ in range(10):
        push(queue, "was here")
    first_ten = [queue.try_take(can_always_start, 0.0) for _ in range(10)]
    assert sum(taken is not None and taken.tenant == "busy" for taken in first_ten) == 5


def test_leaving_and_coming_back_forgives_no_debt() -> None:
    queue = queue_of()
    push(queue, "steady")
    push(queue, "steady")
    push(queue, "steady")
    push(queue, "giant", 100.0)
    assert [queue.try_take(can_always_start, 0.0).tenant for _ in range(2)] == ["steady", "giant"]  # type: ignore[union-attr]
    push(queue, "giant", 100.0)
    assert [taken.tenant for taken in take_all(queue)] == ["steady", "steady", "giant"]


def test_interactive_goes_before_batch_and_batch_before_background() -> None:
    queue = queue_of(class_shares={})
    push(queue, "a", urgency=BACKGROUND)
    push(queue, "a", urgency=BATCH)
    push(queue, "b")
    assert [taken.urgency.value for taken in take_all(queue)] == ["interactive", "batch", "background"]


def test_batch_work_trickles_through_under_endless_interactive_work_and_background_does_not() -> None:
    queue = queue_of()
    for _ in range(100):
        push(queue, "later", urgency=BATCH)
        push(queue, "whenever", urgency=BACKGROUND)
    taken = []
    for _ in range(420):
        push(queue, "now")
        waiting = queue.try_take(can_always_start, 0.0)
        assert waiting is not None
        taken.append(waiting.urgency)
    assert taken.count(BATCH) == 20  # 5 % of the 400 others
    assert taken.count(BACKGROUND) == 0


def test_a_class_that_has_earned_its_turn_and_does_not_fit_stops_nobody() -> None:
    queue = queue_of(class_shares={BATCH: 1.0})
    push(queue, "later", urgency=BATCH)
    for _ in range(10):
        push(queue, "now")

    def interactive_only(waiting: Waiting) -> StartVerdict:
        return StartVerdict.NONE if waiting.urgency is BATCH else StartVerdict.YES

    for _ in range(10):
        assert queue.try_take(interactive_only, 0.0) is not None
    assert queue.try_take(interactive_only, 0.0) is None
    assert queue.depth(BATCH) == 1


def test_a_full_pool_stops_everybody_behind_the_first() -> None:
    queue = queue_of()
    push(queue, "a", kv_tokens=100.0)
    push(queue, "b", kv_tokens=1.0)
    push(queue, "c", urgency=BATCH, kv_tokens=1.0)
    assert queue.try_take(lambda head: StartVerdict.YES if head.kv_tokens < 50 else StartVerdict.NONE, 0.0) is None
    assert len(queue) == 3


def test_a_request_that_few_replicas_can_serve_lets_others_by_but_not_for_ever() -> None:
    queue = queue_of()
    picky = push(queue, "a")
    for _ in range(2 * PASSED_MAX):
        push(queue, "b")

    def not_for_a(waiting: Waiting) -> StartVerdict:
        return StartVerdict.NOT_FOR_IT if waiting is picky else StartVerdict.YES

    overtakers = 0
    while queue.try_take(not_for_a, 0.0) is not None:
        overtakers += 1
    assert overtakers == PASSED_MAX
    assert queue.try_take(can_always_start, 0.0) is picky
    assert queue.try_take(not_for_a, 0.0) is not None


def test_what_one_class_cannot_use_the_next_may() -> None:
    queue = queue_of()
    push(queue, "a")
    later = push(queue, "b", urgency=BATCH)
    assert (
        queue.try_take(lambda head: StartVerdict.NOT_FOR_IT if head.tenant == "a" else StartVerdict.YES, 0.0) is later
    )


def test_giant_prompts_of_one_tenant_leave_memory_to_others_who_wait() -> None:
    queue = queue_of(kv_tokens=100.0)
    for _ in range(4):
        push(queue, "giant", 0.1, kv_tokens=30.0)
    assert queue.try_take(can_always_start, 0.0) is not None  # alone
    small = push(queue, "small", 50.0, kv_tokens=5.0)
    assert queue.try_take(can_always_start, 0.0) is small  # 60 of 100 would be more than half
    assert queue.try_take(can_always_start, 0.0) is not None  # alone again: more than half is fine
    assert queue.snapshot(0.0).kv_held_tokens == 65.0


def test_a_tenant_with_nothing_in_flight_may_start_a_prompt_of_any_size() -> None:
    queue = queue_of(kv_tokens=100.0)
    giant = push(queue, "giant", kv_tokens=90.0)
    push(queue, "small", kv_tokens=1.0)
    assert queue.try_take(can_always_start, 0.0) is giant


def test_memory_that_nobody_else_can_use_is_not_kept_free() -> None:
    queue = queue_of(kv_tokens=100.0)
    for tenant in ("a", "b"):
        queue.start(Waiting(tenant=tenant, service=1.0, kv_tokens=30.0))
    first = push(queue, "a", kv_tokens=30.0)
    push(queue, "b", kv_tokens=30.0)
    assert queue.try_take(can_always_start, 0.0) is first


def test_waiting_for_ones_own_memory_is_no_credit() -> None:
    queue = queue_of(kv_tokens=100.0)
    held = Waiting(tenant="greedy", service=1.0, kv_tokens=45.0)
    queue.start(held)
    for _ in range(20):
        push(queue, "greedy", kv_tokens=10.0)
        push(queue, "modest", kv_tokens=0.0)
    assert {queue.try_take(can_always_start, 0.0).tenant for _ in range(10)} == {"modest"}  # type: ignore[union-attr]
    queue.end(held, 1.0)
    next_four = [queue.try_take(can_always_start, 0.0) for _ in range(4)]
    assert sum(taken is not None and taken.tenant == "greedy" for taken in next_four) == 2


def test_a_full_class_refuses_and_says_when_to_come_back() -> None:
    queue = queue_of(queue_max=3, drain_per_s_prior=0.1)
    for tenant in "abc":
        push(queue, tenant)
    with pytest.raises(QueueFull, match=r"3 interactive requests already wait for 'm'") as refused:
        push(queue, "d")
    assert refused.value.retry_after_s == 15  # half of three, a tenth a second
    push(queue, "d", urgency=BATCH)  # a class fills only its own queue
    assert queue.fill(Urgency.INTERACTIVE) == 1.0


def test_a_tenant_cannot_fill_the_queue_alone() -> None:
    queue = queue_of(queue_max=10, tenant_queue_max=2)
    push(queue, "a")
    push(queue, "a")
    with pytest.raises(QueueFull, match=r"2 interactive requests of this tenant already wait"):
        push(queue, "a")
    push(queue, "b")
    assert queue.tenant_depth("a", Urgency.INTERACTIVE) == 2
    assert queue.tenant_depth("nobody", Urgency.INTERACTIVE) == 0


def test_what_can_no_longer_keep_its_deadline_is_taken_out_and_never_started() -> None:
    queue = queue_of()
    late = push(queue, "a", deadline_s=10.0, least_s=3.0)
    fine = push(queue, "a", deadline_s=10.0)
    assert queue.next_expiry_s() == 7.0
    assert queue.expire(6.9) == []
    assert queue.try_take(can_always_start, 7.0) is fine
    assert len(queue) == 1  # until it is collected
    assert queue.expire(7.0) == [late]
    assert len(queue) == 0
    assert queue.next_expiry_s() == inf


def test_a_client_that_leaves_is_taken_out_wherever_it_stands() -> None:
    queue = queue_of()
    sent = [push(queue, "a", deadline_s=50.0) for _ in range(3)]
    assert queue.remove(sent[1])
    assert not queue.remove(sent[1])
    assert take_all(queue) == [sent[0], sent[2]]
    late = push(queue, "a", deadline_s=50.0)
    assert queue.try_take(can_always_start, 60.0) is None
    assert queue.remove(late)
    assert queue.expire(60.0) == []


def test_deadlines_of_requests_that_left_do_not_pile_up() -> None:
    queue = queue_of()
    for _ in range(1000):
        queue.remove(push(queue, "a", deadline_s=1e9))
    assert len(queue._deadlines._entries) < 100


def test_a_request_that_took_longer_costs_its_tenant_later_turns() -> None:
    queue = queue_of()
    for tenant in "ababab":
        push(queue, tenant)
    first = queue.try_take(can_always_start, 0.0)
    assert first is not None
    queue.end(first, 3.0)
    assert [taken.tenant for taken in take_all(queue)] == ["b", "b", "b", "a", "a"]


def test_cancelling_again_and_again_does_not_keep_a_tenant_first() -> None:
    queue = queue_of()
    for _ in range(2 * round(1 / CHARGE_LEAST)):
        push(queue, "cancels")
    push(queue, "waits")
    push(queue, "waits")
    for turn in range(2 * round(1 / CHARGE_LEAST)):
        taken = queue.try_take(can_always_start, 0.0)
        assert taken is not None
        if taken.tenant == "waits" and turn > 2:
            return
        queue.end(taken, 0.0 if taken.tenant == "cancels" else taken.service)
    pytest.fail("the second request that waited never had its turn")


def test_what_never_waited_is_not_charged() -> None:
    queue = queue_of()
    direct = Waiting(tenant="a", service=100.0, kv_tokens=5.0)
    queue.start(direct)
    push(queue, "a")
    push(queue, "b")
    queue.correct(direct, 1000.0)
    queue.end(direct, 1000.0)
    assert [taken.tenant for taken in take_all(queue)] == ["a", "b"]
    assert queue.snapshot(0.0).kv_held_tokens == 0.0


def test_debtors_are_remembered_only_so_many() -> None:
    queue = queue_of()
    for index in range(3 * IDLE_MAX):
        taken = push(queue, f"t{index}")
        assert queue.try_take(can_always_start, 0.0) is taken
        queue.end(taken, 1000.0)
    assert queue.snapshot(0.0).classes[0].tenants_remembered <= 2 * IDLE_MAX + SWEEP_MIN


def test_the_warmest_of_those_with_a_deficit_is_next() -> None:
    queue = queue_of(order=lambda: Dlpm(quantum=2.0))
    cold = push(queue, "a")
    warm = push(queue, "b", cached_tokens=lambda: 100.0)
    warmer_but_later = push(queue, "b", cached_tokens=lambda: 500.0)
    third = push(queue, "b", cached_tokens=lambda: 100.0)
    assert take_all(queue) == [warmer_but_later, warm, cold, third]


def test_a_cold_request_is_overtaken_by_warm_ones_of_its_tenant_only_so_often() -> None:
    queue = queue_of(order=lambda: Dlpm(quantum=2.0))
    cold = push(queue, "a")
    for _ in range(JUMPS_MAX + 5):
        push(queue, "a", cached_tokens=lambda: 100.0)
    assert take_all(queue).index(cold) == JUMPS_MAX


def test_position_and_wait_follow_the_fair_order() -> None:
    queue = queue_of(drain_per_s_prior=2.0)
    for _ in range(10):
        push(queue, "a")
    mine = [push(queue, "b") for _ in range(3)]
    push(queue, "c", urgency=BATCH)
    places = [queue.place(waiting, 0.0) for waiting in mine]
    assert [place.position for place in places] == [1, 3, 5]
    assert [place.wait_s for place in places] == [0.0, 1.0, 2.0]
    new = queue.place(Waiting(tenant="d", service=1.0), 0.0)
    assert new.position == 1
    batch = queue.place(Waiting(tenant="d", service=1.0, urgency=BATCH), 0.0)
    assert batch.position == 14  # after thirteen interactive ones, beside the other
    assert batch.wait_s == 6.5


def test_the_predicted_position_is_the_one_it_is_taken_at() -> None:
    queue = queue_of()
    sent = [push(queue, tenant, weight=2.0 if tenant == "a" else 1.0) for tenant in "aaaaaabbbbccd"]
    predicted = {waiting: queue.place(waiting, 0.0).position for waiting in sent}
    for turn, taken in enumerate(take_all(queue), start=1):
        assert abs(predicted[taken] - turn) <= 3  # one request of each other tenant


def test_the_wait_is_measured_by_how_fast_the_queue_moves() -> None:
    queue = queue_of(drain_per_s_prior=100.0)
    for _ in range(300):
        push(queue, "a")
    for second in range(1, 101):
        queue.try_take(can_always_start, float(second))  # one a second
    last = push(queue, "a", now_s=100.0)
    assert queue.place(last, 100.0).wait_s == pytest.approx(200.0, rel=0.05)
    assert queue.place(last, 160.0).wait_s > 500.0  # it has not moved for a minute


def test_a_snapshot_shows_classes_and_the_longest_lines() -> None:
    queue = queue_of()
    for index in range(TENANTS_SHOWN + 5):
        push(queue, f"t{index}", urgency=BACKGROUND)
    push(queue, "t0", 3.0, urgency=BACKGROUND)
    push(queue, "now")
    shown = queue.snapshot(0.0)
    assert [(each.urgency.value, each.depth) for each in shown.classes] == [
        ("interactive", 1),
        ("batch", 0),
        ("background", TENANTS_SHOWN + 6),
    ]
    background = shown.classes[2]
    assert background.tenants_waiting == background.tenants_remembered == TENANTS_SHOWN + 5
    assert len(background.tenants) == TENANTS_SHOWN
    assert (background.tenants[0].tenant, background.tenants[0].depth, background.tenants[0].service) == ("t0", 2, 4.0)
    assert queue.try_take(can_never_start, 0.0) is None
    assert queue.snapshot(0.0).depth == TENANTS_SHOWN + 7


def test_a_class_comes_first_where_only_lesser_ones_wait() -> None:
    queue = queue_of()
    assert queue.comes_first(Urgency.BACKGROUND)
    batch = push(queue, "a", urgency=Urgency.BATCH)
    assert queue.comes_first(Urgency.INTERACTIVE)
    assert not queue.comes_first(Urgency.BATCH)
    assert not queue.comes_first(Urgency.BACKGROUND)
    push(queue, "b", urgency=Urgency.INTERACTIVE)
    assert queue.remove(batch)
    assert not queue.comes_first(Urgency.INTERACTIVE)
