"""Checks of the endpoint picker: what a proxy forwards to is an address, and what it forwards passes no policy."""

import importlib.util
import ipaddress
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from heterodyne.config.checks.gateway_checks import is_loopback
from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.wire.tls.contexts import door_context

LISTENS = "endpoint_picker.listens"
NEEDED = ("google.protobuf", "grpc", "grpc_health")  # modules of the extra
PASSED_BY = (
    "guards",
    "abuse",
    "caches",
    "cascades",
)  # what the gateway does with texts, and a proxy's bytes never meet


def an_endpoint_picker_can_run(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """What it takes is installed, and its port is one for all workers."""
    picker = settings.endpoint_picker
    if not picker.listens:
        return
    if not all(_is_installed(module) for module in NEEDED):
        yield SettingProblem(path=LISTENS, message="needs `pip install heterodyne[endpoint-picker]`")
    if not picker.port and settings.gateway.workers > 1:
        yield SettingProblem(
            path="endpoint_picker.port",
            message="0 takes another port for each worker; name one, or run a single worker",
            rests_on=("gateway.workers",),
        )


def an_open_endpoint_picker_knows_its_callers(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """By keys of ours, or because a proxy has checked them."""
    picker, admission = settings.endpoint_picker, settings.admission
    has_keys = bool(admission.api_keys_sha256) or admission.requires_key
    if picker.listens and picker.access == "key" and not has_keys and not is_loopback(picker.host):
        yield SettingProblem(
            path="endpoint_picker.access",
            message='no key is set; set `access = "proxy"` where the proxy checks who asks, or admission.requires_key',
            rests_on=("admission.api_keys_sha256", "admission.requires_key"),
        )


def an_open_endpoint_picker_speaks_tls(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Whoever can ask it can see what it says of the fleet, and whoever can listen reads prompts."""
    picker = settings.endpoint_picker
    if not picker.listens:
        return
    if (picker.tls_certificate is None) != (picker.tls_key is None):
        yield SettingProblem(
            path="endpoint_picker.tls_certificate", message="tls_certificate and tls_key come together"
        )
    elif picker.tls_certificate is not None:
        files = picker.tls_files
        named = [file for file in (files.certificate, files.key, files.authorities) if file is not None]
        missing = [file for file in named if not Path(file).is_file()]
        for file in missing:
            yield SettingProblem(path="endpoint_picker.tls_certificate", message=f'no file "{file}"')
        if not missing:
            try:
                door_context(files)
            except OSError as error:
                yield SettingProblem(path="endpoint_picker.tls_certificate", message=f"cannot be used: {error}")
    elif picker.tls_client_authorities is not None:
        yield SettingProblem(
            path="endpoint_picker.tls_client_authorities",
            message="needs tls_certificate: proxies show theirs over TLS alone",
            rests_on=("endpoint_picker.tls_certificate",),
        )
    elif not picker.is_plain and not is_loopback(picker.host):
        yield SettingProblem(
            path="endpoint_picker.host",
            message="an address beyond loopback needs tls_certificate, or is_plain where the network is trusted",
            rests_on=("endpoint_picker.is_plain",),
        )


def endpoints_are_addresses(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Proxies are told `ip:port`, and nothing of names, paths or providers."""
    if not settings.endpoint_picker.listens:
        return
    for name, pool in settings.pools.items():
        for index, url in enumerate(pool.urls):
            parts = urlsplit(url)
            if not _is_address(parts.hostname or "") or parts.path.strip("/"):
                yield SettingProblem(
                    path=f"{dotted(POOLS, name, 'urls')}[{index}]",
                    message=f'an endpoint picker names `ip:port` alone, and "{url}" is more; '
                    "give its address, or serve this pool by a gateway of its own",
                    rests_on=(LISTENS,),
                )


def no_policy_is_passed_by(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A policy that holds for some requests to a model and not for others is none."""
    if not settings.endpoint_picker.listens:
        return
    for section in PASSED_BY:
        if getattr(settings, section):
            yield SettingProblem(
                path=LISTENS,
                message=f"what a proxy forwards passes by [{section}]; take them away, or have the proxy forward to "
                "the gateway itself",
                rests_on=(section,),
            )
    if settings.audit.is_on:
        yield SettingProblem(
            path=LISTENS, message="the audit log would have no answers that a proxy forwards", rests_on=("audit.is_on",)
        )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
