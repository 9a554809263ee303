"""What issuers of tokens must have, and what must not be said twice."""

from pathlib import Path

from heterodyne.config.checks import catalogue, gateway_checks, issuer_checks
from heterodyne.config.settings import Settings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.identity.settings import IssuerSettings

URL = "https://login.example/realm"
CORP = IssuerSettings(issuer_url=URL, audiences=("gateway",), callers={"ada": "key_ada"})


def found(check: catalogue.Check, **issuers: IssuerSettings) -> list[str]:
    return [str(problem) for problem in check(Settings(issuers=issuers), {})]


def test_whoever_vouches_for_an_issuer_can_be_read(tmp_path: Path) -> None:
    torn = tmp_path / "torn.pem"
    torn.write_text("torn")
    missing = IssuerSettings(issuer_url=URL, audiences=("gateway",), tls_authorities="/nope")
    unfit = IssuerSettings(issuer_url=URL, audiences=("gateway",), tls_authorities=str(torn))
    assert found(issuer_checks.tokens_can_be_checked, corp=missing) == ['issuers.corp.tls_authorities: no file "/nope"']
    (problem,) = found(issuer_checks.tokens_can_be_checked, corp=unfit)
    assert problem.startswith("issuers.corp.tls_authorities: cannot be used: ")
    assert found(issuer_checks.tokens_can_be_checked, corp=CORP) == []


def test_two_issuers_have_two_urls() -> None:
    assert found(issuer_checks.issuers_are_told_apart, one=CORP, two=CORP) == [
        "issuers.two.issuer_url: is that of issuers.one.issuer_url, too"
    ]


def test_tokens_of_an_issuer_stand_for_somebody() -> None:
    (problem,) = found(
        issuer_checks.tokens_stand_for_somebody, corp=IssuerSettings(issuer_url=URL, audiences=("gateway",))
    )
    assert problem.startswith("issuers.corp.callers: required, or `projects`")
    assert found(issuer_checks.tokens_stand_for_somebody, corp=CORP) == []


def test_a_gateway_that_tokens_open_may_be_reached_from_elsewhere() -> None:
    gateway = GatewaySettings(host="0.0.0.0")
    assert list(gateway_checks.an_open_gateway_has_keys(Settings(gateway=gateway, issuers={"corp": CORP}), {})) == []
