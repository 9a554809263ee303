"""Keys that requests are signed with."""

import pytest

from heterodyne.config.checks.signing_checks import signing_keys_are_whole
from heterodyne.fleet.settings import PoolSettings
from tests.unit.config.checks.test_pool_checks import found, pools

SECRET = "AWS_SECRET_ACCESS_KEY"
SET = {SECRET: "s", "AWS_ACCESS_KEY_ID": "A"}
URL = "https://bedrock-runtime.eu-west-1.amazonaws.com"


def pool(url: str = URL, **fields: object) -> PoolSettings:
    words = {"model": "m", "engine": "bedrock-converse", "urls": (url,), "api_key_env": SECRET, **fields}
    return PoolSettings(**words)  # type: ignore[arg-type]


def test_a_secret_has_its_id_beside_it() -> None:
    assert found(signing_keys_are_whole, pools(p=pool()), SET) == []
    assert found(signing_keys_are_whole, pools(p=pool()), {SECRET: "s"}) == [
        "pools.p.api_key_env: the environment variable AWS_ACCESS_KEY_ID, whose secret is in AWS_SECRET_ACCESS_KEY, "
        "is not set"
    ]


def test_a_region_is_named_by_the_host_or_the_environment() -> None:
    proxied = pools(p=pool("https://proxy.example"))
    (problem,) = found(signing_keys_are_whole, proxied, SET)
    assert problem == (
        "pools.p.api_key_env: no region: neither the host proxy.example nor AWS_REGION nor AWS_DEFAULT_REGION names one"
    )
    assert found(signing_keys_are_whole, proxied, SET | {"AWS_DEFAULT_REGION": "eu-west-1"}) == []


@pytest.mark.parametrize(
    "fields", [{"api_key_env": "AWS_BEARER_TOKEN_BEDROCK"}, {"api_key_env": None}, {"engine": "openai"}]
)
def test_what_is_not_signed_needs_neither(fields: dict[str, object]) -> None:
    assert found(signing_keys_are_whole, pools(p=pool("https://proxy.example", **fields)), {SECRET: "s"}) == []


def test_what_others_complain_of_is_left_to_them() -> None:
    assert found(signing_keys_are_whole, pools(p=pool("http://[::1")), SET) == []
    assert found(signing_keys_are_whole, pools(p=pool()), {}) == []
