"""What versions before blocks wrote of a request: a row of its own."""

from datetime import UTC, datetime

from msgspec.structs import asdict

from heterodyne.domain.usage import UsageRecord
from heterodyne.stores.sql.books.old_rows import COLUMNS, MICRO


def old_row(record: UsageRecord) -> tuple[object, ...]:
    """In the order of COLUMNS."""
    fields = asdict(record) | {
        "day": datetime.fromtimestamp(record.at, UTC).strftime("%Y-%m-%d"),
        "class": record.urgency,
        "replica_us": round(record.replica_s * MICRO),
    }
    return tuple(fields[column] for column in COLUMNS)


def insert(table: str, columns: tuple[str, ...], place: str) -> str:
    """The statement; a place is `?{}` or `${}`."""
    places = ", ".join(place.format(number) for number in range(1, len(columns) + 1))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"
