"""Every step of the database's shape in order, and which of them a database still lacks."""

from collections.abc import Iterable

from heterodyne.domain.errors import StoreInvalid
from heterodyne.stores.sql.migration import Migration
from heterodyne.stores.sql.schema.books_2 import BOOKS_2
from heterodyne.stores.sql.schema.history_3 import HISTORY_3
from heterodyne.stores.sql.schema.tenants_1 import TENANTS_1

MIGRATIONS: tuple[Migration, ...] = (TENANTS_1, BOOKS_2, HISTORY_3)

__all__ = ["MIGRATIONS", "Migration", "check_numbers", "missing"]


def missing(migrations: tuple[Migration, ...], applied: Iterable[tuple[int, str]], where: str) -> tuple[Migration, ...]:
    """The steps that are not in `applied`; raises when the database went another way, or further."""
    check_numbers(migrations)
    known = {migration.number: migration.name for migration in migrations}
    seen = dict(applied)
    newest = max(seen, default=0)
    if newest > len(migrations):
        raise StoreInvalid(
            f"{where} has the shape {newest}, written by a newer Heterodyne; this one knows shapes up to "
            f"{len(migrations)}. Run the newer version, or name another database in `stores.url`."
        )
    for number, name in seen.items():
        if known.get(number) != name:
            raise StoreInvalid(
                f'{where} calls its shape {number} "{name}", and this version "{known.get(number)}": '
                "it was made by another program. Name another database in `stores.url`."
            )
    return tuple(migration for migration in migrations if migration.number not in seen)


def check_numbers(migrations: tuple[Migration, ...]) -> None:
    """Numbers count from 1: a gap would be taken for a step that somebody has still to write."""
    assert [migration.number for migration in migrations] == list(range(1, len(migrations) + 1))
