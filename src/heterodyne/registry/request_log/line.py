"""One JSON line of a request log becomes arrivals: our record, OpenAI's usage, and the forms of public traces."""

from collections.abc import Iterator
from datetime import UTC, datetime
from difflib import get_close_matches
from math import isfinite
from typing import Any

from heterodyne.planning.traffic.trace_request import TraceRequest

MOONCAKE_BLOCK_TOKENS = 512
FORMS = ("prompt_tokens", "usage", "input_length", "input_tokens_total", "requests", "event")  # one is in every line
OWN_FIELDS = ("prompt_tokens", "usage", "status")  # of a request that was refused our record has no tokens

Fields = dict[str, Any]


def arrivals_of(entry: Fields) -> Iterator[TraceRequest]:
    """The requests of one line; a refusal or an event is none. Raises `ValueError` and its kin for other lines."""
    for arrival in _read(entry):
        if not isfinite(arrival.at_s):
            raise ValueError("its time is not a number")
        if arrival.prompt_tokens < 0 or arrival.output_tokens < 0 or arrival.block_tokens < 1:
            raise ValueError("a number of tokens is below zero")
        if arrival.prompt_tokens:
            yield arrival


def moment_s(value: object) -> float:
    """Seconds, or a date and time, in UTC where no zone is given."""
    try:
        seconds = float(str(value))
    except ValueError:
        # Python takes six decimals of a second; traces write seven.
        head, point, decimals = str(value).strip().removesuffix("Z").partition(".")
        moment = datetime.fromisoformat(head + point + decimals[:6])
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not isfinite(seconds):
        raise ValueError(f"{value} is no time")
    return seconds


def _read(entry: Fields) -> Iterator[TraceRequest]:
    if "requests" in entry:
        yield from _aibrix(entry)
    elif "event" in entry:
        yield from _dynamo(entry["event"])
    elif "input_tokens_total" in entry:
        yield _agent_round(entry)
    elif "input_length" in entry:
        yield _mooncake(entry)
    elif (entry.get("usage") or entry).get("prompt_tokens"):
        yield _usage(entry)
    elif not any(field in entry for field in OWN_FIELDS):
        raise ValueError(_unlike_any(entry))


def _unlike_any(entry: Fields) -> str:
    """A field that is misspelt makes a request look like nothing at all."""
    misspelt = [(field, near) for field in entry for near in get_close_matches(field, FORMS, n=1)]
    hint = f'; did you mean "{misspelt[0][1]}" by "{misspelt[0][0]}"?' if misspelt else ""
    return f"it has none of {', '.join(FORMS)}{hint}"


def _usage(entry: Fields) -> TraceRequest:
    """Our record has its counts at the top, OpenAI's answer under `usage`."""
    usage = entry.get("usage") or entry
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", usage.get("cached_tokens"))
    total_ms = entry.get("total_ms")
    return TraceRequest(
        at_s=moment_s(entry["at"] if "at" in entry else entry["created"]),
        prompt_tokens=int(usage["prompt_tokens"]),
        output_tokens=int(usage.get("completion_tokens") or 0),
        cached_tokens=None if cached is None else int(cached),
        duration_s=None if total_ms is None else float(total_ms) / 1000,
    )


def _mooncake(entry: Fields) -> TraceRequest:
    """Times are milliseconds since the trace began."""
    return TraceRequest(
        at_s=float(entry["timestamp"]) / 1000,
        prompt_tokens=int(entry["input_length"]),
        output_tokens=int(entry["output_length"]),
        block_hashes=tuple(entry.get("hash_ids") or ()),
        block_tokens=MOONCAKE_BLOCK_TOKENS,
    )


def _aibrix(entry: Fields) -> Iterator[TraceRequest]:
    """Several requests may share a moment, in milliseconds; their texts are left alone."""
    for request in entry["requests"]:
        yield TraceRequest(
            at_s=float(entry["timestamp"]) / 1000,
            prompt_tokens=int(request["Prompt Length"]),
            output_tokens=int(request["Output Length"]),
        )


def _dynamo(event: Fields) -> Iterator[TraceRequest]:
    """A router's trace: tool calls and beginnings stand between the ends of requests."""
    request = event.get("request")
    if event.get("event_type") != "request_end" or not request:
        return
    replay = request.get("replay") or {}
    cached, total_ms = request.get("cached_tokens"), request.get("total_time_ms")
    yield TraceRequest(
        at_s=float(request["request_received_ms"]) / 1000,
        prompt_tokens=int(request["input_tokens"]),
        output_tokens=int(request.get("output_tokens") or 0),
        cached_tokens=None if cached is None else int(cached),
        duration_s=None if total_ms is None else float(total_ms) / 1000,
        block_hashes=tuple(replay.get("input_sequence_hashes") or ()),
        block_tokens=int(replay.get("trace_block_size") or MOONCAKE_BLOCK_TOKENS),
    )


def _agent_round(entry: Fields) -> TraceRequest:
    """A round of a coding agent comes when the first of its events does."""
    return TraceRequest(
        at_s=min(moment_s(event["timestamp"]) for event in entry["timing_events"]),
        prompt_tokens=int(entry["input_tokens_total"]),
        output_tokens=int(entry.get("output_tokens") or 0),
        cached_tokens=None if entry.get("prefix_tokens") is None else int(entry["prefix_tokens"]),
    )
