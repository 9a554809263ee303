"""A mix asked for by a model, its traffic and the catalogue."""

import pytest
from msgspec import structs

from heterodyne.domain.errors import InvalidSpec, PlanImpossible
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.ranking import HardwareRequirements, lowest_price, rank_hardware
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.offers import owned
from heterodyne.planning.mix.problem import Stock
from heterodyne.planning.mix.requirements import MixRequirements, mix_problem
from heterodyne.planning.traffic.histogram import Cell
from heterodyne.planning.traffic.request_shape import RequestShape

SHORT = Cell(name="short", shape=RequestShape(prompt_tokens=300, output_tokens=100), share=0.7)
LONG = Cell(name="long", shape=RequestShape(prompt_tokens=2000, output_tokens=300), share=0.3)
WISH = MixRequirements(
    model=model_spec("llama-3.1-70b"),
    precision=Precision.FP8,
    cells=(SHORT, LONG),
    requests_per_s=10.0,
    slo=Slo(ttft_s=0.5, itl_s=0.05),
    accelerators=(accelerator("h100-sxm"), accelerator("b200")),
)


def test_rates_are_those_of_plan_hardware() -> None:
    problem = mix_problem(WISH)
    asked = HardwareRequirements(
        model=WISH.model, precision=WISH.precision, prompt_tokens=300, output_tokens=100, slo=WISH.slo
    )
    ranking = rank_hardware(asked, {"h100-sxm": accelerator("h100-sxm")})
    choice = next(one for one in ranking.choices if one.tp == 2)
    kind = next(one for one in problem.kinds if one.name == "h100-sxm x2")
    assert kind.requests_per_s["short"] == choice.load.requests_per_s
    assert kind.usd_per_hour == choice.usd_per_hour


def test_buckets_carry_the_whole_rate() -> None:
    problem = mix_problem(structs.replace(WISH, critical_share=0.25))
    assert sum(bucket.requests_per_s for bucket in problem.buckets) == pytest.approx(10.0)
    critical = [bucket for bucket in problem.buckets if bucket.is_critical]
    assert sum(bucket.requests_per_s for bucket in critical) == pytest.approx(2.5)
    assert "short critical" in problem.kinds[0].requests_per_s


def test_spot_capacity_is_offered_only_when_it_is_allowed() -> None:
    assert not any(kind.is_spot for kind in mix_problem(WISH).kinds)
    allowed = mix_problem(structs.replace(WISH, spot_share_max=0.5))
    assert any(kind.is_spot and kind.name.endswith(" spot") for kind in allowed.kinds)


def test_roles_are_offered_only_when_they_are_allowed_and_never_cost_more() -> None:
    requirements = structs.replace(WISH, requests_per_s=100.0)
    plain, apart = mix_problem(requirements), mix_problem(structs.replace(requirements, has_roles=True))
    assert {kind.role for kind in plain.kinds} == {ReplicaRole.BOTH}
    assert {kind.role for kind in apart.kinds} == set(ReplicaRole)
    assert cheapest_mix(apart).usd_per_hour <= cheapest_mix(plain).usd_per_hour


def test_each_role_gets_the_width_that_suits_it() -> None:
    """Prompts are cheapest on the narrowest replicas in time, tight token times need wide ones."""
    cell = Cell(name="one", shape=RequestShape(prompt_tokens=3000, output_tokens=150), share=1.0)
    requirements = structs.replace(
        WISH,
        cells=(cell,),
        requests_per_s=14.0,
        share=0.9,
        slo=Slo(ttft_s=1.0, itl_s=0.015),
        accelerators=(accelerator("h100-sxm"),),
        has_roles=True,
    )
    plan = cheapest_mix(mix_problem(requirements))
    assert set(plan.replicas) == {"h100-sxm x2 prefill", "h100-sxm x8 decode"}
    assert plan.usd_per_hour < cheapest_mix(mix_problem(structs.replace(requirements, has_roles=False))).usd_per_hour


def test_widths_of_one_accelerator_draw_on_its_stock() -> None:
    requirements = structs.replace(WISH, stocks=(Stock(name="b200", available=2, minimum=1),))
    plan = cheapest_mix(mix_problem(requirements))
    chips = {"b200 x1": 1, "b200 x2": 2}
    assert 1 <= sum(chips[name] * count for name, count in plan.replicas.items() if name in chips) <= 2


def test_chips_that_are_wanted_anyhow_may_stand_idle() -> None:
    chips = (accelerator("l4"), accelerator("h100-sxm"))
    requirements = structs.replace(WISH, accelerators=chips, stocks=(Stock(name="l4", minimum=16),))
    plan = cheapest_mix(mix_problem(requirements))
    l4 = lowest_price(accelerator("l4"))
    assert l4 is not None
    assert plan.usd_per_hour >= 16 * l4.usd_per_hour
    assert any(name.startswith("h100-sxm") for name in plan.replicas)


def test_chips_that_are_owned_cost_their_power_and_go_first() -> None:
    chip = accelerator("h100-sxm")
    mine = owned(chip, 4, usd_per_kwh=0.2, overhead=1.5)
    assert mine.usd_per_hour == pytest.approx(0.7 * 1.5 * 0.2)
    plan = cheapest_mix(mix_problem(structs.replace(WISH, holdings=(mine,), requests_per_s=40.0)))
    chips = {name: int(name.split(" x")[1].split()[0]) * count for name, count in plan.replicas.items()}
    assert sum(count for name, count in chips.items() if name.endswith(" owned")) == 4
    assert any(not name.endswith(" owned") for name in chips)


def test_the_few_requests_that_nobody_can_serve_in_time_count_as_late() -> None:
    endless = Cell(name="endless", shape=RequestShape(prompt_tokens=90_000, output_tokens=10), share=0.004)
    short = structs.replace(SHORT, share=0.696)
    problem = mix_problem(structs.replace(WISH, cells=(short, LONG, endless)))
    assert {bucket.name for bucket in problem.buckets} == {"short", "long"}
    many = structs.replace(endless, share=0.02)
    with pytest.raises(PlanImpossible, match="endless"):
        mix_problem(structs.replace(WISH, cells=(short, LONG, many)))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"slo": Slo(ttft_s=0.05, itl_s=0.05)}, r'"long" take \d+ ms to the first token .* Try --slo-ttft-ms \d+'),
        ({"slo": Slo(ttft_s=0.5, itl_s=0.001)}, r'"short" take .* ms between tokens .* Try --slo-itl-ms \d+'),
        ({"accelerators": (accelerator("l4"),), "model": model_spec("deepseek-v3")}, "fit on no accelerator offered"),
        ({"accelerators": (accelerator("gb200"),)}, "both an engine and a price: gb200"),
    ],
)
def test_a_question_without_an_answer_names_what_binds(changes: dict[str, object], says: str) -> None:
    with pytest.raises(PlanImpossible, match=says):
        mix_problem(structs.replace(WISH, **changes))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"requests_per_s": 0.0}, "rate: 0"),
        ({"critical_share": 1.5}, "critical_share: 1.5"),
        ({"slo": Slo(ttft_s=-1.0, itl_s=1.0)}, "slo.ttft_s: -1"),
    ],
)
def test_nonsense_is_refused_with_its_place(changes: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidSpec, match=says):
        mix_problem(structs.replace(WISH, **changes))
