"""Which guards look at whose requests."""

import pytest

from heterodyne.domain.errors import InvalidSpec, UnknownName
from heterodyne.safety.policy import PLANS_MAX, GuardPolicy, rule_of
from heterodyne.safety.settings import GuardSettings


def test_a_policy_holds_for_its_projects_and_models():
    policy = GuardPolicy({"one": GuardSettings(guard="pii", projects=("acme/*",), models=("llama-*",))})
    assert policy.plan("acme/search", "llama-3", "llama-3") is not None
    assert policy.plan("globex/search", "llama-3", "llama-3") is None
    assert policy.plan("acme/search", "qwen", "qwen") is None


def test_a_model_is_meant_by_its_alias_and_by_its_own_name():
    policy = GuardPolicy({"one": GuardSettings(guard="pii", models=("llama-3",))})
    assert policy.plan("a/b", "chat", "llama-3") is not None
    assert policy.plan("a/b", "llama-3", "qwen") is not None


def test_each_direction_has_its_own_rules():
    policy = GuardPolicy(
        {
            "both": GuardSettings(guard="pii"),
            "out": GuardSettings(guard="secrets", direction="output"),
            "attacks": GuardSettings(guard="injection"),
        }
    )
    plan = policy.plan("a/b", "m", "m")
    assert [rule.policy for rule in plan.input] == ["both", "attacks"]
    assert [rule.policy for rule in plan.output] == ["both", "out"]


def test_plans_that_are_remembered_are_bounded():
    policy = GuardPolicy({"one": GuardSettings(guard="secrets")})
    for number in range(PLANS_MAX + 10):
        assert policy.plan(f"a/{number}", "m", "m") is not None
    assert len(policy._plans) <= PLANS_MAX


def test_what_nobody_knows_is_an_error():
    with pytest.raises(UnknownName, match="secrets"):
        rule_of("one", GuardSettings(guard="secret"))
    with pytest.raises(UnknownName, match="email"):
        rule_of("one", GuardSettings(guard="pii", kinds=("emial",)))
    with pytest.raises(InvalidSpec, match="words"):
        rule_of("one", GuardSettings(guard="words"))
