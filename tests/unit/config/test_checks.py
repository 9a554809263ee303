"""What settings must say together, one check at a time."""

from pathlib import Path

import pytest

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.config import checks
from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings

KEYS = AdmissionSettings(api_keys_sha256=("a" * 64,))
URLS = ("http://10.0.0.1:8000",)


def found(check: checks.Check, settings: Settings, environment: dict[str, str] | None = None) -> list[str]:
    return [str(problem) for problem in check(settings, environment or {})]


def pools(**named: PoolSettings) -> Settings:
    return Settings(pools=named)


def test_the_default_settings_have_no_problems() -> None:
    assert [found(check, Settings()) for check in checks.CHECKS] == [[]] * len(checks.CHECKS)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "10.0.0.1", "example.com", "localhost.example.com"])
def test_listening_beyond_loopback_without_keys_is_refused(host: str) -> None:
    gateway = GatewaySettings(host=host)
    (problem,) = found(checks.an_open_door_has_keys, Settings(gateway=gateway))
    assert problem.startswith("gateway.host: ")
    assert "admission.api_keys_sha256" in problem
    assert found(checks.an_open_door_has_keys, Settings(gateway=gateway, admission=KEYS)) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_may_go_without_keys(host: str) -> None:
    assert found(checks.an_open_door_has_keys, Settings(gateway=GatewaySettings(host=host))) == []


def test_a_certificate_and_its_key_come_together(tmp_path: Path) -> None:
    file = tmp_path / "x.pem"
    file.touch()
    for given, missing in (("tls_certificate", "tls_key"), ("tls_key", "tls_certificate")):
        settings = Settings(gateway=GatewaySettings(**{given: str(file)}))
        assert found(checks.tls_is_whole, settings) == [f"gateway.{missing}: required, because gateway.{given} is set"]
    whole = GatewaySettings(tls_certificate=str(file), tls_key=str(file))
    assert found(checks.tls_is_whole, Settings(gateway=whole)) == []


def test_tls_files_must_exist() -> None:
    gateway = GatewaySettings(tls_certificate="/nope/a", tls_key="/nope/b")
    assert found(checks.tls_is_whole, Settings(gateway=gateway)) == [
        'gateway.tls_certificate: no file "/nope/a"',
        'gateway.tls_key: no file "/nope/b"',
    ]


def test_the_default_deadline_must_be_allowed() -> None:
    gateway = GatewaySettings(deadline_default_s=20.0, deadline_max_s=10.0)
    assert found(checks.the_default_deadline_is_allowed, Settings(gateway=gateway)) == [
        "gateway.deadline_default_s: 20 is more than gateway.deadline_max_s, 10"
    ]


def test_one_body_must_fit_among_all() -> None:
    gateway = GatewaySettings(body_bytes_max=4096, bodies_bytes_max=2048)
    assert len(found(checks.one_body_fits_among_all, Settings(gateway=gateway))) == 1


def test_no_pools_at_all_is_refused() -> None:
    (problem,) = found(checks.there_are_pools, pools())
    assert problem.startswith("pools: no pools")


@pytest.mark.parametrize("name", ["a b", "a.b", "", "-a", "a\r\nx: y", "é", "a" * 64])
def test_a_pool_name_that_does_not_fit_a_header_is_refused(name: str) -> None:
    settings = Settings(pools={name: PoolSettings(model="m", urls=URLS)})
    (problem,) = found(checks.pool_names_fit_a_header, settings)
    assert "\n" not in problem


def test_a_pool_has_urls_or_weights_and_not_both() -> None:
    neither = PoolSettings(model="m")
    both = PoolSettings(model="m", urls=URLS, weights="file:/x")
    (problem,) = found(checks.a_pool_has_one_origin, pools(p=neither))
    assert problem.startswith("pools.p: neither urls nor weights")
    (problem,) = found(checks.a_pool_has_one_origin, pools(p=both))
    assert problem.startswith("pools.p: both urls and weights")
    assert found(checks.a_pool_has_one_origin, pools(p=PoolSettings(model="m", urls=URLS))) == []


@pytest.mark.parametrize("weights", ["/plain/path", "http://h/x", "s3:x", ""])
def test_weights_from_an_unknown_kind_of_source_are_refused(weights: str) -> None:
    (problem,) = found(checks.weights_can_be_trusted, pools(p=PoolSettings(model="m", weights=weights)))
    assert problem == "pools.p.weights: expected a URI that begins with pypi:, file:, https:, hf:"


def test_https_weights_need_their_hash() -> None:
    pool = PoolSettings(model="m", weights="https://h/x")
    (problem,) = found(checks.weights_can_be_trusted, pools(p=pool))
    assert problem.startswith("pools.p.weights_sha256: required for https: weights")
    hashed = PoolSettings(model="m", weights="https://h/x", weights_sha256="a" * 64)
    assert found(checks.weights_can_be_trusted, pools(p=hashed)) == []


def test_weights_need_the_engine_that_is_started_here() -> None:
    pool = PoolSettings(model="m", weights="file:/x", engine="openai")
    assert len(found(checks.weights_meet_an_engine_that_starts_here, pools(p=pool))) == 1


def test_a_key_variable_that_is_named_must_be_set() -> None:
    settings = pools(p=PoolSettings(model="m", urls=URLS, api_key_env="UPSTREAM"))
    assert found(checks.upstream_keys_are_present, settings) == [
        "pools.p.api_key_env: the environment variable UPSTREAM is not set"
    ]
    assert len(found(checks.upstream_keys_are_present, settings, {"UPSTREAM": ""})) == 1
    assert found(checks.upstream_keys_are_present, settings, {"UPSTREAM": "k"}) == []


@pytest.mark.parametrize(
    "url",
    ["", "h:1", "ftp://h", "http://", "http://h:99999", "http://h:x", "http://h:0", "http://[::1", "http://h?q=1"],
)
def test_a_replica_url_that_cannot_be_called_is_refused(url: str) -> None:
    (problem,) = found(checks.replica_urls_can_be_called, pools(p=PoolSettings(model="m", urls=(url,))))
    assert problem.startswith("pools.p.urls[0]: ")


@pytest.mark.parametrize("url", ["http://h", "https://h:8443", "http://10.0.0.1:8000/base", "http://[::1]:8000"])
def test_a_replica_url_with_a_host_is_fine(url: str) -> None:
    assert found(checks.replica_urls_can_be_called, pools(p=PoolSettings(model="m", urls=(url,)))) == []


def test_a_password_in_a_replica_url_is_refused_and_not_repeated() -> None:
    settings = pools(p=PoolSettings(model="m", urls=("http://user:hunter2@h:1",)))
    (problem,) = found(checks.replica_urls_can_be_called, settings)
    assert "hunter2" not in problem


def test_a_replica_listed_twice_is_refused() -> None:
    settings = pools(p=PoolSettings(model="m", urls=URLS * 2))
    assert found(checks.replica_urls_can_be_called, settings) == ["pools.p.urls[1]: listed twice"]


def test_a_chat_template_must_exist() -> None:
    settings = pools(p=PoolSettings(model="m", urls=URLS, chat_template="/nope"))
    assert found(checks.chat_templates_exist, settings) == ['pools.p.chat_template: no file "/nope"']


def test_a_built_in_chat_template_must_be_one_we_ship() -> None:
    settings = pools(p=PoolSettings(model="m", urls=URLS, chat_template="builtin:nope"))
    (problem,) = found(checks.chat_templates_exist, settings)
    assert problem.startswith('pools.p.chat_template: no built-in template "nope"; there is ')


def test_two_pools_of_one_model_must_have_one_purpose() -> None:
    generate = PoolSettings(model="m", urls=URLS)
    embed = PoolSettings(model="m", urls=URLS, purpose="embed")
    (problem,) = found(checks.one_model_has_one_purpose, pools(a=generate, b=embed))
    assert problem.startswith('pools.b.purpose: "embed", but pools.a serves the same model')
    assert found(checks.one_model_has_one_purpose, pools(a=generate, b=generate)) == []
