"""Reads the fitted cascades that the settings name."""

from collections.abc import Mapping
from pathlib import Path

from heterodyne.domain.errors import InvalidSpec
from heterodyne.gateway.cascades.cascade import Cascade
from heterodyne.routing.cascade.fitted_cascade import FittedCascade, decoded
from heterodyne.routing.cascade.settings import CascadeSettings
from heterodyne.telemetry import log

_log = log.get("gateway")


def read_fitted(path: str) -> FittedCascade:
    """Raises InvalidSpec for a file that is not there, or is none."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InvalidSpec(f"{path}: {error.strerror or error}") from error
    return decoded(path, data)


def read_cascades(settings: Mapping[str, CascadeSettings]) -> dict[str, Cascade]:
    """By the name that is asked for; of one whose file has gone bad while it served, the big model answers all."""
    found: dict[str, Cascade] = {}
    for name, one in settings.items():
        try:
            found[name] = Cascade(name, one, read_fitted(one.fitted))
        except InvalidSpec as error:
            _log.error("cascade_unreadable", cascade=name, reason=error.message)
    return found
