"""What settings must say together: every check, those of the gateway first."""

from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path

from heterodyne.config.checks import (
    adapter_checks,
    alert_checks,
    hardware_checks,
    kv_checks,
    memory_checks,
    model_checks,
    place_checks,
    policy_checks,
    pool_checks,
    tier_checks,
    tracing_checks,
)
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings

KEY_DIGEST_HINT = "printf %s KEY | sha256sum"

Check = Callable[[Settings, Mapping[str, str]], Iterator[SettingProblem]]


def an_open_gateway_has_keys(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Anything but loopback without keys would serve strangers."""
    host = settings.gateway.host
    admission = settings.admission
    if not is_loopback(host) and not admission.api_keys_sha256 and not admission.requires_key:
        yield SettingProblem(
            path="gateway.host",
            message=f'"{host}" can be reached from other machines and no key is set; put the digest of a key '
            f"({KEY_DIGEST_HINT}) into admission.api_keys_sha256, set admission.requires_key and make keys with "
            "`heterodyne keys create`, or listen on 127.0.0.1",
            rests_on=("admission.api_keys_sha256", "admission.requires_key"),
        )


def an_open_console_has_operators(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Anything but loopback without keys would let strangers change the fleet."""
    console = settings.console
    if console.listens and not is_loopback(console.host) and not console.operator_keys_sha256:
        yield SettingProblem(
            path="console.host",
            message=f'"{console.host}" can be reached from other machines and no operator key is set; put the digest '
            f"of a key ({KEY_DIGEST_HINT}) into console.operator_keys_sha256, or listen on 127.0.0.1",
            rests_on=("console.operator_keys_sha256", "console.listens"),
        )


def viewers_come_beside_operators(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A console that only viewers have keys for has nobody who may change anything."""
    console = settings.console
    if console.viewer_keys_sha256 and not console.operator_keys_sha256:
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


def tls_is_whole(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A certificate and its key come together, and both files exist."""
    given = {"tls_certificate": settings.gateway.tls_certificate, "tls_key": settings.gateway.tls_key}
    for name, partner in (("tls_certificate", "tls_key"), ("tls_key", "tls_certificate")):
        file = given[name]
        if file is None:
            if given[partner] is not None:
                yield SettingProblem(
                    path=f"gateway.{name}",
                    message=f"required, because gateway.{partner} is set",
                    rests_on=(f"gateway.{partner}",),
                )
        elif not Path(file).is_file():
            yield SettingProblem(path=f"gateway.{name}", message=f'no file "{file}"')


def the_default_deadline_is_allowed(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """The deadline given to everyone is one they could have asked for."""
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


CHECKS: tuple[Check, ...] = (
    an_open_gateway_has_keys,
    an_open_console_has_operators,
    viewers_come_beside_operators,
    tls_is_whole,
    the_default_deadline_is_allowed,
    one_body_fits_among_all,
    pool_checks.there_are_pools,
    pool_checks.pool_names_fit_a_header,
    pool_checks.a_pool_has_one_origin,
    pool_checks.weights_can_be_trusted,
    pool_checks.weights_meet_an_engine_that_starts_here,
    pool_checks.only_replicas_started_here_are_counted,
    pool_checks.upstream_keys_are_present,
    pool_checks.replica_urls_can_be_called,
    pool_checks.key_origins_are_origins,
    pool_checks.chat_templates_exist,
    pool_checks.one_model_has_one_purpose,
    pool_checks.a_pool_is_paid_one_way,
    pool_checks.a_replica_limit_can_be_reached,
    pool_checks.accelerator_urls_can_be_called,
    kv_checks.kv_events_can_be_read,
    kv_checks.kv_events_come_from_an_engine_that_publishes_them,
    kv_checks.kv_endpoints_can_be_reached,
    kv_checks.no_two_publishers_are_at_one_endpoint,
    adapter_checks.adapters_meet_an_engine_that_takes_them,
    adapter_checks.adapter_names_are_free,
    hardware_checks.hardware_facts_can_be,
    hardware_checks.hardware_is_known,
    memory_checks.a_model_fits_its_hardware,
    model_checks.a_model_is_served,
    model_checks.pools_of_a_model_serve_it,
    model_checks.aliases_are_free,
    model_checks.fallbacks_can_answer,
    model_checks.fallbacks_come_to_an_end,
    tier_checks.tiers_are_known,
    tier_checks.degraded_models_can_answer,
    alert_checks.webhooks_can_be_called,
    tracing_checks.traces_can_be_encoded,
    tracing_checks.the_collector_can_be_called,
    tracing_checks.headers_for_the_collector_are_present,
    place_checks.regions_have_pools,
    place_checks.hardware_of_models_is_known,
    place_checks.labels_have_pools,
    place_checks.preferences_are_within_requirements,
    place_checks.a_model_may_be_served_somewhere,
    policy_checks.policies_are_known,
    policy_checks.a_policy_has_what_it_goes_by,
    policy_checks.weights_of_a_mix_can_be,
    policy_checks.only_an_slo_can_be_late,
    policy_checks.slos_can_be_met,
)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a listener on `host`."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
