"""Whether the process may open as many files as the settings allow connections."""

import resource

from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.gateway.settings import GatewaySettings

RESERVED = 256  # logs, libraries, the event loop, idle connections to replicas


def file_descriptors(settings: GatewaySettings) -> DoctorFinding:
    """Each client connection can need one more towards a replica."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * settings.connections_max + RESERVED
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return DoctorFinding(topic="limits", name="open files", state=FindingState.GOOD, value=_in_words(soft))
    return DoctorFinding(
        topic="limits",
        name="open files",
        state=FindingState.WARNING,
        value=f"{soft}; {settings.connections_max} connections may need {needed}",
        advice=f"ulimit -n {needed}, or lower gateway.connections_max",
    )


def _in_words(count: int) -> str:
    return "unlimited" if count == resource.RLIM_INFINITY else str(count)
