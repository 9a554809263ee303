"""Webhooks in the settings."""

from typing import Any

from heterodyne.alerts.settings import AlertSettings
from heterodyne.config.checks.alert_checks import webhooks_can_be_called
from heterodyne.config.settings import Settings

SECRET = "T0SECRET0B1"


def problems(webhooks: dict[str, dict[str, Any]], **environment: str) -> list[str]:
    settings = Settings(alerts=AlertSettings(webhooks=webhooks))
    return [str(one) for one in webhooks_can_be_called(settings, environment)]


def test_webhooks_with_addresses_are_fine() -> None:
    assert problems({"own": {"url": "https://example.com/x"}, "chat": {"url_env": "HOOK"}}, HOOK="http://c/") == []


def test_every_webhook_that_cannot_be_called_is_named_without_its_address() -> None:
    found = problems({"own": {"url": f"example.com/{SECRET}"}, "chat": {"url_env": "HOOK"}})
    assert [one.split(":")[0] for one in found] == ["alerts.webhooks.own", "alerts.webhooks.chat"]
    assert SECRET not in "".join(found)
