"""What an endpoint picker may be asked to do."""

from pathlib import Path
from typing import Any

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.audit.settings import AuditSettings
from heterodyne.caching.settings import CacheSettings
from heterodyne.config.checks import catalogue, picker_checks
from heterodyne.config.settings import Settings
from heterodyne.endpoint_picker.settings import EndpointPickerSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from tests.support.certificates import Authority


def found(check: catalogue.Check, settings: Settings) -> list[str]:
    return [problem.path for problem in check(settings, {})]


def listening(**picker: Any) -> EndpointPickerSettings:
    return EndpointPickerSettings(listens=True, **picker)


def test_several_workers_share_a_port_with_a_number() -> None:
    several = GatewaySettings(workers=2)
    assert found(
        picker_checks.an_endpoint_picker_can_run, Settings(gateway=several, endpoint_picker=listening(port=0))
    ) == ["endpoint_picker.port"]
    assert found(picker_checks.an_endpoint_picker_can_run, Settings(gateway=several, endpoint_picker=listening())) == []


def test_beyond_loopback_it_knows_its_callers() -> None:
    check = picker_checks.an_open_endpoint_picker_knows_its_callers
    assert found(check, Settings(endpoint_picker=listening(host="0.0.0.0"))) == ["endpoint_picker.access"]
    assert found(check, Settings(endpoint_picker=listening(host="0.0.0.0", access="proxy"))) == []
    keys = AdmissionSettings(requires_key=True)
    assert found(check, Settings(endpoint_picker=listening(host="0.0.0.0"), admission=keys)) == []


def test_beyond_loopback_it_speaks_tls(tmp_path: Path) -> None:
    check = picker_checks.an_open_endpoint_picker_speaks_tls
    assert found(check, Settings(endpoint_picker=listening(host="10.0.0.1"))) == ["endpoint_picker.host"]
    assert found(check, Settings(endpoint_picker=listening(host="10.0.0.1", is_plain=True))) == []
    issued = Authority(tmp_path).issue("picker", "picker.example")
    pair = {"tls_certificate": str(issued.certificate), "tls_key": str(issued.key)}
    assert found(check, Settings(endpoint_picker=listening(host="10.0.0.1", **pair))) == []
    for unfit in (
        {**pair, "tls_key": None},
        {**pair, "tls_key": "/nope"},
        {**pair, "tls_key": pair["tls_certificate"]},
    ):
        assert found(check, Settings(endpoint_picker=listening(host="10.0.0.1", **unfit))) == [
            "endpoint_picker.tls_certificate"
        ]


def test_endpoints_are_addresses_and_nothing_more() -> None:
    urls = ("http://10.0.0.1:80", "http://[fd00::1]:80", "http://engine:80", "http://10.0.0.1:80/v1")
    pools = {"p": PoolSettings(model="m", urls=urls)}
    settings = Settings(endpoint_picker=listening(), pools=pools)
    assert found(picker_checks.endpoints_are_addresses, settings) == ["pools.p.urls[2]", "pools.p.urls[3]"]
    assert found(picker_checks.endpoints_are_addresses, Settings(pools=pools)) == []


def test_no_policy_holds_for_a_part_of_the_requests() -> None:
    check = picker_checks.no_policy_is_passed_by
    assert found(check, Settings(endpoint_picker=listening())) == []
    for policy in ({"caches": {"c": CacheSettings()}}, {"audit": AuditSettings(is_on=True)}):
        assert found(check, Settings(endpoint_picker=listening(), **policy)) == ["endpoint_picker.listens"]
