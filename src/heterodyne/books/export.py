"""Records as CSV, JSON lines or Parquet, written page by page as they come."""

import csv
import io
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, BinaryIO, Protocol

import msgspec

from heterodyne.domain.errors import OperatorError
from heterodyne.domain.usage import UsageRecord

# The columns of every format. A request's class is called that outside Python.
NAMES = tuple("class" if field.name == "urgency" else field.name for field in msgspec.structs.fields(UsageRecord))

Fields = dict[str, Any]


class ExportFormat(StrEnum):
    """What records can be written as."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class PyarrowMissing(OperatorError):
    """Parquet was asked for, and what writes it is not installed."""

    code = "pyarrow_missing"


class Export(Protocol):
    """A file that is being written; `close` makes it whole."""

    def add(self, records: Sequence[Fields]) -> None: ...

    def close(self) -> None: ...


def record_fields(record: UsageRecord) -> Fields:
    """A record by the names of its columns."""
    return dict(zip(NAMES, msgspec.structs.astuple(record), strict=True))


def open_export(kind: ExportFormat, file: BinaryIO) -> Export:
    """Records in this format, to a file that is the caller's."""
    match kind:
        case ExportFormat.CSV:
            return CsvExport(file)
        case ExportFormat.JSONL:
            return JsonlExport(file)
        case ExportFormat.PARQUET:
            return ParquetExport(file)


class CsvExport:
    """With a line of names; what is absent is empty."""

    def __init__(self, file: BinaryIO) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        self._writer = csv.DictWriter(self._text, NAMES, lineterminator="\n")
        self._writer.writeheader()

    def add(self, records: Sequence[Fields]) -> None:
        self._writer.writerows(records)

    def close(self) -> None:
        self._text.detach()


class JsonlExport:
    """One object in a line."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def add(self, records: Sequence[Fields]) -> None:
        self._file.write(msgspec.json.Encoder().encode_lines(list(records)))

    def close(self) -> None:
        self._file.flush()


class ParquetExport:
    """Columns with types; a row group for each page."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            import pyarrow  # noqa: PLC0415  # an extra
            import pyarrow.parquet  # noqa: PLC0415
        except ImportError as error:
            raise PyarrowMissing(
                "Parquet is written by pyarrow, which is not installed: pip install 'heterodyne[parquet]', "
                "or choose csv or jsonl."
            ) from error
        types = {"str": pyarrow.string(), "int": pyarrow.int64(), "float": pyarrow.float64(), "bool": pyarrow.bool_()}
        self._schema = pyarrow.schema([(name, types[kind]) for name, kind in zip(NAMES, _kinds(), strict=True)])
        self._table = pyarrow.Table
        self._writer = pyarrow.parquet.ParquetWriter(file, self._schema, compression="zstd")

    def add(self, records: Sequence[Fields]) -> None:
        self._writer.write_table(self._table.from_pylist(list(records), self._schema))

    def close(self) -> None:
        self._writer.close()


def _kinds() -> list[str]:
    """The plain type of each column; what may be absent is null there."""
    return [
        field.type.__name__ if isinstance(field.type, type) else "float"
        for field in msgspec.structs.fields(UsageRecord)
    ]
