"""Checks of signing in to the console with an issuer."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from heterodyne.config.checks.gateway_checks import is_loopback
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.identity.key_set import MISSING

ISSUER = "sign_in.issuer_url"


def a_sign_in_is_whole(settings: Settings, environment: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Whoever signs in with an issuer has something to do here, and the console has what the issuer asks of it."""
    sign_in = settings.sign_in
    if not sign_in.is_on:
        return
    if find_spec("jwt") is None:
        yield SettingProblem(path=ISSUER, message=MISSING)
    for name, value in (("client_id", sign_in.client_id), ("console_url", sign_in.console_url)):
        if value is None:
            message = f"required, because {ISSUER} is set"
            yield SettingProblem(path=f"sign_in.{name}", message=message, rests_on=(ISSUER,))
    if not sign_in.operators and not sign_in.viewers:
        yield SettingProblem(
            path="sign_in.operators",
            message="required, or `viewers`: the words of the claim that let people in",
            rests_on=("sign_in.viewers",),
        )
    secret, file = sign_in.client_secret_env, sign_in.tls_authorities
    if secret is not None and not environment.get(secret):
        yield SettingProblem(path="sign_in.client_secret_env", message=f"the environment has no {secret}")
    if file is not None and not Path(file).is_file():
        yield SettingProblem(path="sign_in.tls_authorities", message=f'no file "{file}"')


def people_come_back_to_a_safe_place(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """What comes back with them signs them in, and passes no network in the clear."""
    url = urlsplit(settings.sign_in.console_url or "")
    if not settings.sign_in.is_on or not url.hostname:
        return
    if url.scheme != "https" and not is_loopback(url.hostname):
        yield SettingProblem(path="sign_in.console_url", message="is not https; only on this machine may it be http")
    elif (url.scheme == "https") != settings.console.is_https:
        yield SettingProblem(
            path="sign_in.console_url",
            message=f"is {url.scheme}; say in console.is_behind_tls or console.tls_certificate what browsers meet",
            rests_on=("console.is_behind_tls", "console.tls_certificate"),
        )
