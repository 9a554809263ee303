"""What is kept of abuse over a restart: cases, what was lifted, and what keys usually spend. Nothing of prompts."""

from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.console.abuse.pages import AbuseCase
from heterodyne.safety.abuse.cost_anomaly import SavedSpending
from heterodyne.telemetry import log
from heterodyne.telemetry.run_files import try_write

_log = log.get("abuse")


class KeptAbuse(Struct, frozen=True):
    """The whole file."""

    cases: tuple[AbuseCase, ...] = ()
    quiet: dict[str, dict[str, float]] = {}  # by policy and key, until when
    spending: tuple[SavedSpending, ...] = ()


_decode = msgspec.msgpack.Decoder(KeptAbuse).decode


def read_kept(path: Path) -> KeptAbuse:
    """Nothing where there is no file, or none that can be read."""
    try:
        return _decode(path.read_bytes())
    except FileNotFoundError:
        return KeptAbuse()
    except (OSError, msgspec.DecodeError) as error:
        _log.warning("abuse_forgotten", file=str(path), error=str(error), then="keys are judged from now on")
        return KeptAbuse()


def write_kept(path: Path, kept: KeptAbuse) -> bool:
    """Whether the disk took it; one that did not is tried again with what is newer."""
    return try_write(path, msgspec.msgpack.encode(kept), "abuse")
