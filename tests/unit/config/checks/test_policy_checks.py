"""What models say of how their requests are placed, one check at a time."""

from pathlib import Path

import pytest

from heterodyne.config.checks import policy_checks
from heterodyne.config.checks.catalogue import Check
from heterodyne.config.settings import Settings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.settings import PhysicsSettings
from heterodyne.routing.catalogue import OBJECTIVES
from heterodyne.routing.peers.catalogue import PEERS

MODEL = "llama-3.1-8b"
POOLS = {
    "fast": PoolSettings(model=MODEL, engine="vllm", hardware="h100-sxm"),
    "slow": PoolSettings(model=MODEL, engine="vllm", hardware="l4"),
}
UNKNOWN = {"unknown": PoolSettings(model=MODEL)}


def found(check: Check, model: ModelSettings, pools: dict[str, PoolSettings] = POOLS) -> list[str]:
    settings = Settings(pools=pools, models={MODEL: model}, physics=PhysicsSettings(profiles=()))
    return [str(problem) for problem in check(settings, {})]


def test_every_policy_of_ours_and_of_others_is_known() -> None:
    for policy in (*OBJECTIVES, *PEERS):
        assert found(policy_checks.policies_are_known, ModelSettings(policy=policy)) == []


def test_a_misspelt_policy_names_the_nearest() -> None:
    assert found(policy_checks.policies_are_known, ModelSettings(policy="costs")) == [
        'models."llama-3.1-8b".policy: no policy "costs"; did you mean "cost"?'
    ]
    (problem,) = found(policy_checks.policies_are_known, ModelSettings(policy="roundrobin"))
    assert '"round-robin"' in problem


def test_affinity_prefers_something() -> None:
    check = policy_checks.a_policy_has_what_it_goes_by
    (problem,) = found(check, ModelSettings(policy="affinity"))
    assert problem.startswith('models."llama-3.1-8b".policy: "affinity" prefers nothing; give prefer_hardware or')
    assert found(check, ModelSettings(policy="affinity", prefer_hardware=("l4",))) == []
    assert found(check, ModelSettings(policy="affinity", prefer_labels={"a": "b"})) == []


def test_a_preference_that_no_request_can_ask_for_is_refused() -> None:
    check = policy_checks.a_policy_has_what_it_goes_by
    (problem,) = found(check, ModelSettings(policy="cost", prefer_hardware=("l4",), policy_override=False))
    assert problem.startswith('models."llama-3.1-8b".prefer_hardware: policy "cost" prefers nothing, and with')
    assert found(check, ModelSettings(policy="cost", prefer_hardware=("l4",))) == []


def test_weights_are_for_the_policy_mix() -> None:
    check = policy_checks.a_policy_has_what_it_goes_by
    assert found(check, ModelSettings(mix={"slo": 1.0})) == [
        'models."llama-3.1-8b".mix: weights, but the policy is "slo"; choose policy "mix", or remove them'
    ]
    assert found(check, ModelSettings(policy="mix", mix={"slo": 1.0})) == []
    assert found(check, ModelSettings(policy="mix")) == []


def test_weights_are_of_what_can_be_weighed_and_not_all_zero() -> None:
    check = policy_checks.weights_of_a_mix_can_be
    assert found(check, ModelSettings(policy="mix", mix={"costs": 1.0, "load": 0.5})) == [
        'models."llama-3.1-8b".mix.costs: "costs" cannot be weighed; slo, cost, load can; did you mean "cost"?'
    ]
    assert found(check, ModelSettings(policy="mix", mix={"slo": 0.0})) == [
        'models."llama-3.1-8b".mix: every weight is 0; give one that is not'
    ]
    assert found(check, ModelSettings(policy="mix", mix={"slo": 0.7, "cost": 0.3, "load": 0.0})) == []


def test_nobody_is_late_where_nothing_can_be_promised() -> None:
    check = policy_checks.only_an_slo_can_be_late
    (problem,) = found(check, ModelSettings(fallbacks_when_late=("m",), policy_override=False))
    assert problem.startswith(
        'models."llama-3.1-8b".fallbacks_when_late: nothing is promised, and with policy_override'
    )
    assert found(check, ModelSettings(fallbacks_when_late=("m",))) == []
    assert found(check, ModelSettings(fallbacks_when_late=("m",), policy_override=False, slo_itl_ms=50.0)) == []


@pytest.mark.parametrize(("field", "promised_ms"), [("slo_ttft_ms", 1.0), ("slo_itl_ms", 0.5)])
def test_a_promise_far_out_of_reach_says_what_the_best_can_do(field: str, promised_ms: float) -> None:
    (problem,) = found(policy_checks.slos_can_be_met, ModelSettings(**{field: promised_ms}))
    start, _, rest = problem.partition(" takes about ")
    assert start == (
        f'models."llama-3.1-8b".{field}: {promised_ms:g} ms is out of reach: the fastest of its pools, fast,'
    )
    figure_ms = float(rest.partition(" ms ")[0])
    assert found(policy_checks.slos_can_be_met, ModelSettings(**{field: figure_ms})) == []
    assert found(policy_checks.slos_can_be_met, ModelSettings(**{field: 0.51 * figure_ms})) == []
    assert found(policy_checks.slos_can_be_met, ModelSettings(**{field: 0.49 * figure_ms})) != []


def test_only_pools_that_may_serve_the_model_count() -> None:
    quick = ModelSettings(slo_itl_ms=10.0)
    assert found(policy_checks.slos_can_be_met, quick) == []
    (problem,) = found(policy_checks.slos_can_be_met, ModelSettings(slo_itl_ms=10.0, require_hardware=("l4",)))
    assert "the fastest of its pools, slow," in problem


def test_nobody_knows_what_a_pool_of_unknown_hardware_can_do() -> None:
    assert found(policy_checks.slos_can_be_met, ModelSettings(slo_ttft_ms=0.1), {**POOLS, **UNKNOWN}) == []
    assert found(policy_checks.slos_can_be_met, ModelSettings(slo_ttft_ms=0.1), UNKNOWN) == []


def test_where_measured_profiles_cannot_be_read_no_promise_is_judged(tmp_path: Path) -> None:
    physics = PhysicsSettings(profiles=(str(tmp_path / "none.toml"),))
    settings = Settings(pools=POOLS, models={MODEL: ModelSettings(slo_ttft_ms=0.1)}, physics=physics)
    assert list(policy_checks.slos_can_be_met(settings, {})) == []
