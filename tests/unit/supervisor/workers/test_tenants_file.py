"""Tenants on their way to the workers."""

from pathlib import Path

from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.supervisor.workers.tenants_file import read_tenants, tenants_name, try_write_tenants
from tests.support.tenants import caller, tenants


def test_workers_read_what_was_left(tmp_path: Path) -> None:
    snapshot = tenants(one=caller(), two=caller("acme/other"))
    assert try_write_tenants(tmp_path, snapshot)
    assert read_tenants(tmp_path, tenants_name(snapshot)) == snapshot
    assert read_tenants(tmp_path, "") == TenantSnapshot()


def test_a_worker_may_still_read_the_one_before_whatever_its_version(tmp_path: Path) -> None:
    versions = [TenantSnapshot(version=version) for version in (5, 9, 10, 23)]
    assert all(try_write_tenants(tmp_path, one) for one in versions)
    names = [tenants_name(one) for one in versions]
    assert read_tenants(tmp_path, names[-1]).version == 23
    assert read_tenants(tmp_path, names[-2]).version == 10
    assert {path.name for path in tmp_path.iterdir()} == set(names[-2:])


def test_nobody_else_may_read_them(tmp_path: Path) -> None:
    assert try_write_tenants(tmp_path, TenantSnapshot(version=1))
    assert (tmp_path / "tenants-1.bin").stat().st_mode & 0o777 == 0o600
