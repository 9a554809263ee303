"""Reads request logs: our own records, usage lines in OpenAI's style, or a table with arrival and lengths."""

import csv
import gzip
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import msgspec

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.traffic import Arrival

# The columns of public traces, and the obvious ones, in lower case.
ARRIVAL_COLUMNS = ("timestamp", "arrival_s", "arrival", "arrived_at", "time", "at")
PROMPT_COLUMNS = ("contexttokens", "prompt_tokens", "input_tokens", "num_prefill_tokens", "input_length")
OUTPUT_COLUMNS = ("generatedtokens", "completion_tokens", "output_tokens", "num_decode_tokens", "output_length")


def read_request_log(path: Path) -> list[Arrival]:
    """Every request of the log; `.gz` is unpacked on the way."""
    opener: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="") as file:
            is_table = path.name.removesuffix(".gz").endswith(".csv")
            return list(_table(path, file) if is_table else _lines(path, file))
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise InvalidSpec(f"{path}: cannot be read: {error}") from error


def _lines(path: Path, file: TextIO) -> Iterator[Arrival]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            entry = msgspec.json.decode(line, type=dict[str, Any])
            arrival = _record(entry)
        except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
            raise InvalidSpec(f"{path}:{number}: no request record: {error}") from error
        if arrival is not None:
            yield arrival


def _record(entry: dict[str, Any]) -> Arrival | None:
    """Our record has its counts at the top, OpenAI's answer under `usage`; a refusal is no traffic."""
    usage = entry.get("usage") or entry
    if not usage.get("prompt_tokens"):
        return None
    details = usage.get("prompt_tokens_details") or {}
    total_ms = entry.get("total_ms")
    return Arrival(
        at_s=float(entry["at"] if "at" in entry else entry["created"]),
        prompt_tokens=int(usage["prompt_tokens"]),
        output_tokens=int(usage.get("completion_tokens") or 0),
        cached_tokens=int(details.get("cached_tokens") or usage.get("cached_tokens") or 0),
        duration_s=None if total_ms is None else float(total_ms) / 1000,
    )


def _table(path: Path, file: TextIO) -> Iterator[Arrival]:
    rows = csv.DictReader(file)
    columns = {name.strip().lower(): name for name in rows.fieldnames or ()}
    arrival, prompt, output = (
        _column(path, columns, known) for known in (ARRIVAL_COLUMNS, PROMPT_COLUMNS, OUTPUT_COLUMNS)
    )
    for number, row in enumerate(rows, 2):
        try:
            yield Arrival(at_s=_moment(row[arrival]), prompt_tokens=int(row[prompt]), output_tokens=int(row[output]))
        except (TypeError, ValueError) as error:
            raise InvalidSpec(f"{path}:{number}: {error}") from error


def _column(path: Path, columns: dict[str, str], known: tuple[str, ...]) -> str:
    for name in known:
        if name in columns:
            return columns[name]
    raise InvalidSpec(f"{path}: no column named {', '.join(known[:-1])} or {known[-1]}; it has {', '.join(columns)}.")


def _moment(text: str) -> float:
    """Seconds, or a date and time, in UTC where it does not say."""
    try:
        return float(text)
    except ValueError:
        # Python takes six decimals of a second; traces write seven.
        head, point, decimals = text.strip().partition(".")
        moment = datetime.fromisoformat(head + point + decimals[:6])
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
