"""How the supervisor hands its workers the tenants: a file for each version, as there may be too many for an order."""

from pathlib import Path

import msgspec

from heterodyne.domain.tenant import TenantSnapshot

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(TenantSnapshot).decode


def leave_tenants(run_dir: Path, tenants: TenantSnapshot) -> str:
    """Write them down; the name of the file. Workers may still read the one before, and no older one.

    Versions have gaps: a change of another gateway may be read together with the next.
    """
    name = _name(tenants.version)
    unready = run_dir / f"{name}.unready"
    unready.write_bytes(_encode(tenants))
    unready.chmod(0o600)
    unready.replace(run_dir / name)
    left = sorted(run_dir.glob("tenants-*.bin"), key=_version)
    for old in left[:-2]:
        old.unlink(missing_ok=True)
    return name


def read_tenants(run_dir: Path, name: str) -> TenantSnapshot:
    """What the supervisor left under this name; empty: nobody keeps tenants."""
    return _decode((run_dir / name).read_bytes()) if name else TenantSnapshot()


def _name(version: int) -> str:
    return f"tenants-{version}.bin"


def _version(path: Path) -> int:
    return int(path.stem.partition("-")[2])
