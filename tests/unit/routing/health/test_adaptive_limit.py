"""How many requests a replica may hold, by how late its first tokens come."""

from heterodyne.routing.health.adaptive_limit import AdaptiveLimit


def limit(initial: int = 64) -> AdaptiveLimit:
    return AdaptiveLimit(
        initial=initial,
        lowest=4,
        highest=256,
        tolerance=1.5,
        queue=4,
        smoothing=0.2,
        samples=600,
        pause_s=0.25,
        pause_max_s=5.0,
    )


def feed(made: AdaptiveLimit, ratio: float, times: int, in_flight: int | None = None) -> None:
    for _ in range(times):
        made.on_sample(ratio, made.limit if in_flight is None else in_flight)


def known() -> AdaptiveLimit:
    made = limit()
    made.on_sample(1.0, 1)
    return made


def test_nothing_is_held_back_from_a_replica_nobody_knows() -> None:
    assert limit().limit == 256


def test_learning_starts_where_it_is_told_but_never_below_what_already_runs() -> None:
    fresh, busy = limit(), limit()
    fresh.on_sample(1.0, 3)
    busy.on_sample(1.0, 100)
    assert (fresh.limit, busy.limit) == (64, 100)


def test_steady_latency_lets_it_grow() -> None:
    made = known()
    feed(made, 1.0, 110)
    assert 140 <= made.limit <= 150  # four fifths of a request for each sample after the first ten


def test_a_replica_with_little_to_do_keeps_its_limit() -> None:
    made = limit()
    feed(made, 1.0, 100, in_flight=31)
    feed(made, 9.0, 100, in_flight=31)
    assert made.limit == 64


def test_late_first_tokens_bring_it_down() -> None:
    made = known()
    feed(made, 1.0, 50)
    feed(made, 5.0, 40)
    assert made.limit <= 20


def test_one_late_first_token_does_not() -> None:
    made = known()
    feed(made, 1.0, 50)
    before = made.limit
    feed(made, 3.0, 1)
    assert made.limit >= before


def test_it_comes_back_after_an_overload() -> None:
    made = known()
    feed(made, 1.0, 50)
    feed(made, 8.0, 300)
    low = made.limit
    feed(made, 1.0, 300)
    assert low < 64 < made.limit


def test_a_prediction_that_is_wrong_by_a_constant_is_learned() -> None:
    made = limit()
    made.on_sample(4.0, 1)
    feed(made, 4.0, 300)
    assert made.limit > 200


def test_a_refusal_lowers_it_and_pauses_longer_each_time() -> None:
    made = known()
    pauses_s = []
    for _ in range(7):
        made.on_refused(0.0)
        pauses_s.append(made._paused_until_s)
    assert pauses_s == [0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0]
    assert made.limit == 30
    made.advance(4.9)
    assert made.is_paused
    made.advance(5.0)
    assert not made.is_paused


def test_a_refusal_from_a_replica_nobody_knows_only_pauses() -> None:
    made = limit()
    made.on_refused(0.0)
    assert (made.is_paused, made.limit) == (True, 256)


def test_an_answer_ends_the_pause() -> None:
    made = limit()
    made.on_refused(0.0)
    made.on_refused(0.0)
    made.on_taken()
    assert not made.is_paused
    made.on_refused(1.0)
    made.advance(1.25)
    assert not made.is_paused


def test_a_second_overload_is_noticed_soon_after_a_long_one() -> None:
    made = known()
    feed(made, 8.0, 3000)
    feed(made, 1.0, 60)
    before = made.limit
    feed(made, 6.0, 30)
    assert made.limit < before / 2
