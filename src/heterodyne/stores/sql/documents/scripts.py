"""The statements about documents, for either database. Each names the project, so that no other's is ever met; those
that do not are asked by the supervisor alone."""

from collections.abc import Iterable, Sequence

from msgspec import structs

from heterodyne.domain.errors import BodyTooLarge
from heterodyne.ports.document_store import Document, DocumentQuery
from heterodyne.stores.sql.books.conditions import Conditions
from heterodyne.stores.sql.script import Row, Script, Statement

FIELDS = Document.__struct_fields__
COLUMNS = ", ".join(FIELDS)
ROWS_AT_ONCE = 50  # added or deleted by one statement

# Ids first and bodies once at the end. A circle ends at $5, and has each of its documents once.
FOLLOWED = """
    WITH RECURSIVE followed (id, parent, depth) AS (
        SELECT id, parent, 1 FROM documents WHERE id = $1 AND project = $2 AND kind = $3 AND expires_at > $4
        UNION ALL
        SELECT one.id, one.parent, followed.depth + 1 FROM followed JOIN documents AS one ON one.id = followed.parent
        WHERE one.project = $2 AND one.kind = $3 AND one.expires_at > $4 AND followed.depth < $5
    ), nearest (link, distance) AS (SELECT id, MIN(depth) FROM followed GROUP BY id)
"""
CHAIN = f"{FOLLOWED} SELECT {COLUMNS} FROM nearest JOIN documents ON id = link ORDER BY distance DESC"  # noqa: S608
CHAIN_BYTES = f"{FOLLOWED} SELECT SUM(LENGTH(body)) FROM nearest JOIN documents ON id = link"  # noqa: S608  # both are ours


class IdTaken(Exception):
    """A document of this id is there; raised in a script, it leaves the transaction undone."""


def add(documents: Sequence[Document]) -> Script[None]:
    """Raises IdTaken."""
    for start in range(0, len(documents), ROWS_AT_ONCE):
        some = documents[start : start + ROWS_AT_ONCE]
        added = yield Statement(
            f"INSERT INTO documents ({COLUMNS}) VALUES {_places(len(some))} "  # noqa: S608  # columns of ours
            "ON CONFLICT DO NOTHING RETURNING id",
            tuple(value for document in some for value in structs.astuple(document)),
        )
        if len(added) < len(some):
            raise IdTaken


def append(documents: Sequence[Document], now: float) -> Script[bool]:
    """Whether the parent is there; raises IdTaken."""
    project, kind, parent = documents[0].project, documents[0].kind, documents[0].parent
    assert all((one.project, one.kind, one.parent) == (project, kind, parent) for one in documents)
    # The parent's row is held until the end of the transaction: others who append wait, and see these places taken.
    held = yield Statement(
        "UPDATE documents SET revision = revision + 1 WHERE id = $1 AND project = $2 AND expires_at > $3 RETURNING id",
        (_asked(parent), project, now),
    )
    if not held:
        return False
    last = yield Statement(
        "SELECT place FROM documents WHERE project = $1 AND kind = $2 AND parent = $3 ORDER BY place DESC LIMIT 1",
        (project, kind, parent),
    )
    first = last[0][0] + 1 if last else 0
    yield from add([structs.replace(one, place=place) for place, one in enumerate(documents, first)])
    return True


def replace(document: Document) -> Script[bool]:
    replaced = yield Statement(
        "UPDATE documents SET revision = $1, expires_at = $2, body = $3 "
        "WHERE id = $4 AND project = $5 AND kind = $6 AND revision = $7 RETURNING id",
        (
            document.revision,
            document.expires_at,
            document.body,
            _asked(document.id),
            document.project,
            document.kind,
            document.revision - 1,
        ),
    )
    return bool(replaced)


def get(project: str, kind: str, id: str, now: float) -> Script[Document | None]:
    rows = yield Statement(
        f"SELECT {COLUMNS} FROM documents "  # noqa: S608  # columns of ours
        "WHERE id = $1 AND project = $2 AND kind = $3 AND expires_at > $4",
        (_asked(id), project, kind, now),
    )
    return next(iter(_documents(rows)), None)


def get_many(kind: str, ids: Sequence[str], now: float) -> Script[tuple[Document, ...]]:
    found: tuple[Document, ...] = ()
    for start in range(0, len(ids), ROWS_AT_ONCE):
        some = ids[start : start + ROWS_AT_ONCE]
        rows = yield Statement(
            f"SELECT {COLUMNS} FROM documents "  # noqa: S608  # columns and places of ours
            f"WHERE kind = $1 AND expires_at > $2 AND id IN ({_numbers(3, len(some))})",
            (kind, now, *map(_asked, some)),
        )
        found += _documents(rows)
    return found


def chain(project: str, kind: str, id: str, now: float, *, most: int, bytes_max: int) -> Script[tuple[Document, ...]]:
    """Raises BodyTooLarge."""
    values = (_asked(id), project, kind, now, most)
    [(size,)] = yield Statement(CHAIN_BYTES, values)
    _check_size(size, bytes_max)
    rows = yield Statement(CHAIN, values)
    return _documents(rows)


def page(query: DocumentQuery) -> Script[tuple[Document, ...]]:
    order = ("created_at", "place", "id") if query.parent is None else ("place", "created_at", "id")
    conditions = Conditions()
    conditions.add("project = {} AND kind = {}", query.project, query.kind)
    if query.parent is not None:
        conditions.add("parent = {}", _asked(query.parent))
    if query.after:
        # Apart from the page: only from values that are known does PostgreSQL find its way into the index.
        where, last = conditions.sql(), f"${len(conditions.values) + 1}"
        seen = yield Statement(
            f"SELECT {', '.join(order)} FROM documents {where} AND id = {last}",  # noqa: S608  # ours
            (*conditions.values, _asked(query.after)),
        )
        if not seen:
            return ()
        beyond = "<" if query.is_descending else ">"
        conditions.add(f"({', '.join(order)}) {beyond} ({{}}, {{}}, {{}})", *seen[0])
    conditions.add("expires_at > {}", query.now)
    where, limit = conditions.sql(), conditions.place(query.limit)
    sorting = ", ".join(f"{column} DESC" if query.is_descending else column for column in order)
    if query.bytes_max is not None:
        bodies = f"SELECT body FROM documents {where} ORDER BY {sorting} LIMIT {limit}"  # noqa: S608  # ours
        [(size,)] = yield Statement(f"SELECT SUM(LENGTH(body)) FROM ({bodies}) AS bodies", conditions.values)  # noqa: S608
        _check_size(size, query.bytes_max)
    rows = yield Statement(
        f"SELECT {COLUMNS} FROM documents {where} ORDER BY {sorting} LIMIT {limit}",  # noqa: S608  # ours
        conditions.values,
    )
    return _documents(rows)


def delete(project: str, kind: str, id: str) -> Script[bool]:
    deleted = yield Statement(
        "DELETE FROM documents WHERE id = $1 AND project = $2 AND kind = $3 RETURNING id", (_asked(id), project, kind)
    )
    return bool(deleted)


def delete_children(project: str, kind: str, parent: str) -> Script[int]:
    deleted = yield Statement(
        "DELETE FROM documents WHERE project = $1 AND kind = $2 AND parent = $3 RETURNING id",
        (project, kind, _asked(parent)),
    )
    return len(deleted)


def prolong(project: str, ids: Iterable[str], expires_at: float) -> Script[None]:
    # One after the other and in order: of two who prolong the same, neither holds what the other waits for.
    for id in sorted(set(ids)):
        yield Statement(
            "UPDATE documents SET expires_at = $1 WHERE id = $2 AND project = $3 AND expires_at < $1",
            (expires_at, _asked(id), project),
        )


def known(ids: Sequence[str], now: float) -> Script[frozenset[str]]:
    found: list[str] = []
    for start in range(0, len(ids), ROWS_AT_ONCE):
        some = ids[start : start + ROWS_AT_ONCE]
        rows = yield Statement(
            f"SELECT id FROM documents WHERE expires_at > $1 AND id IN ({_numbers(2, len(some))})",  # noqa: S608  # places
            (now, *map(_asked, some)),
        )
        found += [id for (id,) in rows]
    return frozenset(found)


def forget(before_at: float, most: int) -> Script[int]:
    # One statement for both would have PostgreSQL look for the same ids again for each row that has expired.
    rows = yield Statement(
        "SELECT id FROM documents WHERE expires_at < $1 ORDER BY expires_at LIMIT $2", (before_at, most)
    )
    count = 0
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = tuple(id for (id,) in rows[start : start + ROWS_AT_ONCE])
        gone = yield Statement(
            f"DELETE FROM documents WHERE expires_at < $1 AND id IN ({_numbers(2, len(some))}) RETURNING id",  # noqa: S608
            (before_at, *some),  # the time once more: one that was prolonged meanwhile is kept
        )
        count += len(gone)
    return count


def _check_size(size: int | None, bytes_max: int) -> None:
    if (size or 0) > bytes_max:
        raise BodyTooLarge(f"What it follows has {size} bytes; the limit is {bytes_max}.")


def _numbers(first: int, count: int) -> str:
    """The places of so many values."""
    return ", ".join(f"${number}" for number in range(first, first + count))


def _places(rows: int) -> str:
    """The places of the values of so many rows."""
    numbers = range(1, rows * len(FIELDS) + 1, len(FIELDS))
    return ", ".join(f"({', '.join(f'${first + offset}' for offset in range(len(FIELDS)))})" for first in numbers)


def _asked(id: str) -> str:
    """An id as a client wrote it, in characters that a database takes; those of documents have no others."""
    return id.encode(errors="replace").decode().replace("\x00", "\ufffd")


def _documents(rows: Iterable[Row]) -> tuple[Document, ...]:
    return tuple(Document(**dict(zip(FIELDS, row, strict=True))) for row in rows)
