"""How the supervisor hands its workers the tenants: a file for each version, as there may be too many for an order."""

from pathlib import Path

import msgspec

from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.telemetry import log
from heterodyne.telemetry.run_files import try_write

_log = log.get("assembly")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(TenantSnapshot).decode


def try_write_tenants(run_dir: Path, tenants: TenantSnapshot) -> bool:
    """Write them down; False: the disk does not take them. Workers may still read the one before, and no older one.

    Versions have gaps: a change of another gateway may be read together with the next.
    """
    if not try_write(run_dir / tenants_name(tenants), _encode(tenants), "tenants"):
        return False
    name = tenants_name(tenants)
    others = sorted((path for path in run_dir.glob("tenants-*.bin") if path.name != name), key=_version)
    for old in others[:-1]:
        try:
            old.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("tenants_not_removed", file=old.name, error=str(error))
    return True


def tenants_name(tenants: TenantSnapshot) -> str:
    """What the file of these is called."""
    return f"tenants-{tenants.version}.bin"


def read_tenants(run_dir: Path, name: str) -> TenantSnapshot:
    """What the supervisor left under this name; empty: no tenants are kept."""
    return _decode((run_dir / name).read_bytes()) if name else TenantSnapshot()


def _version(path: Path) -> int:
    return int(path.stem.partition("-")[2])
