"""What the autoscaler knows across restarts: weeks of demand, measured starts, its last decisions, what is paused."""

import os
from collections import deque
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.console.scaling.pages import DecisionRow
from heterodyne.planning.scaling.state import ScalingState
from heterodyne.supervisor.gateways.gateway_report import Pause
from heterodyne.telemetry import log

DECISIONS_MAX = 500
MODELS_MAX = 200

_log = log.get("assembly")


class _Kept(Struct, frozen=True, kw_only=True):
    states: dict[str, ScalingState] = {}
    decisions: tuple[DecisionRow, ...] = ()
    paused: tuple[str, ...] = ()  # as earlier versions wrote it
    pauses: dict[str, Pause] = {}


class ScalingMemory:
    """One per supervisor. A file that cannot be read is begun anew; one that cannot be written is only logged."""

    def __init__(self, file: Path) -> None:
        self._file = file
        kept = _read(file)
        self.states = dict(kept.states)
        self.decisions: deque[DecisionRow] = deque(kept.decisions, DECISIONS_MAX)
        self.pauses = dict.fromkeys(kept.paused, Pause(is_paused=True, at_s=0.0)) | kept.pauses

    @property
    def paused(self) -> set[str]:
        """Models of which nothing is carried out."""
        return {model for model, one in self.pauses.items() if one.is_paused}

    def take_pauses(self, pauses: Mapping[str, Pause]) -> None:
        """Of each model the latest word holds, in whatever order they are heard."""
        for model, one in pauses.items():
            known = self.pauses.get(model)
            if (known is None and len(self.pauses) < MODELS_MAX) or (
                known is not None and (one.at_s, one.is_paused) > (known.at_s, known.is_paused)
            ):
                self.pauses[model] = one

    def save(self) -> None:
        """Blocking, and short."""
        models = list(self.states.items())[-MODELS_MAX:]
        kept = _Kept(states=dict(models), decisions=tuple(self.decisions), pauses=self.pauses)
        beside = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(msgspec.msgpack.encode(kept))
            beside.replace(self._file)
        except OSError as error:
            _log.warning("scaling_not_kept", file=str(self._file), error=str(error))


def _read(file: Path) -> _Kept:
    try:
        return msgspec.msgpack.decode(file.read_bytes(), type=_Kept)
    except FileNotFoundError:
        return _Kept()
    except (OSError, msgspec.DecodeError) as error:
        _log.warning("scaling_begins_anew", file=str(file), error=str(error))
        return _Kept()
