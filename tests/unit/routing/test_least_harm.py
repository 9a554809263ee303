"""Where a request goes when nobody keeps its promise."""

from msgspec import structs

from heterodyne.routing.ask import Ask
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.least_harm import LOOKED_AT_MAX
from heterodyne.routing.policies.slo import Slo
from heterodyne.routing.predictive import choose
from heterodyne.routing.seat import Seat
from tests.support.seats import ROUND, ask, seat, send


def least_harm(
    asked: Ask, pools: list[list[Seat]], cached: dict[int, float], now_s: float, chance: float = 0.0
) -> Forecast:
    return choose(asked, pools, cached, Slo(), now_s=now_s, chance=lambda: chance).forecast


def late(one: Seat, prompts: int) -> Seat:
    for _ in range(prompts):
        send(one, ask(1000))
    return one


def test_one_that_is_late_anyway_goes_where_it_is_late_already() -> None:
    hopeless, in_time = late(seat("hopeless"), 40), late(seat("in time", 1), 8)
    long = ask(5000, ttft_slo_s=1.0)
    assert in_time.forecast(long, 0.0, 0.0).ttft_s < hopeless.forecast(long, 0.0, 0.0).ttft_s
    assert least_harm(long, [[in_time], [hopeless]], {}, 0.0).seat is hopeless


def test_of_those_that_do_as_much_harm_the_soonest() -> None:
    sooner, later = late(seat("sooner"), 1), late(seat("later", 1), 2)
    assert least_harm(ask(ttft_slo_s=0.001), [[later, sooner]], {}, 0.0).seat is sooner


def test_every_replica_of_every_pool_is_looked_at() -> None:
    seats = [late(seat(str(number), number), 9 - number) for number in range(9)]
    tight = ask(1000, ttft_slo_s=0.2)
    assert least_harm(tight, [seats[:4], seats[4:]], {}, 0.0).seat is seats[8]


def test_what_a_replica_has_in_memory_counts() -> None:
    cold, warm = seat("cold"), seat("warm", 1)
    assert least_harm(ask(ttft_slo_s=0.08), [[cold, warm]], {1: 900.0}, 0.0).seat is warm


class Fixed(Seat):
    """A seat whose forecast is what it is told."""

    def forecast(self, ask: Ask, cached_tokens: float, now_s: float, held_tokens: float = 0.0) -> Forecast:
        usual = super().forecast(ask, cached_tokens, now_s, held_tokens)
        return structs.replace(usual, risk=self.others / 1000, ttft_s=10.0 - self.others / 1000)


def test_small_steps_of_harm_do_not_add_up() -> None:
    seats = []
    for number in range(LOOKED_AT_MAX):
        one = Fixed(seat().replica, number, seat(prior=ROUND).speed, 0.0)
        one.others = 600 + 15 * number  # a risk of 0.600, 0.615, … each a little sooner than the one before
        seats.append(one)
    assert least_harm(ask(ttft_slo_s=1.0), [seats], {}, 0.0).risk < 0.65


def test_of_a_large_fleet_a_sample_is_looked_at() -> None:
    seats = [late(seat(str(number), number), 1) for number in range(200)]
    tight = ask(1000, ttft_slo_s=0.01)
    seen = {least_harm(tight, [seats], {}, 0.0, number / 50).seat.place for number in range(50)}
    assert len(seen) > 5, "another sample every time"
    assert len(choose(tight, [seats], {}, Slo(), now_s=0.0, chance=lambda: 0.3).others) == LOOKED_AT_MAX
