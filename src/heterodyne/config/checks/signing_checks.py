"""Checks of keys that requests are signed with."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.domain.errors import InvalidSpec
from heterodyne.engines.converse.dialect import ConverseDialect
from heterodyne.engines.converse.keys import is_secret, read_keys


def signing_keys_are_whole(settings: Settings, environment: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A secret has its id beside it, and is for some region; that it is there at all is another check."""
    for name, pool in settings.pools.items():
        variable = pool.api_key_env
        if pool.engine != ConverseDialect.name or variable is None or not is_secret(variable):
            continue
        complaints = (_complaint(variable, url, environment) for url in pool.urls if environment.get(variable))
        message = next(filter(None, complaints), None)
        if message is not None:
            yield SettingProblem(path=dotted(POOLS, name, "api_key_env"), message=message)


def _complaint(variable: str, url: str, environment: Mapping[str, str]) -> str | None:
    with suppress(ValueError):  # an address that is none is told of by its own path
        try:
            read_keys(variable, urlsplit(url).hostname or "", environment)
        except InvalidSpec as error:
            return error.message
    return None
