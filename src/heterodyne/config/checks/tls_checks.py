"""Checks of the files that TLS goes by: they are there, they belong together, and they can be used."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import structs

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.console.settings import ConsoleSettings
from heterodyne.domain.tls_files import TlsFiles
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.wire.tls.contexts import door_context, outward_context


def tls_is_whole(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A certificate and its key come together, and both files exist."""
    doors: dict[str, GatewaySettings | ConsoleSettings] = {"gateway": settings.gateway, "console": settings.console}
    for section, door in doors.items():
        given = {"tls_certificate": door.tls_certificate, "tls_key": door.tls_key}
        for name, partner in (("tls_certificate", "tls_key"), ("tls_key", "tls_certificate")):
            file = given[name]
            if file is None:
                if given[partner] is not None:
                    yield SettingProblem(
                        path=f"{section}.{name}",
                        message=f"required, because {section}.{partner} is set",
                        rests_on=(f"{section}.{partner}",),
                    )
            elif not Path(file).is_file():
                yield SettingProblem(path=f"{section}.{name}", message=f'no file "{file}"')


def tls_files_are_fit(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A certificate that nobody could be shown is found before the port is opened."""
    gateway = settings.gateway
    files = gateway.tls_files
    named = {"tls_client_authorities": files.authorities, "tls_client_revoked": files.revoked}
    missing = [name for name, file in named.items() if file is not None and not Path(file).is_file()]
    for name in missing:
        yield SettingProblem(path=f"gateway.{name}", message=f'no file "{named[name]}"')
    if missing or not all(file is not None and Path(file).is_file() for file in (files.certificate, files.key)):
        return
    for name, part in (
        ("tls_certificate", TlsFiles(certificate=files.certificate, key=files.key)),
        ("tls_client_authorities", structs.replace(files, revoked=None)),
        ("tls_client_revoked", files),
    ):
        try:
            door_context(part)
        except OSError as error:
            yield SettingProblem(path=f"gateway.{name}", message=f"cannot be used: {error}")
            return


def the_console_can_be_shown(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """The same of the console's."""
    files = settings.console.tls_files
    if files is None or not all(file is not None and Path(file).is_file() for file in (files.certificate, files.key)):
        return
    try:
        door_context(files)
    except OSError as error:
        yield SettingProblem(path="console.tls_certificate", message=f"cannot be used: {error}")


def client_certificates_can_be_checked(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Nothing that speaks of client certificates goes without somebody who vouches for them."""
    gateway = settings.gateway
    given = {
        "gateway.tls_client_revoked": gateway.tls_client_revoked is not None,
        "gateway.tls_client_certificates": gateway.tls_client_certificates == "required",
        "admission.certificates": bool(settings.admission.certificates),
    }
    if gateway.tls_client_authorities is None:
        for path in (path for path, is_given in given.items() if is_given):
            yield SettingProblem(
                path=path,
                message="needs gateway.tls_client_authorities, whose certificates are believed",
                rests_on=("gateway.tls_client_authorities",),
            )
    elif gateway.tls_certificate is None:
        yield SettingProblem(
            path="gateway.tls_client_authorities",
            message="needs gateway.tls_certificate: clients show theirs over TLS alone",
            rests_on=("gateway.tls_certificate",),
        )


def engines_can_be_called_over_tls(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """The files of a pool are there and belong together, and it has replicas that they are for."""
    for name, pool in settings.pools.items():
        files = pool.tls_files
        if files is None:
            continue
        named = {
            "tls_authorities": files.authorities,
            "tls_revoked": files.revoked,
            "tls_certificate": files.certificate,
            "tls_key": files.key,
        }
        first = dotted(POOLS, name, next(setting for setting, file in named.items() if file is not None))
        missing = {setting: file for setting, file in named.items() if file is not None and not Path(file).is_file()}
        for setting, file in missing.items():
            yield SettingProblem(path=dotted(POOLS, name, setting), message=f'no file "{file}"')
        if not pool.kubernetes_tls and not any(url.startswith("https:") for url in pool.urls):
            yield SettingProblem(
                path=first, message="none of the pool's urls is https", rests_on=(dotted(POOLS, name, "urls"),)
            )
        if (files.certificate is None) != (files.key is None):
            yield SettingProblem(path=first, message="tls_certificate and tls_key come together")
        elif not missing:
            try:
                outward_context(files)
            except OSError as error:
                yield SettingProblem(path=first, message=f"cannot be used: {error}")
