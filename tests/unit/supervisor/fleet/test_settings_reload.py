"""What holds at once, and what waits for a restart."""

import pytest

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.config.problems import SettingsProblems
from heterodyne.config.settings import Settings
from heterodyne.console.settings import ConsoleSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.routing.settings import RoutingSettings
from heterodyne.supervisor.fleet.settings_reload import merged_settings, needs_restart
from heterodyne.telemetry.settings import TelemetrySettings

KEYS = AdmissionSettings(api_keys_sha256=("0" * 64,))


def test_most_settings_hold_at_once() -> None:
    new = Settings(
        gateway=GatewaySettings(deadline_max_s=900, drain_timeout_s=5),
        admission=KEYS,
        routing=RoutingSettings(ejection_failures=9),
    )
    assert merged_settings(Settings(), new, {}) == new
    assert needs_restart(Settings(), new) == ()


def test_what_was_opened_with_a_setting_keeps_it_and_is_named() -> None:
    began = Settings()
    new = Settings(
        gateway=GatewaySettings(workers=4, port=9000, deadline_max_s=900),
        telemetry=TelemetrySettings(log_level="debug"),
        console=ConsoleSettings(port=9001),
    )
    merged = merged_settings(began, new, {})
    assert merged.gateway == GatewaySettings(deadline_max_s=900)
    assert (merged.telemetry, merged.console) == (began.telemetry, began.console)
    assert needs_restart(began, new) == ("gateway.port", "gateway.workers", "console.port", "telemetry.log_level")


def test_a_port_that_the_system_chose_is_no_change() -> None:
    began = Settings(gateway=GatewaySettings(port=0))
    running = Settings(gateway=GatewaySettings(port=40123))
    assert needs_restart(began, began) == ()
    assert merged_settings(running, began, {}).gateway.port == 40123


def test_a_door_that_stays_open_does_not_lose_its_keys() -> None:
    running = Settings(gateway=GatewaySettings(host="0.0.0.0"), admission=KEYS)
    closed_and_keyless = Settings()
    with pytest.raises(SettingsProblems, match=r"admission\.api_keys_sha256"):
        merged_settings(running, closed_and_keyless, {})


def test_the_keys_of_the_console_hold_at_once() -> None:
    keys = ConsoleSettings(operator_keys_sha256=("0" * 64,), viewer_keys_sha256=("1" * 64,))
    new = Settings(console=keys)
    assert merged_settings(Settings(), new, {}).console == keys
    assert needs_restart(Settings(), new) == ()
