"""How much room there is, from the books and the performance model."""

import pytest
from msgspec import structs

from heterodyne.assembly.console import PLAN_MODULE
from heterodyne.config.settings import Settings
from heterodyne.console.capacity.pages import ModelRoom
from heterodyne.console.fleet.pages import FleetPage
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.supervisor.services.capacity import estimator
from heterodyne.supervisor.services.capacity.estimator import CapacityEstimator
from tests.support.inline_books import InlineBooks
from tests.support.service_fleets import FAST, MODEL, NOBODY_KNOWS, page, requests, settings

NOW = 1_793_534_430.0  # half a minute after noon
HOUR_S = 3600.0


def make_estimator(books: InlineBooks, said: Settings, fleet: FleetPage) -> CapacityEstimator:
    return CapacityEstimator(books, lambda: said, lambda: fleet, child=PLAN_MODULE, clock=lambda: NOW)


async def model_of(books: InlineBooks, said: Settings, fleet: FleetPage) -> ModelRoom:
    [model] = (await make_estimator(books, said, fleet).capacity()).models
    books.close()
    return model


async def books_with(each_s: float = 1.0, hours: float = 2.0, **fields: object) -> InlineBooks:
    books = InlineBooks()
    await books.add(list(requests(NOW - hours * HOUR_S, NOW, each_s=each_s, **fields)))
    return books


async def test_load_is_demand_over_the_room_of_replicas_that_take_work() -> None:
    model = await model_of(await books_with(), settings(), page(fast=2))
    assert model.model == MODEL
    assert model.requests_per_s == pytest.approx(1.0, rel=0.01)
    assert (model.prompt_tokens_mean, model.completion_tokens_mean) == (1000, 200)
    [pool] = model.pools
    assert (pool.pool, pool.hardware, pool.replicas) == ("fast", "h100-sxm", 2)
    assert pool.requests_per_s_max is not None
    assert model.load == pytest.approx(model.requests_per_s / pool.requests_per_s_max)
    assert model.headroom_requests_per_s == pytest.approx(pool.requests_per_s_max - model.requests_per_s)
    assert "within 500 ms and 50 ms a token" in pool.basis
    half = await model_of(await books_with(), settings(), page(fast=1))
    assert half.load == pytest.approx(2 * model.load)


async def test_refused_requests_are_demand_too() -> None:
    books = await books_with()
    refused = requests(NOW - HOUR_S, NOW, pool="", replica="", reason="queue_full", status=503, prompt_tokens=0)
    await books.add([structs.replace(one, completion_tokens=0) for one in refused])
    model = await model_of(books, settings(), page(fast=2))
    assert model.requests_per_s == pytest.approx(2.0, rel=0.01)
    assert model.prompt_tokens_mean == 1000, "but nobody knows how long they were"


async def test_with_one_replica_lost_the_other_has_its_load() -> None:
    model = await model_of(await books_with(), settings(), page(fast=2))
    assert model.loss is not None
    assert (model.loss.replica, model.loss.pool, model.loss.is_enough) == ("fast-0", "fast", True)
    assert model.loss.load_after == pytest.approx(2 * (model.load or 0.0))
    alone = await model_of(await books_with(), settings(), page(fast=1))
    assert alone.loss is None


async def test_the_forecast_is_of_the_next_six_hours_and_says_what_it_rests_on() -> None:
    model = await model_of(await books_with(hours=5), settings(), page(fast=2))
    assert len(model.forecast) == 36
    assert 0 <= model.forecast[0].at - NOW + 600 < 600
    assert [one.requests_per_s for one in model.forecast] == pytest.approx([1.0] * 36, rel=0.02)
    assert "hours of history" in model.forecast_basis
    assert model.full_at is None


async def test_of_two_days_the_usual_time_of_day_is_taken() -> None:
    model = await model_of(await books_with(each_s=30, hours=50), settings(), page(fast=2))
    assert model.forecast_basis.startswith("demand now and the usual of the same time over 2.1 days")


async def test_demand_over_the_room_is_full_at_once_and_the_planner_rents_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimator, "PURCHASE_DEADLINE_S", 60.0)  # a busy machine takes its time
    monkeypatch.setattr(estimator, "PURCHASES_DEADLINE_S", 60.0)
    model = await model_of(await books_with(each_s=0.02, hours=0.1), settings(fast=FAST), page(fast=1))
    assert model.load is not None
    assert model.load > 1
    assert model.full_at == model.forecast[0].at
    assert model.purchase, model.purchase_note
    assert all(one.replicas >= 1 and one.usd_per_hour for one in model.purchase)
    assert "high end of the forecast" in model.purchase_note


async def test_where_there_is_enough_nothing_is_rented() -> None:
    model = await model_of(await books_with(), settings(), page(fast=4))
    assert model.purchase == ()
    assert model.purchase_note.startswith("What there is carries")


async def test_a_pool_nobody_knows_has_no_load_and_takes_none_of_the_others() -> None:
    books = await books_with()
    await books.add(list(requests(NOW - HOUR_S, NOW, pool="other", replica="other-0")))
    said = settings(fast=FAST, other=NOBODY_KNOWS)
    model = await model_of(books, said, page(fast=2, other=1))
    fast, other = model.pools
    assert (other.requests_per_s_max, other.load) == (None, None)
    assert other.basis == "not known: pools.other names no hardware"
    assert model.requests_per_s == pytest.approx(2.0, rel=0.01)
    assert model.load == pytest.approx(1.0 / (fast.requests_per_s_max or 1.0), rel=0.01)


async def test_where_no_pool_is_known_nothing_is_invented() -> None:
    model = await model_of(await books_with(), settings(other=NOBODY_KNOWS), page(other=2))
    assert (model.load, model.headroom_requests_per_s, model.full_at) == (None, None, None)
    assert model.loss is not None
    assert (model.loss.load_after, model.loss.is_enough) == (None, None)
    assert model.purchase_note == "No pool of this model is known to the performance model."
    assert len(model.forecast) == 36, "demand is known all the same"


async def test_a_model_that_physics_does_not_know_says_so() -> None:
    pool = structs.replace(FAST, model="our-own")
    said = Settings(pools={"fast": pool})
    model = await model_of(await books_with(model="our-own"), said, page())
    assert 'no model "our-own"' in model.pools[0].basis


async def test_before_the_first_request_there_is_nothing_to_say() -> None:
    model = await model_of(InlineBooks(), settings(), page(fast=2))
    assert (model.requests_per_s, model.load, model.forecast) == (0.0, None, ())
    assert "nobody knows how long they are" in model.pools[0].basis


async def test_without_a_promise_the_strictest_usual_budget_that_is_kept_is_taken() -> None:
    said = structs.replace(settings(), models={MODEL: ModelSettings()})
    model = await model_of(await books_with(), said, page(fast=1))
    assert "within 500 ms and 50 ms a token" in model.pools[0].basis
    slow = structs.replace(said, pools={"fast": structs.replace(FAST, hardware="l4", precision="int8")})
    model = await model_of(await books_with(prompt_tokens=8000), slow, page(fast=1))
    assert "within 2000 ms and 200 ms a token" in model.pools[0].basis


async def test_an_answer_is_kept_for_all_who_ask_meanwhile() -> None:
    books = await books_with()
    estimator = make_estimator(books, settings(), page(fast=4))
    assert await estimator.capacity() is await estimator.capacity()
    books.close()
