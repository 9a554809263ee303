"""What may be had, and what is wanted."""

from msgspec import structs

from heterodyne.planning.mix.limits import are_available, are_wanted, chips_of_stocks
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind, Stock, TrafficBucket

NARROW = ReplicaKind(name="narrow", usd_per_hour=1.0, requests_per_s={"a": 1.0}, stock="chip")
WIDE = ReplicaKind(name="wide", usd_per_hour=4.0, requests_per_s={"a": 5.0}, stock="chip", chips=4)
OTHER = ReplicaKind(name="other", usd_per_hour=2.0, requests_per_s={"a": 2.0})


def problem(*, stock: Stock, other: ReplicaKind = OTHER) -> MixProblem:
    return MixProblem(
        buckets=(TrafficBucket(name="a", requests_per_s=1.0),), kinds=(NARROW, WIDE, other), stocks=(stock,)
    )


def test_kinds_of_one_stock_share_its_chips() -> None:
    asked = problem(stock=Stock(name="chip", available=8))
    assert chips_of_stocks(asked, {"narrow": 3, "wide": 1, "other": 5}) == {"chip": 7}
    assert are_available(asked, {"narrow": 4, "wide": 1})
    assert not are_available(asked, {"narrow": 5, "wide": 1})


def test_a_kind_has_a_limit_of_its_own() -> None:
    asked = problem(stock=Stock(name="chip"), other=structs.replace(OTHER, available=2))
    assert are_available(asked, {"other": 2})
    assert not are_available(asked, {"other": 3})


def test_least_numbers_are_of_kinds_and_of_chips() -> None:
    asked = problem(stock=Stock(name="chip", minimum=4), other=structs.replace(OTHER, minimum=1))
    assert are_wanted(asked, {"wide": 1, "other": 1})
    assert not are_wanted(asked, {"wide": 1})
    assert not are_wanted(asked, {"narrow": 3, "other": 1})
