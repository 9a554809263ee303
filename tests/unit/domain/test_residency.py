"""Words may rest where every region of a place is allowed, and are computed where their KV may rest, too."""

import pytest

from heterodyne.domain.residency import may_answer, may_rest
from tests.support.replica_states import replica

EU = frozenset(("eu",))


@pytest.mark.parametrize(
    ("allowed", "regions", "expected"),
    [
        (None, ("us",), True),
        (EU, (), True),
        (EU, ("eu",), True),
        (EU, ("us",), False),
        (EU, ("eu", "us"), False),
        (frozenset(("eu", "us")), ("us",), True),
        (frozenset[str](), ("eu",), False),
    ],
)
def test_every_region_of_a_place_has_to_be_allowed(
    allowed: frozenset[str] | None, regions: tuple[str, ...], expected: bool
) -> None:
    assert may_rest(allowed, regions) is expected


@pytest.mark.parametrize(
    ("region", "store", "expected"),
    [("eu", (), True), ("eu", ("eu",), True), ("eu", ("us",), False), ("us", (), False), (None, (), False)],
)
def test_a_replica_is_there_itself_and_so_is_its_store(
    region: str | None, store: tuple[str, ...], expected: bool
) -> None:
    assert may_answer(EU, replica("r", region=region, kv_store_regions=store)) is expected
