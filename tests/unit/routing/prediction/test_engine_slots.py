"""Slots are found from gauges, and given up where they are disproved."""

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.routing.prediction.engine_slots import FORGOTTEN_S, FULL_READINGS, LATE_ANSWERS, EngineSlots
from tests.support.replica_states import ROUND, replica, replica_state


def found(*readings: tuple[int, int], kv_share: float | None = None) -> EngineSlots:
    slots = EngineSlots()
    for number, (running, waiting) in enumerate(readings):
        slots.learn(running, waiting, kv_share, float(number))
    return slots


def test_as_many_as_run_while_others_wait_again_and_again_are_all_it_has() -> None:
    assert found(*[(32, 5)] * FULL_READINGS).slots == 32


def test_one_reading_between_two_steps_says_nothing() -> None:
    assert found((5, 1), (9, 0), (7, 2), (6, 1)).slots is None


def test_quiet_readings_in_between_take_nothing_back() -> None:
    assert found((32, 5), (20, 0), (32, 1), (32, 9), (3, 0)).slots == 32


def test_what_waits_for_memory_says_nothing_of_slots() -> None:
    assert found(*[(7, 5)] * 10, kv_share=0.97).slots is None


def test_more_that_run_disprove_what_was_found() -> None:
    assert found(*[(8, 5)] * FULL_READINGS, (32, 0)).slots is None


def test_what_has_not_shown_for_a_while_is_forgotten() -> None:
    slots = found(*[(8, 5)] * FULL_READINGS)
    slots.learn(4, 0, None, FULL_READINGS + FORGOTTEN_S + 1.0)
    assert slots.slots is None


def test_answers_that_are_late_where_most_decode_show_the_slots_before_any_gauge() -> None:
    slots = found()
    for decoding in range(1, 9):
        slots.on_full(decoding, 1.0, 1.0)
    assert (slots.most, slots.slots) == (8, None)
    for _ in range(int(LATE_ANSWERS)):
        slots.on_full(8, 2.0, 2.0)
    assert slots.slots == 8
    slots.on_full(9, 1.0, 3.0)
    assert slots.slots is None, "it has one more"


def test_answers_that_are_mostly_in_time_there_show_nothing() -> None:
    slots = found()
    for _ in range(100):
        slots.on_full(1, 2.0, 1.0)
        for _ in range(3):
            slots.on_full(1, 1.0, 1.0)
    assert slots.slots is None


def test_a_replica_without_a_limit_of_its_own_has_the_slots_that_its_pool_was_seen_to_have() -> None:
    one = replica_state()
    assert one.slots == ROUND.slots
    for number in range(FULL_READINGS):
        load = EngineLoad(running=8, waiting=4)
        one.publish(replica("a", load=load, load_at_s=float(number)), float(number))
    assert one.slots == 8
    assert one.speed.snapshot().slots == 8
    one.publish(replica("a", in_flight_max=4), 10.0)
    assert one.slots == 4
