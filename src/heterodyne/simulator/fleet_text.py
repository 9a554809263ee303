"""A planned fleet as the file that `simulate` and `plan config` read."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from heterodyne.domain.errors import InvalidSpec
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool

HEADER = """\
# A planned fleet. `heterodyne simulate --fleet FILE` says how much of the promise it keeps,
# `heterodyne plan config --fleet FILE` writes its launches, its pools and its manifests.
"""


def pool_name(kind: str) -> str:
    """`h100-sxm x2 spot` as the name of a pool."""
    return re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")


def fleet_text(fleet: FleetFile) -> str:
    """TOML that `read_fleet` reads back as the same fleet."""
    lines = [HEADER]
    if fleet.promise is not None:
        lines += ["[promise]", *_fields(msgspec.to_builtins(fleet.promise), {}), ""]
    usual = msgspec.to_builtins(SimulatedPool(model="-", hardware="-"))
    for name, pool in fleet.pools.items():
        lines += [f"[pools.{name}]", *_fields(msgspec.to_builtins(pool), usual), ""]
    for name, store in fleet.kv_stores.items():
        lines += [f"[kv_stores.{name}]", *_fields(msgspec.to_builtins(store), {"regions": ()}), ""]
    return "\n".join(lines)


def write_fleet(fleet: FleetFile, file: Path) -> None:
    """Raises `InvalidSpec` where it cannot be written."""
    try:
        file.write_text(fleet_text(fleet), encoding="utf-8")
    except OSError as error:
        raise InvalidSpec(f"{file}: cannot be written: {error.strerror}") from error


def _fields(fields: Mapping[str, object], usual: Mapping[str, object]) -> Iterator[str]:
    """Those that are not what they would be without a word; TOML has no null."""
    for name, value in fields.items():
        is_said = name in ("model", "hardware", "tp", "engine", "replicas")
        if value is not None and (is_said or name not in usual or value != usual[name]):
            yield f"{name} = {_value(value)}"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_value(one)}' for name, one in value.items())} }}"
    # Strings, numbers and booleans are written in TOML as they are in JSON.
    return msgspec.json.encode(round(value, 6) if isinstance(value, float) else value).decode()
