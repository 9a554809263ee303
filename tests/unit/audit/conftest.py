"""A log of three segments, and its key."""

from pathlib import Path

import pytest

from heterodyne.audit.key import AuditKey
from tests.support.audits import fill, new_key


@pytest.fixture
def key() -> AuditKey:
    return new_key()


@pytest.fixture
def folder(tmp_path: Path, key: AuditKey) -> Path:
    """Its entries are numbered from 1, the first of each segment tells that it begins."""
    path = tmp_path / "audit"
    fill(path, key, 22)
    return path
