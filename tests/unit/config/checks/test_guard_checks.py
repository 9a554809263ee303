"""Policies name guards that there are, with settings that are theirs, and can do what they are told to."""

import pytest

from heterodyne.config.checks import guard_checks
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.safety.settings import GuardSettings

POOLS = {
    "chat": PoolSettings(model="chat", urls=("http://127.0.0.1:1",)),
    "vectors": PoolSettings(model="vectors", urls=("http://127.0.0.1:2",), purpose="embed"),
}
CHECKS = (
    guard_checks.guards_are_known,
    guard_checks.guards_are_given_their_own_settings,
    guard_checks.masks_have_something_to_stand_for,
    guard_checks.judges_are_served,
    guard_checks.keys_of_guards_are_present,
    guard_checks.what_flags_refuses_nothing,
    guard_checks.verdicts_come_within_the_longest_deadline,
)


def problems(**policy: object) -> list[SettingProblem]:
    settings = Settings(
        pools=POOLS, models={"chat": ModelSettings(aliases=("talk",))}, guards={"one": GuardSettings(**policy)}
    )
    return [problem for check in CHECKS for problem in check(settings, {"SET": "key"})]


@pytest.mark.parametrize("policy", [
    {"guard": "http", "url": "https://guard.example/look?a=b", "api_key_env": "SET", "timeout_ms": 100},
    {"guard": "http", "url": "http://127.0.0.1:1", "action": "block", "on_failure": "pass"},
    {"guard": "judge", "judge_model": "chat", "instructions": "", "on_failure": "refuse", "action": "block"},
    {"guard": "judge", "judge_model": "talk"},
])  # fmt: skip
def test_guards_elsewhere_that_can_be_asked(policy: dict[str, object]) -> None:
    assert not problems(**policy)


@pytest.mark.parametrize(("policy", "path", "words"), [
    ({"guard": "htpp"}, "guards.one.guard", 'did you mean "http"'),
    ({"guard": "http"}, "guards.one", "needs `url`"),
    ({"guard": "http", "url": "ftp://guard"}, "guards.one.url", "https://"),
    ({"guard": "http", "url": "http://me:secret@guard/"}, "guards.one.url", "api_key_env"),
    ({"guard": "http", "url": "http://guard/", "api_key_env": "UNSET"}, "guards.one.api_key_env", "not set"),
    ({"guard": "http", "url": "http://guard/", "action": "mask"}, "guards.one.action", "cannot be masked"),
    ({"guard": "http", "url": "http://guard/", "judge_model": "chat"}, "guards.one.judge_model", "no such setting"),
    ({"guard": "judge"}, "guards.one", "needs `judge_model`"),
    ({"guard": "judge", "judge_model": "chatt"}, "guards.one.judge_model", 'did you mean "chat"'),
    ({"guard": "judge", "judge_model": "vectors"}, "guards.one.judge_model", "does not write"),
    ({"guard": "judge", "judge_model": "chat", "action": "mask"}, "guards.one.action", "cannot be masked"),
    ({"guard": "judge", "judge_model": "chat", "on_failure": "refuse"}, "guards.one.on_failure", "choose `block`"),
    ({"guard": "secrets", "timeout_ms": 5}, "guards.one.timeout_ms", "no such setting"),
    ({"guard": "secrets", "instructions": ""}, "guards.one.instructions", "no such setting"),
])  # fmt: skip
def test_those_that_cannot(policy: dict[str, object], path: str, words: str) -> None:
    (problem,) = problems(**policy)
    assert problem.path == path
    assert words in problem.message
    assert "secret@" not in problem.message


def test_nobody_is_waited_for_longer_than_any_request_may_take() -> None:
    judge = GuardSettings(guard="judge", judge_model="chat")
    settings = Settings(pools=POOLS, guards={"one": judge}, gateway=GatewaySettings(deadline_max_s=4.0))
    (problem,) = guard_checks.verdicts_come_within_the_longest_deadline(settings, {})
    assert problem.path == "guards.one.timeout_ms"
    assert "4000 ms" in problem.message
