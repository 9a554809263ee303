"""What pools must say, one check at a time."""

import pytest

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.config.checks import pool_checks
from heterodyne.config.checks.catalogue import Check
from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings

URLS = ("http://10.0.0.1:8000",)


def found(check: Check, settings: Settings, environment: dict[str, str] | None = None) -> list[str]:
    return [str(problem) for problem in check(settings, environment or {})]


def pools(**named: PoolSettings) -> Settings:
    return Settings(pools=named)


def test_no_pools_at_all_is_refused() -> None:
    (problem,) = found(pool_checks.there_are_pools, pools())
    assert problem.startswith("pools: no pools")


@pytest.mark.parametrize("name", ["a b", "a.b", "", "-a", "a\r\nx: y", "é", "a" * 64])
def test_a_pool_name_that_does_not_fit_a_header_is_refused(name: str) -> None:
    settings = Settings(pools={name: PoolSettings(model="m", urls=URLS)})
    (problem,) = found(pool_checks.pool_names_fit_a_header, settings)
    assert "\n" not in problem


def test_a_pool_has_urls_or_weights_and_not_both() -> None:
    neither = PoolSettings(model="m")
    both = PoolSettings(model="m", urls=URLS, weights="file:/x")
    (problem,) = found(pool_checks.a_pool_has_one_origin, pools(p=neither))
    assert problem.startswith("pools.p: neither urls nor weights")
    (problem,) = found(pool_checks.a_pool_has_one_origin, pools(p=both))
    assert problem.startswith("pools.p: both urls and weights")
    assert found(pool_checks.a_pool_has_one_origin, pools(p=PoolSettings(model="m", urls=URLS))) == []


@pytest.mark.parametrize("weights", ["/plain/path", "http://h/x", "s3:x", ""])
def test_weights_from_an_unknown_kind_of_source_are_refused(weights: str) -> None:
    (problem,) = found(pool_checks.weights_can_be_trusted, pools(p=PoolSettings(model="m", weights=weights)))
    assert problem == "pools.p.weights: expected a URI that begins with pypi:, file:, https:, hf:, registry:"


def test_https_weights_need_their_hash() -> None:
    pool = PoolSettings(model="m", weights="https://h/x")
    (problem,) = found(pool_checks.weights_can_be_trusted, pools(p=pool))
    assert problem.startswith("pools.p.weights_sha256: required for https: weights")
    hashed = PoolSettings(model="m", weights="https://h/x", weights_sha256="a" * 64)
    assert found(pool_checks.weights_can_be_trusted, pools(p=hashed)) == []


def test_weights_need_the_engine_that_is_started_here() -> None:
    pool = PoolSettings(model="m", weights="file:/x", engine="openai")
    assert len(found(pool_checks.weights_meet_an_engine_that_starts_here, pools(p=pool))) == 1


def test_a_key_variable_that_is_named_must_be_set() -> None:
    settings = pools(p=PoolSettings(model="m", urls=URLS, api_key_env="UPSTREAM"))
    assert found(pool_checks.upstream_keys_are_present, settings) == [
        "pools.p.api_key_env: the environment variable UPSTREAM is not set"
    ]
    assert len(found(pool_checks.upstream_keys_are_present, settings, {"UPSTREAM": ""})) == 1
    assert found(pool_checks.upstream_keys_are_present, settings, {"UPSTREAM": "k"}) == []


@pytest.mark.parametrize(
    "url",
    ["", "h:1", "ftp://h", "http://", "http://h:99999", "http://h:x", "http://h:0", "http://[::1", "http://h?q=1"],
)
def test_a_replica_url_that_cannot_be_called_is_refused(url: str) -> None:
    (problem,) = found(pool_checks.replica_urls_can_be_called, pools(p=PoolSettings(model="m", urls=(url,))))
    assert problem.startswith("pools.p.urls[0]: ")


@pytest.mark.parametrize("url", ["http://h", "https://h:8443", "http://10.0.0.1:8000/base", "http://[::1]:8000"])
def test_a_replica_url_with_a_host_is_fine(url: str) -> None:
    assert found(pool_checks.replica_urls_can_be_called, pools(p=PoolSettings(model="m", urls=(url,)))) == []


def test_a_password_in_a_replica_url_is_refused_and_not_repeated() -> None:
    settings = pools(p=PoolSettings(model="m", urls=("http://user:hunter2@h:1",)))
    (problem,) = found(pool_checks.replica_urls_can_be_called, settings)
    assert "hunter2" not in problem


def test_a_replica_listed_twice_is_refused() -> None:
    settings = pools(p=PoolSettings(model="m", urls=URLS * 2))
    assert found(pool_checks.replica_urls_can_be_called, settings) == ["pools.p.urls[1]: listed twice"]


def test_a_chat_template_must_exist() -> None:
    settings = pools(p=PoolSettings(model="m", urls=URLS, chat_template="/nope"))
    assert found(pool_checks.chat_templates_exist, settings) == ['pools.p.chat_template: no file "/nope"']


def test_a_built_in_chat_template_must_be_one_we_ship() -> None:
    settings = pools(p=PoolSettings(model="m", urls=URLS, chat_template="builtin:nope"))
    (problem,) = found(pool_checks.chat_templates_exist, settings)
    assert problem.startswith('pools.p.chat_template: no built-in template "nope"; there is ')


def test_two_pools_of_one_model_must_have_one_purpose() -> None:
    generate = PoolSettings(model="m", urls=URLS)
    embed = PoolSettings(model="m", urls=URLS, purpose="embed")
    (problem,) = found(pool_checks.one_model_has_one_purpose, pools(a=generate, b=embed))
    assert problem.startswith('pools.b.purpose: "embed", but pools.a serves the same model')
    tensors = PoolSettings(model="m", urls=URLS, engine="open_inference")
    (problem,) = found(pool_checks.one_model_has_one_purpose, pools(a=generate, b=tensors))
    assert problem == (
        'pools.b.engine: "open_inference" is for purpose "infer", but pools.a serves the same model, "m", '
        'with purpose "generate"'
    )
    assert found(pool_checks.one_model_has_one_purpose, pools(a=generate, b=generate)) == []


def test_replicas_that_already_run_are_not_counted() -> None:
    check = pool_checks.only_replicas_started_here_are_counted
    (problem,) = found(check, pools(p=PoolSettings(model="m", urls=URLS, replicas=3)))
    assert problem.startswith("pools.p.replicas: 3, but only replicas started here from weights are counted")
    assert found(check, pools(p=PoolSettings(model="m", weights="file:/x", replicas=3))) == []


def test_a_price_by_the_hour_and_one_by_the_token_are_refused_together() -> None:
    check = pool_checks.a_pool_is_paid_one_way
    one = PoolSettings(model="m", price_usd_per_hour=2.0, price_usd_per_million_prompt_tokens=0.0)
    both = PoolSettings(
        model="m",
        price_usd_per_hour=2.0,
        price_usd_per_million_prompt_tokens=1.0,
        price_usd_per_million_completion_tokens=2.0,
    )
    (first, second) = found(check, pools(p=one, q=both))
    assert first.startswith(
        "pools.p.price_usd_per_hour: a price by the hour, but price_usd_per_million_prompt_tokens is"
    )
    assert "price_usd_per_million_prompt_tokens and price_usd_per_million_completion_tokens are by the token" in second


@pytest.mark.parametrize(
    "pool",
    [
        PoolSettings(model="m"),
        PoolSettings(model="m", price_usd_per_hour=2.0),
        PoolSettings(model="m", price_usd_per_million_prompt_tokens=1.0, price_usd_per_million_completion_tokens=2.0),
    ],
)
def test_a_pool_without_a_price_or_with_one_kind_of_it_is_fine(pool: PoolSettings) -> None:
    assert found(pool_checks.a_pool_is_paid_one_way, pools(p=pool)) == []


def test_a_replica_limit_above_what_the_house_holds_is_refused() -> None:
    settings = Settings(
        admission=AdmissionSettings(in_flight_max=8),
        pools={"p": PoolSettings(model="m", urls=URLS, in_flight_max=9), "q": PoolSettings(model="m", in_flight_max=8)},
    )
    assert found(pool_checks.a_replica_limit_can_be_reached, settings) == [
        "pools.p.in_flight_max: 9 is more than admission.in_flight_max, 8, which all replicas share"
    ]


def test_a_replica_limit_that_leaves_slots_idle_is_refused() -> None:
    check = pool_checks.a_replica_limit_can_be_reached
    named = {"p": PoolSettings(model="m", weights="file:/x", slots=4, in_flight_max=2)}
    (problem,) = found(check, Settings(pools=named))
    assert problem.startswith("pools.p.in_flight_max: 2 from each of gateway.workers, 1, cannot fill the 4 slots")
    assert found(check, Settings(pools=named, gateway=GatewaySettings(workers=2))) == []


@pytest.mark.parametrize(
    ("origins", "key", "said"),
    [
        (("https://h:1",), "K", []),
        (("https://h:1/v1",), "K", ["pools.p.api_key_origins[0]: carries a path; give scheme, host and port only"]),
        (("h",), "K", ["pools.p.api_key_origins[0]: expected http://host:port or https://host:port"]),
        (
            ("https://h",),
            None,
            ["pools.p.api_key_origins: names who may be sent a key, and api_key_env names none"],
        ),
    ],
)
def test_origins_that_may_be_sent_a_key_are_origins(origins: tuple[str, ...], key: str | None, said: list[str]) -> None:
    pool = PoolSettings(model="m", urls=URLS, api_key_env=key, api_key_origins=origins)
    assert found(pool_checks.key_origins_are_origins, pools(p=pool)) == said


def test_a_price_of_cached_tokens_or_long_prompts_refines_one_by_the_token() -> None:
    check = pool_checks.detailed_prices_refine_a_price_by_the_token
    alone = PoolSettings(model="m", price_usd_per_million_cached_tokens=0.1)
    (problem,) = found(check, pools(p=alone))
    assert problem.startswith("pools.p.price_usd_per_million_cached_tokens: refines a price by the token, and neither")
    lengthless = PoolSettings(
        model="m", price_usd_per_million_prompt_tokens=1.0, price_long_usd_per_million_cached_tokens=2.0
    )
    (problem,) = found(check, pools(p=lengthless))
    assert problem == (
        "pools.p.price_long_usd_per_million_cached_tokens: says nothing without price_long_prompt_tokens"
    )
    priceless = PoolSettings(model="m", price_usd_per_million_prompt_tokens=1.0, price_long_prompt_tokens=1000)
    (problem,) = found(check, pools(p=priceless))
    assert problem.startswith("pools.p.price_long_prompt_tokens: says nothing without any of price_long_usd_per")
    whole = PoolSettings(
        model="m",
        price_usd_per_million_prompt_tokens=1.0,
        price_usd_per_million_cached_tokens=0.1,
        price_long_prompt_tokens=1000,
        price_long_usd_per_million_prompt_tokens=2.0,
    )
    assert found(check, pools(p=whole)) == []
