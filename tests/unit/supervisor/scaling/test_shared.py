"""The autoscalers of several gateways over one scripted driver: all see the demand of all, and one acts."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from heterodyne.console.scaling.pages import StepRow
from heterodyne.planning.scaling.action import ActionKind
from heterodyne.supervisor.gateways.gateway_watch import MISSED_S, GatewayWatch
from heterodyne.supervisor.scaling.autoscaler import Autoscaler
from heterodyne.supervisor.scaling.memory import ScalingMemory
from heterodyne.supervisor.scaling.shared import SharedScaling
from tests.support.driven_fleets import CHAT, MODEL, DrivenBench
from tests.support.report_stores import MemoryReports

TURN_S = 1.0
LOOK_TURNS = 10
DRAIN_S = 600.0


class Gateways:
    """Some of them, with one driver, one store and a clock that the test moves."""

    def __init__(self, folder: Path, count: int = 3, *, first: int = 1) -> None:
        self.benches = [DrivenBench(first=first)]
        self.driver = self.benches[0].driver
        self.benches += [DrivenBench(driver=self.driver) for _ in range(count - 1)]
        self.store = MemoryReports(self.now)
        self.leads: int | None = 0  # whose lease it is
        self.dead: set[int] = set()
        self.shared: list[SharedScaling] = []
        self.scalers: list[Autoscaler] = []
        self.watches: list[GatewayWatch] = []
        for number, bench in enumerate(self.benches):
            memory = ScalingMemory(folder / f"{number}.msgpack")
            watch = GatewayWatch(self.store, sender=f"s{number}", clock=self.now)
            shared = SharedScaling(
                bench.fleet,
                memory,
                name=f"gateway-{number}",
                fence=lambda number=number: self.fence(number),  # type: ignore[misc]
                watch=watch,
                wall_clock=self.now,
            )
            self.watches.append(watch)
            self.shared.append(shared)
            self.scalers.append(
                Autoscaler(lambda bench=bench: bench.settings, bench.fleet, memory, shared, wall_clock=self.now)  # type: ignore[misc]
            )
        self._turn = 0

    def now(self) -> float:
        return self.benches[0].now_s

    def fence(self, number: int) -> int | None:
        return number + 1 if self.leads == number else None

    async def pass_time(self, seconds: float, rates: Sequence[float]) -> None:
        """Requests of the usual length come to each at its rate."""
        for _ in range(round(seconds / TURN_S)):
            self._turn += 1
            for bench in self.benches:
                bench.now_s += TURN_S
            living = [number for number in range(len(self.benches)) if number not in self.dead]
            for number in living:
                await self.watches[number].turn()
            for number in living:
                bench = self.benches[number]
                self.shared[number].follow(DRAIN_S)
                await bench.driven.follow()
                if self._turn % LOOK_TURNS == 0:
                    bench.workers.came(round(rates[number] * LOOK_TURNS), prompt_tokens=512, output_tokens=256)
                    await self.scalers[number].look(bench.now_s)

    def steps(self, number: int, kind: ActionKind) -> list[StepRow]:
        """The earliest first."""
        rows = reversed(self.scalers[number].page(None, 500).decisions)
        return [step for one in rows for step in one.steps if step.kind is kind]


async def test_the_demand_of_all_gateways_counts_and_the_one_that_leads_acts(tmp_path: Path) -> None:
    gateways = Gateways(tmp_path)
    await gateways.pass_time(120, (0.1, 0.1, 0.1))
    assert not gateways.driver.asked
    await gateways.pass_time(300, (0.8, 0.8, 0.9))
    assert gateways.driver.asked[-1].count >= 3, "0.8 alone would need one"
    assert all(not step.outcome for step in gateways.steps(0, ActionKind.ADD))
    followed = [step for number in (1, 2) for step in gateways.steps(number, ActionKind.ADD)]
    assert all(step.outcome == "gateway-0 leads, and acts for all gateways" for step in followed)
    assert {scaler.page(None, 1).leader for scaler in gateways.scalers} == {"gateway-0"}
    needs = [scaler.page(None, 1).models[0].needed for scaler in gateways.scalers]
    assert max(needs) == pytest.approx(min(needs), rel=0.05), "each sees the same demand"
    await gateways.pass_time(1800, (0.1, 0.1, 0.1))
    assert gateways.driver.asked[-1].count == 1
    assert all(len(bench.takeable) == 1 for bench in gateways.benches)


async def test_another_goes_on_where_the_leader_ended_and_asks_for_nothing_twice(tmp_path: Path) -> None:
    gateways = Gateways(tmp_path)
    await gateways.pass_time(120, (0.1, 0.1, 0.1))
    await gateways.pass_time(120, (0.8, 0.8, 0.9))
    asked = len(gateways.driver.asked)
    count = gateways.driver.asked[-1].count
    gateways.leads = None
    gateways.dead.add(0)
    await gateways.pass_time(10, (0.0, 1.2, 1.3))
    gateways.leads = 1
    await gateways.pass_time(120, (0.0, 1.2, 1.3))
    assert all(one.count > count for one in gateways.driver.asked[asked:]), "what was asked for is known"
    await gateways.pass_time(120, (0.0, 2.0, 2.0))
    assert gateways.driver.asked[-1].count > count
    assert [scaler.page(None, 1).leader for scaler in gateways.scalers[1:]] == ["gateway-1", "gateway-1"]


async def test_nobody_acts_while_it_is_not_known_what_the_others_see_and_nothing_that_came_is_lost(
    tmp_path: Path,
) -> None:
    gateways = Gateways(tmp_path)
    await gateways.pass_time(300, (0.6, 0.6, 0.6))
    asked = len(gateways.driver.asked)
    gateways.store.is_away = True
    await gateways.pass_time(900, (0.6, 0.6, 0.6))
    assert len(gateways.driver.asked) == asked, "its own third of the demand would need fewer"
    assert "stores.fleet_url has not answered" in gateways.scalers[0].page(None, 1).apart
    gateways.store.is_away = False
    await gateways.pass_time(300, (0.6, 0.6, 0.6))
    assert len(gateways.driver.asked) == asked, "what came meanwhile was as before"
    assert not gateways.scalers[0].page(None, 1).apart


async def test_nobody_acts_while_nobody_is_known_to_lead(tmp_path: Path) -> None:
    gateways = Gateways(tmp_path)
    gateways.leads = None
    await gateways.pass_time(300, (0.8, 0.8, 0.9))
    assert not gateways.driver.asked
    assert "no gateway leads" in gateways.steps(0, ActionKind.ADD)[-1].outcome
    gateways.leads = 2
    await gateways.pass_time(30, (0.8, 0.8, 0.9))
    assert gateways.driver.asked


async def test_a_replica_is_ended_when_no_gateway_has_anything_on_it(tmp_path: Path) -> None:
    gateways = Gateways(tmp_path, first=3)
    other = gateways.benches[1]
    other.workers.in_flight = {f"chat-{number}": 1 for number in range(3)}
    await gateways.pass_time(1200, (0.1, 0.1, 0.1))
    (leaving,) = gateways.steps(0, ActionKind.DRAIN)
    assert not leaving.outcome
    assert [len(bench.takeable) for bench in gateways.benches] == [1, 1, 1], "none of them sends it anything new"
    assert not gateways.driver.asked, "one of them still answers"
    other.workers.in_flight = dict.fromkeys(other.takeable, 1)
    await gateways.pass_time(5, (0.1, 0.1, 0.1))
    assert set(gateways.driver.asked[-1].leaving) == set(leaving.replicas)


async def test_what_the_leader_was_draining_takes_work_again_where_nobody_leads(tmp_path: Path) -> None:
    gateways = Gateways(tmp_path, first=3)
    gateways.benches[1].workers.in_flight = {f"chat-{number}": 1 for number in range(3)}
    await gateways.pass_time(1200, (0.1, 0.1, 0.1))
    gateways.leads = None
    await gateways.pass_time(5, (0.1, 0.1, 0.1))
    assert [len(bench.takeable) for bench in gateways.benches] == [3, 3, 3]
    assert not gateways.driver.asked


async def test_nothing_is_drained_while_a_gateway_is_silent_that_may_serve(tmp_path: Path) -> None:
    gateways = Gateways(tmp_path, 2, first=3)
    await gateways.pass_time(300, (1.0, 1.0))
    gateways.dead.add(1)
    gateways.benches[0].workers.in_flight = {}
    for _ in range(3):
        await gateways.pass_time(MISSED_S / 4, (0.1, 0.0))
        assert not gateways.steps(0, ActionKind.DRAIN) or gateways.steps(0, ActionKind.DRAIN)[-1].outcome
    await gateways.pass_time(1500, (0.1, 0.0))
    assert gateways.driver.asked[-1].count == 1


async def test_an_operator_pauses_at_any_gateway_and_the_last_word_holds_at_all(tmp_path: Path) -> None:
    gateways = Gateways(tmp_path)
    await gateways.pass_time(20, (0.1, 0.1, 0.1))
    assert gateways.scalers[2].pause(None, is_paused=True).paused == (MODEL,)
    await gateways.pass_time(300, (0.8, 0.8, 0.9))
    assert not gateways.driver.asked
    assert gateways.steps(0, ActionKind.ADD)[-1].outcome == "an operator has paused it"
    assert gateways.scalers[1].pause(MODEL, is_paused=False).paused == ()
    await gateways.pass_time(30, (0.8, 0.8, 0.9))
    assert gateways.driver.asked[-1].pool == CHAT


async def test_an_operator_is_heeded_whatever_the_clock_of_another_machine_said(tmp_path: Path) -> None:
    gateways = Gateways(tmp_path, 2)
    gateways.benches[0].now_s += 1e6
    gateways.scalers[0].pause(None, is_paused=True)
    gateways.benches[0].now_s -= 1e6
    await gateways.pass_time(3, (0.1, 0.1))
    assert gateways.scalers[1].pause(None, is_paused=False).paused == ()
    await gateways.pass_time(12, (0.1, 0.1))
    assert not gateways.scalers[0].page(None, 1).models[0].is_paused


async def test_a_request_that_is_held_at_a_follower_wakes_the_leader(tmp_path: Path) -> None:
    gateways = Gateways(tmp_path, 2)
    await gateways.pass_time(5, (0.0, 0.0))
    workers = gateways.benches[1].workers
    workers.demand = workers.demand.__class__(queued=1, held=1)
    assert not gateways.shared[0].held_models()
    await gateways.pass_time(2, (0.0, 0.0))
    assert gateways.shared[0].held_models() == {MODEL}
