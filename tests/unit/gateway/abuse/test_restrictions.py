"""Keys that have to wait or are refused: how long, how often, and told what."""

import pytest

from heterodyne.domain.errors import KeyBlocked, SlowedDown
from heterodyne.domain.key_restriction import AbuseAction, KeyRestriction
from heterodyne.gateway.abuse.restrictions import KeyRestrictions


class World:
    """Restrictions whose time is the test's."""

    def __init__(self, action: AbuseAction, *, per_minute: int = 0, workers: int = 1) -> None:
        self.now_s = 0.0
        self._held = KeyRestriction(
            key="k", action=action, policy="p", until_at=1_000_600.0, requests_per_minute=per_minute
        )
        self._workers = workers
        self.restrictions = self.another(None)

    def another(self, before: KeyRestrictions | None) -> KeyRestrictions:
        return KeyRestrictions(
            [self._held],
            workers=self._workers,
            clock=lambda: self.now_s,
            wall_clock=lambda: 1_000_000.0 + self.now_s,
            before=before,
        )

    def passes(self, key: str = "k") -> bool:
        try:
            self.restrictions.check(key)
        except SlowedDown:
            return False
        return True


def test_a_blocked_key_is_refused_until_its_time_and_told_so() -> None:
    world = World("block")
    with pytest.raises(KeyBlocked, match="blocked until 1970-01-12 13:56:40 UTC") as refused:
        world.restrictions.check("k")
    assert (refused.value.status, refused.value.retry_after_s) == (403, 600)
    world.restrictions.check("another")
    world.now_s = 600.0
    world.restrictions.check("k")


def test_a_key_that_is_slowed_down_passes_once_in_its_time() -> None:
    world = World("slow_down", per_minute=6)
    passed = []
    for second in range(60):
        world.now_s = float(second)
        if world.passes():
            passed.append(second)
    assert passed == [0, 10, 20, 30, 40, 50]


def test_each_worker_lets_its_part_pass() -> None:
    world = World("slow_down", per_minute=6, workers=3)
    world.restrictions.check("k")
    with pytest.raises(SlowedDown, match="one request in 30 s") as refused:
        world.restrictions.check("k")
    assert (refused.value.status, refused.value.retry_after_s) == (429, 30)


def test_who_has_to_wait_waits_on_when_other_restrictions_come() -> None:
    world = World("slow_down", per_minute=1)
    assert world.passes()
    world.restrictions = world.another(world.restrictions)
    assert not world.passes()


def test_a_key_that_is_only_told_of_passes() -> None:
    world = World("alert")
    assert all(world.passes() for _ in range(10))
