"""Kept answers that an operator drops: what is written down, for how long, and whom it reaches."""

import pytest

from heterodyne.caching.settings import CacheSettings
from heterodyne.config.settings import Settings
from heterodyne.console.policies.forms import DropForm
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.errors import InvalidField, UnknownName
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.supervisor.policies.drops import CacheDropper

SETTINGS = Settings(
    pools={"one": PoolSettings(model="large", urls=("http://127.0.0.1:1",))},
    models={"large": ModelSettings(aliases=("smart",))},
    caches={"kept": CacheSettings(ttl_s=7200.0)},
)


class Gateway:
    """One of several with one database."""

    def __init__(self, stored: dict[CacheDrop, float]) -> None:
        self.stored, self.now, self.is_applied = stored, 100.0, True
        self.published: list[tuple[CacheDrop, ...]] = []
        self.dropper = CacheDropper(self, self._publish, lambda: SETTINGS, (), wall_clock=lambda: self.now)

    async def _publish(self, drops: tuple[CacheDrop, ...]) -> bool:
        self.published.append(drops)
        return self.is_applied

    async def add_drop(self, drop: CacheDrop, until_at: float) -> None:
        self.stored[drop] = until_at

    async def drops(self, now: float) -> tuple[CacheDrop, ...]:
        return tuple(drop for drop, until_at in self.stored.items() if until_at > now)


async def test_a_drop_reaches_the_workers_here_at_once_and_those_of_other_gateways_soon() -> None:
    stored: dict[CacheDrop, float] = {}
    here, there = Gateway(stored), Gateway(stored)
    done = await here.dropper.drop(DropForm(tag="faq", model="smart"))
    expected = CacheDrop(at=100.0, tag="faq", model="large")
    assert (done.drop, done.is_applied, stored) == (expected, True, {expected: 7300.0})
    assert here.published == [(expected,)]
    await there.dropper.follow()
    await there.dropper.follow()
    assert there.published == [(expected,)]


async def test_a_drop_that_can_matter_no_more_is_forgotten() -> None:
    here = Gateway({})
    await here.dropper.drop(DropForm(all=True))
    here.now = 7301.0
    await here.dropper.follow()
    assert here.published == [(CacheDrop(at=100.0),), ()]


async def test_workers_that_have_not_taken_it_are_told_again() -> None:
    here = Gateway({})
    here.is_applied = False
    assert not (await here.dropper.drop(DropForm(project="acme/a"))).is_applied
    here.is_applied = True
    assert await here.dropper.follow()
    assert len(here.published) == 2


async def test_a_model_that_nobody_serves_is_refused() -> None:
    here = Gateway({})
    with pytest.raises(UnknownName, match="did you mean"):
        await here.dropper.drop(DropForm(model="larg"))
    assert here.stored == {}


@pytest.mark.parametrize("wrong", [{}, {"all": True, "tag": "a"}, {"tag": "a,b"}, {"project": "x" * 300}])
def test_a_form_names_something_or_says_that_it_means_everything(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidField):
        DropForm(**wrong)  # type: ignore[arg-type]
