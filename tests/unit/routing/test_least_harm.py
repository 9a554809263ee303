"""Where a request goes when nobody keeps its promise."""

from heterodyne.routing.forecast import forecast_on
from heterodyne.routing.kv.prefix_matches import NOTHING_CACHED, prefix_matches
from heterodyne.routing.least_harm import LOOKED_AT_MAX
from heterodyne.routing.policies.slo import SloObjective
from heterodyne.routing.predictive import best_of, choose
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest
from tests.support.replica_states import changed, replica_state, routing_request, send


def least_harm(
    request: RoutingRequest,
    pools: list[list[ReplicaState]],
    cached: dict[int, float],
    now_s: float,
    chance: float = 0.0,
) -> Forecast:
    known = prefix_matches(cached)
    return choose(request, pools, known, SloObjective(), now_s=now_s, chance=lambda: chance).forecast


def late(one: ReplicaState, prompts: int) -> ReplicaState:
    for _ in range(prompts):
        send(one, routing_request(1000))
    return one


def test_one_that_is_late_anyway_goes_where_it_is_late_already() -> None:
    hopeless, in_time = late(replica_state("hopeless"), 40), late(replica_state("in time", 1), 8)
    long = routing_request(5000, ttft_slo_s=1.0)
    assert forecast_on(in_time, long, 0.0, 0.0).ttft_s < forecast_on(hopeless, long, 0.0, 0.0).ttft_s
    assert least_harm(long, [[in_time], [hopeless]], {}, 0.0).state is hopeless


def test_of_those_that_do_as_much_harm_the_soonest() -> None:
    sooner, later = late(replica_state("sooner"), 1), late(replica_state("later", 1), 2)
    assert least_harm(routing_request(ttft_slo_s=0.001), [[later, sooner]], {}, 0.0).state is sooner


def test_every_replica_of_every_pool_is_looked_at() -> None:
    replica_states = [late(replica_state(str(number), number), 9 - number) for number in range(9)]
    tight = routing_request(1000, ttft_slo_s=0.2)
    assert least_harm(tight, [replica_states[:4], replica_states[4:]], {}, 0.0).state is replica_states[8]


def test_what_a_replica_has_in_memory_counts() -> None:
    cold, warm = replica_state("cold"), replica_state("warm", 1)
    assert least_harm(routing_request(ttft_slo_s=0.08), [[cold, warm]], {1: 900.0}, 0.0).state is warm


def test_small_steps_of_harm_do_not_add_up() -> None:
    request = routing_request(ttft_slo_s=1.0)
    forecasts = []
    for number in range(LOOKED_AT_MAX):
        risk = (600 + 15 * number) / 1000  # 0.600, 0.615, … each a little sooner than the one before
        forecast = forecast_on(replica_state(place=number), request, 0.0, 0.0)
        forecasts.append(changed(forecast, risk=risk, ttft_s=10.0 - risk))
    best, _ = best_of(request, forecasts, SloObjective())
    assert best.risk < 0.65


def test_of_a_large_fleet_a_sample_is_looked_at() -> None:
    replica_states = [late(replica_state(str(number), number), 1) for number in range(200)]
    tight = routing_request(1000, ttft_slo_s=0.01)
    seen = {least_harm(tight, [replica_states], {}, 0.0, number / 50).state.place for number in range(50)}
    assert len(seen) > 5, "another sample every time"
    choice = choose(tight, [replica_states], NOTHING_CACHED, SloObjective(), now_s=0.0, chance=lambda: 0.3)
    assert len(choice.others) == LOOKED_AT_MAX
