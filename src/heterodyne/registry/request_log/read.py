"""Reads request logs, packed or not: JSON lines in the forms of `request_line`, or a table with arrival and lengths."""

import csv
import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import msgspec

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.registry.request_log.line import arrivals_of, moment_s

# The columns of public traces, and the obvious ones, in lower case.
ARRIVAL_COLUMNS = ("timestamp", "arrival_s", "arrival", "arrived_at", "time", "at")
PROMPT_COLUMNS = (
    "contexttokens",
    "prompt_tokens",
    "input_tokens",
    "request tokens",
    "num_prefill_tokens",
    "input_length",
)
OUTPUT_COLUMNS = (
    "generatedtokens",
    "completion_tokens",
    "output_tokens",
    "response tokens",
    "num_decode_tokens",
    "output_length",
)
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}


def read_request_log(path: Path) -> list[TraceRequest]:
    """Every request of the log that has a prompt, line by line; `.gz` and `.xz` are unpacked on the way."""
    opener = OPENERS.get(path.suffix, open)
    name = path.name.removesuffix(path.suffix) if path.suffix in OPENERS else path.name
    if name.endswith(".tar"):
        raise InvalidSpec(f"{path}: an archive of several files; unpack it and name the one with a line per request.")
    try:
        with opener(path, "rt", encoding="utf-8", newline="") as file:
            return list(_table(path, file) if name.endswith(".csv") else _lines(path, file))
    except (OSError, UnicodeDecodeError, EOFError, lzma.LZMAError, csv.Error) as error:
        raise InvalidSpec(f"{path}: cannot be read: {error}") from error


def _lines(path: Path, file: TextIO) -> Iterator[TraceRequest]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            entry = msgspec.json.decode(line, type=dict[str, Any])
            yield from arrivals_of(entry)
        except (msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidSpec(f"{path}:{number}: no request record: {error}") from error


def _table(path: Path, file: TextIO) -> Iterator[TraceRequest]:
    rows = csv.DictReader(file)
    columns = {name.strip().lower(): name for name in rows.fieldnames or ()}
    at, prompt, output = (_column(path, columns, known) for known in (ARRIVAL_COLUMNS, PROMPT_COLUMNS, OUTPUT_COLUMNS))
    for number, row in enumerate(rows, 2):
        try:
            arrival = TraceRequest(
                at_s=moment_s(row[at]), prompt_tokens=int(row[prompt]), output_tokens=int(row[output])
            )
            if arrival.prompt_tokens < 0 or arrival.output_tokens < 0:
                raise ValueError("a number of tokens is below zero")
        except (TypeError, ValueError) as error:
            raise InvalidSpec(f"{path}:{number}: {error}") from error
        if arrival.prompt_tokens:
            yield arrival


def _column(path: Path, columns: dict[str, str], known: tuple[str, ...]) -> str:
    for name in known:
        if name in columns:
            return columns[name]
    raise InvalidSpec(f"{path}: no column named {', '.join(known[:-1])} or {known[-1]}; it has {', '.join(columns)}.")
