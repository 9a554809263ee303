"""Checks of alerts: webhooks that can be called."""

from collections.abc import Iterator, Mapping

from heterodyne.alerts.webhook import read_webhook
from heterodyne.config.fields import dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.domain.errors import InvalidSpec


def webhooks_can_be_called(settings: Settings, environment: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Each has an address, and the variables it names are there; the address is never repeated."""
    for name, table in settings.alerts.webhooks.items():
        try:
            read_webhook(name, table, environment)
        except InvalidSpec as error:
            yield SettingProblem(path=dotted("alerts", "webhooks", name), message=error.message)
