"""One step forward of the database's shape, in both dialects, and which steps a database still lacks."""

from collections.abc import Iterable

from msgspec import Struct

from heterodyne.domain.errors import StoreInvalid


class Migration(Struct, frozen=True, kw_only=True):
    """Adds and never takes away, so that gateways of the version before go on serving beside it."""

    number: int  # from 1, without gaps
    name: str
    sqlite: tuple[str, ...]  # statements
    postgres: tuple[str, ...]


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
    """Numbers count from 1: a gap would be taken for a step that is still to be written."""
    assert [migration.number for migration in migrations] == list(range(1, len(migrations) + 1))
