"""Records as files for others."""

import csv
import io
import subprocess
import sys

import msgspec
import pytest

from heterodyne.books.export import NAMES, ExportFormat, open_export, record_fields
from tests.support.usage_records import record

PAGES = [[record_fields(record(1, model='a,"b"\n')), record_fields(record(2, ttft_ms=1.5))], [record_fields(record(3))]]


def exported(kind: ExportFormat) -> bytes:
    file = io.BytesIO()
    export = open_export(kind, file)
    for page in PAGES:
        export.add(page)
    export.close()
    return file.getvalue()


def test_csv_has_every_column_and_request() -> None:
    rows = list(csv.DictReader(io.StringIO(exported(ExportFormat.CSV).decode())))
    assert list(rows[0]) == list(NAMES)
    assert [row["id"] for row in rows] == ["req_0001", "req_0002", "req_0003"]
    assert (rows[0]["model"], rows[0]["class"], rows[0]["ttft_ms"]) == ('a,"b"\n', "interactive", "")
    assert rows[1]["ttft_ms"] == "1.5"


def test_json_lines_are_objects() -> None:
    rows = [msgspec.json.decode(line) for line in exported(ExportFormat.JSONL).splitlines()]
    assert rows == [row for page in PAGES for row in page]


def test_parquet_has_types() -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(exported(ExportFormat.PARQUET)))
    assert table.to_pylist() == [row for page in PAGES for row in page]
    assert [
        str(table.schema.field(name).type) for name in ("at", "class", "prompt_tokens", "is_hedged", "ttft_ms")
    ] == [*("double", "string", "int64", "bool", "double")]


def test_without_pyarrow_parquet_says_what_to_install() -> None:
    program = (
        "import sys, io; sys.modules['pyarrow'] = None\n"
        "from heterodyne.books.export import *\n"
        "try: open_export(ExportFormat.PARQUET, io.BytesIO())\n"
        "except PyarrowMissing as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert "pip install 'heterodyne[parquet]'" in said.stdout
