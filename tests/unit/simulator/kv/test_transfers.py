"""Transfers share the ports at both ends."""

from math import inf

import pytest

from heterodyne.simulator.kv.transfers import Port, Transfers


def ends(transfers: Transfers) -> list[tuple[float, object]]:
    """When each came in whole, and its word."""
    ended = []
    while transfers.next_at_s < inf:
        now_s = transfers.next_at_s
        ended += [(now_s, one.word) for one in transfers.take_ended(now_s)]
    return ended


def test_one_alone_takes_its_bytes_over_the_slower_end_and_the_latency() -> None:
    transfers = Transfers()
    transfers.start(Port(100.0, latency_s=0.5), Port(50.0), 200.0, "one", 1.0)
    assert ends(transfers) == [(pytest.approx(5.5), "one")]


def test_two_through_one_port_each_get_half_of_it_while_both_last() -> None:
    transfers = Transfers()
    card = Port(100.0)
    transfers.start(card, Port(1000.0), 100.0, "short", 0.0)
    transfers.start(card, Port(1000.0), 200.0, "long", 0.0)
    assert ends(transfers) == [(pytest.approx(2.0), "short"), (pytest.approx(3.0), "long")]


def test_transfers_with_no_port_in_common_do_not_slow_each_other() -> None:
    transfers = Transfers()
    for word in ("one", "other"):
        transfers.start(Port(100.0), Port(100.0), 100.0, word, 0.0)
    assert [at_s for at_s, _ in ends(transfers)] == [pytest.approx(1.0), pytest.approx(1.0)]


def test_a_cancelled_one_leaves_its_share_to_the_others() -> None:
    transfers = Transfers()
    card = Port(100.0)
    first = transfers.start(card, Port(inf), 1000.0, "first", 0.0)
    transfers.start(card, Port(inf), 100.0, "second", 0.0)
    transfers.cancel(first, 1.0)
    assert ends(transfers) == [(pytest.approx(1.5), "second")]
    assert (len(transfers), card.busy) == (0, 0)


def test_a_throttled_port_takes_so_many_times_as_long_from_then_on() -> None:
    transfers = Transfers()
    card = Port(100.0)
    transfers.start(card, Port(inf), 100.0, "one", 0.0)
    transfers.change_speeds(0.5)
    card.throttle(100.0)
    transfers.change_speeds(0.5)
    assert ends(transfers) == [(pytest.approx(50.5), "one")]


def test_through_a_dead_port_nothing_ever_comes() -> None:
    transfers = Transfers()
    card = Port(100.0)
    card.throttle(inf)
    stuck = transfers.start(card, Port(100.0), 100.0, "one", 0.0)
    assert transfers.next_at_s == inf
    transfers.cancel(stuck, 3.0)
    assert len(transfers) == 0
