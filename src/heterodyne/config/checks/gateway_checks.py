"""Checks of the ports of the gateway and the console: keys where other machines can connect, deadlines, sizes."""

from collections.abc import Iterator, Mapping
from ipaddress import ip_address

from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings

KEY_DIGEST_HINT = "printf %s KEY | sha256sum"


def an_open_gateway_has_keys(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Anything but loopback without keys would serve other machines unasked."""
    host = settings.gateway.host
    admission = settings.admission
    has_callers = admission.api_keys_sha256 or admission.requires_key or settings.issuers
    if not is_loopback(host) and not has_callers:
        yield SettingProblem(
            path="gateway.host",
            message=f'"{host}" can be reached from other machines and no key is set; put the digest of a key '
            f"({KEY_DIGEST_HINT}) into admission.api_keys_sha256, set admission.requires_key and make keys with "
            "`heterodyne keys create`, or listen on 127.0.0.1",
            rests_on=("admission.api_keys_sha256", "admission.requires_key"),
        )


def an_open_console_has_operators(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Anything but loopback without keys would let any machine change the fleet."""
    console = settings.console
    has_people = console.operator_keys_sha256 or settings.sign_in.is_on
    if console.listens and not is_loopback(console.host) and not has_people:
        yield SettingProblem(
            path="console.host",
            message=f'"{console.host}" can be reached from other machines and no operator key is set; put the digest '
            f"of a key ({KEY_DIGEST_HINT}) into console.operator_keys_sha256, or listen on 127.0.0.1",
            rests_on=("console.operator_keys_sha256", "console.listens"),
        )


def viewers_come_beside_operators(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """On a console that only viewers have keys for, no one could change anything."""
    console = settings.console
    has_operators = console.operator_keys_sha256 or settings.sign_in.operators
    if console.viewer_keys_sha256 and not has_operators:
        yield SettingProblem(
            path="console.viewer_keys_sha256",
            message="without an operator's key nobody could change anything; put the digest of one "
            f"({KEY_DIGEST_HINT}) into console.operator_keys_sha256",
            rests_on=("console.operator_keys_sha256",),
        )
    for digest in sorted(set(console.viewer_keys_sha256) & set(console.operator_keys_sha256)):
        yield SettingProblem(
            path="console.viewer_keys_sha256",
            message=f'"{digest[:8]}…" is also in console.operator_keys_sha256; a key has one role',
            rests_on=("console.operator_keys_sha256",),
        )


def the_default_deadline_is_allowed(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """The default deadline is one that a request may ask for."""
    gateway = settings.gateway
    if gateway.deadline_default_s > gateway.deadline_max_s:
        yield SettingProblem(
            path="gateway.deadline_default_s",
            message=f"{gateway.deadline_default_s:g} is more than gateway.deadline_max_s, {gateway.deadline_max_s:g}",
            rests_on=("gateway.deadline_max_s",),
        )


def one_body_fits_among_all(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A single allowed body must not exceed what all bodies together may take."""
    gateway = settings.gateway
    if gateway.body_bytes_max > gateway.bodies_bytes_max:
        yield SettingProblem(
            path="gateway.body_bytes_max",
            message=f"{gateway.body_bytes_max} is more than gateway.bodies_bytes_max, {gateway.bodies_bytes_max}",
            rests_on=("gateway.bodies_bytes_max",),
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a listener on `host`."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
