"""Checks of issuers whose tokens stand for keys."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from heterodyne.config.fields import dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.domain.tls_files import TlsFiles
from heterodyne.identity.key_set import MISSING
from heterodyne.wire.tls.contexts import outward_context

ISSUERS = "issuers"


def tokens_can_be_checked(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """What checks signatures is installed, and whoever vouches for an issuer can be read."""
    for name, issuer in settings.issuers.items():
        if find_spec("jwt") is None:
            yield SettingProblem(path=dotted(ISSUERS, name), message=MISSING)
        path, file = dotted(ISSUERS, name, "tls_authorities"), issuer.tls_authorities
        if file is None:
            continue
        if not Path(file).is_file():
            yield SettingProblem(path=path, message=f'no file "{file}"')
            continue
        try:
            outward_context(TlsFiles(authorities=file))
        except OSError as error:
            yield SettingProblem(path=path, message=f"cannot be used: {error}")


def issuers_are_told_apart(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A token names its issuer by URL, so that two of the same would be one."""
    first: dict[str, str] = {}
    for name, issuer in settings.issuers.items():
        if issuer.issuer_url in first:
            other = dotted(ISSUERS, first[issuer.issuer_url], "issuer_url")
            yield SettingProblem(
                path=dotted(ISSUERS, name, "issuer_url"), message=f"is that of {other}, too", rests_on=(other,)
            )
        first.setdefault(issuer.issuer_url, name)


def tokens_stand_for_somebody(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """An issuer whose tokens open nothing is a mistake."""
    for name, issuer in settings.issuers.items():
        if not issuer.callers and not issuer.projects:
            yield SettingProblem(
                path=dotted(ISSUERS, name, "callers"),
                message="required, or `projects`: what a word of the claim stands for",
                rests_on=(dotted(ISSUERS, name, "projects"),),
            )
