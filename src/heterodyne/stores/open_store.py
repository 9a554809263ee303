"""Opens the database that a URL names; PostgreSQL's driver is imported only for it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from heterodyne.domain.errors import StoreInvalid
from heterodyne.ports.books import BookStore
from heterodyne.ports.document_store import DocumentStore
from heterodyne.ports.model_store import ModelStore
from heterodyne.ports.policy_store import PolicyStore
from heterodyne.ports.rollout_store import RolloutStore
from heterodyne.stores.sql.tenants.sql_tenants import SqlTenants
from heterodyne.stores.sqlite.books import SqliteBooks
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.stores.sqlite.documents import SqliteDocuments
from heterodyne.stores.sqlite.models import SqliteModels
from heterodyne.stores.sqlite.policies import SqlitePolicies
from heterodyne.stores.sqlite.rollouts import SqliteRollouts
from heterodyne.stores.sqlite.tenants import SqliteTenants

if TYPE_CHECKING:
    from heterodyne.stores.postgres.database import PostgresDatabase
    from heterodyne.stores.postgres.prompts import PgvectorPrompts

FILE_NAME = "heterodyne.db"
POSTGRES_SCHEMES = ("postgresql://", "postgres://")
DRIVER_MISSING = (
    "`stores.url` names a PostgreSQL database, whose driver is not installed: pip install 'heterodyne[postgres]'."
)


async def open_database(url: str, environ: Mapping[str, str]) -> "SqliteDatabase | PostgresDatabase":
    """Migrated and ready; its opener closes it."""
    if url.startswith("sqlite:"):
        return await SqliteDatabase.open(sqlite_path(url, environ))
    if url.startswith(POSTGRES_SCHEMES):
        try:
            from heterodyne.stores.postgres.database import PostgresDatabase  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise StoreInvalid(DRIVER_MISSING) from error
        return await PostgresDatabase.open(url)
    raise unknown_scheme(url)


def open_prompts(url: str) -> "PgvectorPrompts":
    """Where prompts of semantic caches are shared; it is not connected yet."""
    try:
        from heterodyne.stores.postgres.prompts import PgvectorPrompts  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise StoreInvalid(DRIVER_MISSING.replace("stores.url", "stores.prompts_url")) from error
    return PgvectorPrompts(url)


def unknown_scheme(url: str) -> StoreInvalid:
    """The error for a URL of another kind; it is not repeated, for it may hold a password."""
    scheme = url.partition(":")[0][:20]
    return StoreInvalid(f'`stores.url` begins with "{scheme}:"; it is sqlite:PATH or postgresql://USER@HOST/NAME.')


def tenants_in(database: "SqliteDatabase | PostgresDatabase") -> SqlTenants:
    """The tenant store in an open database."""
    if isinstance(database, SqliteDatabase):
        return SqliteTenants(database)
    from heterodyne.stores.postgres.tenants import PostgresTenants  # noqa: PLC0415 - an extra

    return PostgresTenants(database)


def books_in(database: "SqliteDatabase | PostgresDatabase") -> BookStore:
    """The books in an open database."""
    if isinstance(database, SqliteDatabase):
        return SqliteBooks(database)
    from heterodyne.stores.postgres.books import PostgresBooks  # noqa: PLC0415 - an extra

    return PostgresBooks(database)


def models_in(database: "SqliteDatabase | PostgresDatabase") -> ModelStore:
    """The registry of models in an open database."""
    if isinstance(database, SqliteDatabase):
        return SqliteModels(database)
    from heterodyne.stores.postgres.models import PostgresModels  # noqa: PLC0415 - an extra

    return PostgresModels(database)


def rollouts_in(database: "SqliteDatabase | PostgresDatabase") -> RolloutStore:
    """Rollouts in an open database."""
    if isinstance(database, SqliteDatabase):
        return SqliteRollouts(database)
    from heterodyne.stores.postgres.rollouts import PostgresRollouts  # noqa: PLC0415 - an extra

    return PostgresRollouts(database)


def policies_in(database: "SqliteDatabase | PostgresDatabase") -> PolicyStore:
    """What guards, caches and cascades did, in an open database."""
    if isinstance(database, SqliteDatabase):
        return SqlitePolicies(database)
    from heterodyne.stores.postgres.policies import PostgresPolicies  # noqa: PLC0415 - an extra

    return PostgresPolicies(database)


def documents_in(database: "SqliteDatabase | PostgresDatabase") -> DocumentStore:
    """Documents in an open database."""
    if isinstance(database, SqliteDatabase):
        return SqliteDocuments(database)
    from heterodyne.stores.postgres.documents import PostgresDocuments  # noqa: PLC0415 - an extra

    return PostgresDocuments(database)


def sqlite_path(url: str, environ: Mapping[str, str]) -> Path:
    """The file of a `sqlite:` URL; without a path it is under the user's state folder."""
    path = url.removeprefix("sqlite:").removeprefix("//")
    if path:
        return Path(path).expanduser()
    return state_folder(environ) / FILE_NAME


def state_folder(environ: Mapping[str, str]) -> Path:
    """Where this user's programs keep what must survive."""
    configured = environ.get("XDG_STATE_HOME")
    return (Path(configured) if configured else Path.home() / ".local" / "state") / "heterodyne"
