"""Links are measured: slow ones are left to others, broken ones alone, and neither for ever."""

import pytest

from heterodyne.routing.kv.links import PAUSE_S, KvLink, KvLinks

GIGABYTE = 1e9


def taught(took_s: float, times: int = 10, byte_count: float = GIGABYTE) -> KvLink:
    link = KvLink(0.01, 1e-9)
    for number in range(times):
        link.hear(byte_count, took_s, float(number))
    return link


def test_a_link_begins_as_it_is_thought_to_be() -> None:
    assert KvLink(0.01, 1e-9).takes_s(GIGABYTE, 0.0) == pytest.approx(1.01)


@pytest.mark.parametrize("took_s", [0.1, 0.5, 2.0, 30.0])
def test_a_link_is_soon_known_for_what_it_is(took_s: float) -> None:
    assert taught(took_s).takes_s(GIGABYTE, 10.0) == pytest.approx(took_s, rel=0.15)


def test_short_transfers_teach_the_latency_and_long_ones_the_speed() -> None:
    link = KvLink(0.01, 1e-9)
    for number in range(60):
        link.hear(1e6, 0.1 + 1e6 * 4e-9, float(number))
        link.hear(4e9, 0.1 + 4e9 * 4e-9, float(number))
    assert link.takes_s(1e6, 60.0) == pytest.approx(0.104, rel=0.2)
    assert link.takes_s(4e9, 60.0) == pytest.approx(16.1, rel=0.2)


def test_waiting_behind_others_makes_no_link_slow() -> None:
    link = KvLink(0.01, 1e-9)
    for number in range(10):
        link.hear(GIGABYTE, 3.01, float(number), queued_s=2.0)
    assert link.takes_s(GIGABYTE, 10.0) == pytest.approx(1.01, rel=0.05)


def test_a_slow_link_is_tried_again_one_day() -> None:
    link = taught(100.0)
    assert link.takes_s(GIGABYTE, 60.0) > 20.0
    assert link.takes_s(GIGABYTE, 3600.0) < 2.0


def test_a_link_that_fails_is_left_alone_for_longer_each_time() -> None:
    link = KvLink(0.01, 1e-9)
    pauses = []
    for _ in range(8):
        link.hear_failure(100.0)
        pauses.append(link.paused_until_s - 100.0)
    assert pauses[:3] == [PAUSE_S, 2 * PAUSE_S, 4 * PAUSE_S]
    assert pauses[-1] == 60.0
    link.hear(GIGABYTE, 1.0, 161.0)
    assert link.paused_until_s == 0.0


def test_failures_are_expected_again_and_forgotten() -> None:
    link = KvLink(0.01, 1e-9)
    before = link.failing(0.0)
    link.hear_failure(0.0)
    assert before < 0.02
    assert link.failing(0.0) > 0.15
    assert link.failing(600.0) == pytest.approx(before, rel=0.2)


def test_what_is_not_known_of_a_link_must_be_made_up_for() -> None:
    assert KvLink(0.01, 1e-9).margin() > 0.3
    assert 0.1 < taught(1.0).margin() < 0.2


def test_links_are_bounded_and_those_to_pools_that_are_gone_forgotten() -> None:
    links = KvLinks(lambda _, __: (0.01, 1e-9))
    for number in range(5000):
        links.link("a", str(number))
    assert len(links.snapshot()) <= 4096
    links.forget({"4999"})
    assert list(links.snapshot()) == [("a", "4999")]


def test_each_direction_is_a_link_of_its_own() -> None:
    links = KvLinks(lambda _, __: (0.0, 1e-9))
    links.hear("a", "b", GIGABYTE, 9.0, 1.0)
    links.hear_failure("a", "b", 1.0)
    assert links.link("b", "a").takes_s(GIGABYTE, 1.0) == pytest.approx(1.0)
    assert links.link("b", "a").paused_until_s == 0.0
