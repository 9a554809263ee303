"""The console's questions to the planner."""

import asyncio

import pytest

from heterodyne.assembly.console import PLAN_MODULE
from heterodyne.config.settings import Settings
from heterodyne.console.errors import CannotPlan, ServiceBusy
from heterodyne.console.plan.forms import HardwareForm, MemoryForm, MixForm, Traffic
from heterodyne.domain.errors import DeadlineExceeded, UnknownName
from heterodyne.physics.catalogue import accelerator, accelerators
from heterodyne.physics.memory import Demand, Layout, memory_budget
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.planning.hardware.ranking import HardwareRequirements, rank_hardware
from heterodyne.planning.workload_class import WorkloadClass, budget
from heterodyne.supervisor.services.plan.runner import PlanRunner
from tests.support.inline_books import InlineBooks
from tests.support.service_fleets import MODEL, requests, settings

NOON = 1_793_534_400.0


def make_runner(books: InlineBooks | None = None, **more: float) -> PlanRunner:
    return PlanRunner(books or InlineBooks(), settings, child=PLAN_MODULE, **more)


async def test_memory_is_the_planners_own_budget() -> None:
    answer = await make_runner().memory(
        MemoryForm(model="llama-3.1-70b", hardware="h100", precision=Precision.FP8, tp=2)
    )
    layout = Layout(model=model_spec("llama-3.1-70b"), accelerator=accelerator("h100"), precision=Precision.FP8, tp=2)
    budgeted = memory_budget(layout, Demand(context_tokens=8192))
    parts = {one.name: one.bytes for one in answer.parts}
    assert answer.is_fitting
    assert (answer.hardware, answer.concurrency_max) == ("h100-sxm", budgeted.concurrency_max)
    assert parts["weights"] == budgeted.weights_bytes
    assert sum(parts.values()) == pytest.approx(answer.memory_bytes)
    assert answer.changes == ()


async def test_what_does_not_fit_comes_with_changes_that_would() -> None:
    answer = await make_runner().memory(MemoryForm(model="llama-3.1-70b", hardware="h100-sxm"))
    assert not answer.is_fitting
    assert {one.name: one.bytes for one in answer.parts}["free"] < 0
    assert "tp" in [one.kind for one in answer.changes]
    for change in answer.changes:
        assert {one.name: one.bytes for one in change.parts}["free"] >= 0


async def test_hardware_is_ranked_as_the_command_ranks_it() -> None:
    form = HardwareForm(model=MODEL, traffic=Traffic(prompt_tokens=500, output_tokens=100, requests_per_s=9.0))
    answer = await make_runner().hardware(form)
    spec = model_spec(MODEL)
    wish = HardwareRequirements(
        model=spec,
        precision=spec.checkpoint_precision,
        prompt_tokens=500,
        output_tokens=100,
        requests_per_s=9.0,
        slo=budget(WorkloadClass.INTERACTIVE),
    )
    ranking = rank_hardware(wish, accelerators())
    best = ranking.choices[0]
    assert (answer.choices[0].hardware, answer.choices[0].replicas) == (best.accelerator, best.replicas)
    assert answer.choices[0].usd_per_million_tokens == best.usd_per_million_tokens
    within = [point for point in best.curve if point.requests_per_s <= best.load.requests_per_s * 1.001]
    assert [point.itl_ms for point in answer.choices[0].curve] == [point.itl_p99_s * 1000 for point in within]
    assert answer.choices[0].utilisation == best.load.utilisation
    assert len(answer.refused) == len(ranking.refused)
    assert len({one.hardware for one in answer.choices}) == len(answer.choices), "of each its cheapest width"


async def test_a_mix_of_recorded_requests_is_in_buckets_of_their_lengths() -> None:
    books = InlineBooks()
    await books.add(list(requests(NOON, NOON + 150, pool="a")))
    await books.add(list(requests(NOON, NOON + 50, pool="b", prompt_tokens=4000, completion_tokens=20)))
    await books.add(list(requests(NOON, NOON + 10, pool="", replica="", reason="shed", completion_tokens=0)))
    traffic = Traffic(recorded_model=MODEL, requests_per_s=50.0)
    answer = await make_runner(books).mix(MixForm(model=MODEL, traffic=traffic, buckets=2, hardware=("h100", "l40s")))
    assert {one.hardware for one in answer.kinds} <= {"h100-sxm", "l40s"}
    assert [one.requests_per_s for one in answer.buckets] == pytest.approx([37.5, 12.5])
    assert all(sum(one.shares.values()) == pytest.approx(1.0) for one in answer.buckets)
    assert answer.usd_per_hour == pytest.approx(sum(one.usd_per_hour for one in answer.kinds))
    assert answer.alone[0].usd_per_hour >= answer.usd_per_hour
    assert answer.notes == ("200 recorded requests", "left out: 10 that were refused or have no answer")
    books.close()


async def test_no_more_chips_are_planned_than_there_are() -> None:
    form = MixForm(model=MODEL, traffic=Traffic(requests_per_s=100.0), hardware=("h100",), available={"h100-sxm": 1})
    with pytest.raises(CannotPlan, match="No mix keeps every promise"):
        await make_runner().mix(form)
    with pytest.raises(CannotPlan, match="available"):
        await make_runner().mix(MixForm(model=MODEL, hardware=("h100",), available={"b200": 1}))


@pytest.mark.parametrize("name", ["/etc/passwd", "./config.json", "model.gguf", "nobody"])
async def test_only_names_that_are_built_in_are_models(name: str) -> None:
    with pytest.raises(UnknownName):
        await make_runner().memory(MemoryForm(model=name, hardware="h100"))
    with pytest.raises(UnknownName):
        await make_runner().hardware(HardwareForm(model=name))
    with pytest.raises(UnknownName):
        await make_runner().mix(MixForm(model=name))


async def test_a_question_without_an_answer_says_why() -> None:
    with pytest.raises(CannotPlan, match=r"context of llama-3\.1-8b"):
        await make_runner().hardware(HardwareForm(model=MODEL, traffic=Traffic(prompt_tokens=9_000_000)))
    with pytest.raises(CannotPlan, match="cannot share"):
        await make_runner().memory(MemoryForm(model=MODEL, hardware="h100", tp=3))
    with pytest.raises(CannotPlan, match="0 requests"):
        await make_runner().mix(MixForm(model=MODEL, traffic=Traffic(recorded_model=MODEL)))


async def test_a_third_plan_at_once_is_refused() -> None:
    runner = make_runner()
    two = [asyncio.create_task(runner.hardware(HardwareForm(model=MODEL))) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(ServiceBusy, match="No more than 2 plans"):
        await runner.memory(MemoryForm(model=MODEL, hardware="h100"))
    assert all([(await one).choices for one in two])
    assert (await runner.memory(MemoryForm(model=MODEL, hardware="h100"))).is_fitting


async def test_a_plan_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(DeadlineExceeded):
        await make_runner(deadline_s=0.01).hardware(HardwareForm(model=MODEL))


async def test_the_options_are_what_the_forms_take() -> None:
    options = await make_runner().options()
    assert MODEL in [one.name for one in options.models]
    assert "h100-sxm" in [one.name for one in options.hardware]
    assert [one.name for one in options.classes] == ["interactive", "batch", "background"]
    assert {"slo", "cost", "round-robin"} <= set(options.policies)
    [pool] = options.pools
    assert (pool.pool, pool.shape, pool.hardware) == ("fast", MODEL, "h100-sxm")
    default = await PlanRunner(InlineBooks(), Settings, child=PLAN_MODULE).options()
    assert any(one.shape is None for one in default.pools), "a small model that is not built in"
