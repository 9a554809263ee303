"""Rows of the database as a person at a terminal asks for them: as it stands, and nothing is made or migrated."""

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from heterodyne.stores.open_store import sqlite_path
from heterodyne.stores.probe import POSTGRES_TIMEOUT_S

Rows = Sequence[Sequence[Any]]


async def read_rows(url: str, environ: Mapping[str, str], *queries: str) -> tuple[Rows, ...] | None:
    """Of each query; None where there is no such database or table, or it cannot be read, which `probe` tells of."""
    if url.startswith("sqlite:"):
        return await asyncio.to_thread(_of_file, sqlite_path(url, environ), queries)
    try:
        import asyncpg  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    try:
        connection: Any = await asyncpg.connect(url, timeout=POSTGRES_TIMEOUT_S)
        try:
            return tuple([await connection.fetch(query, timeout=POSTGRES_TIMEOUT_S) for query in queries])
        finally:
            await connection.close(timeout=POSTGRES_TIMEOUT_S)
    except (OSError, asyncpg.InterfaceError, asyncpg.PostgresError, ValueError):
        return None


def _of_file(path: Path, queries: Sequence[str]) -> tuple[Rows, ...] | None:
    if not path.exists():
        return None
    try:
        connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)
        try:
            return tuple(connection.execute(query).fetchall() for query in queries)
        finally:
            connection.close()
    except sqlite3.Error:
        return None
