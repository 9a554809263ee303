"""Pure: which of the new settings hold at once, and which wait for a restart."""

from collections.abc import Mapping

from msgspec import Struct, structs

from heterodyne.config.checks.catalogue import CHECKS
from heterodyne.config.fields import dotted
from heterodyne.config.problems import SettingsProblems
from heterodyne.config.settings import Settings

# What was opened with them stays open: sockets, processes, files, pools of connections.
RESTART_SECTIONS = ("sign_in", "stores", "books", "audit", "telemetry")
RESTART_FIELDS = {
    "gateway": (
        "host",
        "port",
        "workers",
        "tls_certificate",
        "tls_key",
        "tls_version_min",
        "tls_client_authorities",
        "tls_client_revoked",
        "connect_timeout_s",
        "engine_connections_idle_max",
        "files_url",
        "files_regions",
    ),
    "fleet": ("keda_host", "keda_port"),
    "alerts": ("is_on", "webhooks"),
    "console": ("listens", "host", "port", "host_names", "is_behind_tls", "tls_certificate", "tls_key"),
    "endpoint_picker": (
        "listens",
        "host",
        "port",
        "tls_certificate",
        "tls_key",
        "tls_client_authorities",
        "streams_max",
    ),
}


def needs_restart(began: Settings, new: Settings) -> tuple[str, ...]:
    """The settings that differ from those it was started with, and do not change before a restart."""
    return tuple(
        dotted(section, name)
        for section, names in _lasting(began).items()
        for name in names
        if getattr(getattr(began, section), name) != getattr(getattr(new, section), name)
    )


def merged_settings(running: Settings, new: Settings, environment: Mapping[str, str]) -> Settings:
    """The new settings, with what lasts as it runs; raises where the two do not go together.

    A file that turns the console off and drops its keys is good by itself; it is on until the restart, so its keys
    stay.
    """
    merged = structs.replace(
        new,
        **{
            section: _with_lasting(getattr(running, section), getattr(new, section), names)
            for section, names in _lasting(running).items()
        },
    )
    problems = tuple(problem for check in CHECKS for problem in check(merged, environment))
    if problems:
        raise SettingsProblems(problems)
    return merged


def _lasting(settings: Settings) -> dict[str, tuple[str, ...]]:
    whole = {name: getattr(settings, name).__struct_fields__ for name in RESTART_SECTIONS}
    return {**RESTART_FIELDS, **whole}


def _with_lasting(running: Struct, new: Struct, names: tuple[str, ...]) -> Struct:
    return structs.replace(new, **{name: getattr(running, name) for name in names})
