"""What the gateway's settings must say together, one check at a time."""

import pytest

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.config.checks import catalogue, gateway_checks
from heterodyne.config.settings import Settings
from heterodyne.gateway.settings import GatewaySettings

KEYS = AdmissionSettings(api_keys_sha256=("a" * 64,))


def found(check: catalogue.Check, settings: Settings) -> list[str]:
    return [str(problem) for problem in check(settings, {})]


def test_the_default_settings_have_no_problems() -> None:
    assert [found(check, Settings()) for check in catalogue.CHECKS] == [[]] * len(catalogue.CHECKS)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "10.0.0.1", "example.com", "localhost.example.com"])
def test_listening_beyond_loopback_without_keys_is_refused(host: str) -> None:
    gateway = GatewaySettings(host=host)
    (problem,) = found(gateway_checks.an_open_gateway_has_keys, Settings(gateway=gateway))
    assert problem.startswith("gateway.host: ")
    assert "admission.api_keys_sha256" in problem
    assert found(gateway_checks.an_open_gateway_has_keys, Settings(gateway=gateway, admission=KEYS)) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_may_go_without_keys(host: str) -> None:
    assert found(gateway_checks.an_open_gateway_has_keys, Settings(gateway=GatewaySettings(host=host))) == []


def test_the_default_deadline_must_be_allowed() -> None:
    gateway = GatewaySettings(deadline_default_s=20.0, deadline_max_s=10.0)
    assert found(gateway_checks.the_default_deadline_is_allowed, Settings(gateway=gateway)) == [
        "gateway.deadline_default_s: 20 is more than gateway.deadline_max_s, 10"
    ]


def test_one_body_must_fit_among_all() -> None:
    gateway = GatewaySettings(body_bytes_max=4096, bodies_bytes_max=2048)
    assert len(found(gateway_checks.one_body_fits_among_all, Settings(gateway=gateway))) == 1
