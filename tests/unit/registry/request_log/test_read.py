"""Request logs in the forms people have them."""

import gzip
import lzma
from pathlib import Path

import msgspec
import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.record import RequestRecord
from heterodyne.registry.request_log.read import read_request_log


def test_our_own_records_are_read_and_refusals_left_out(tmp_path: Path) -> None:
    served = RequestRecord(
        id="a",
        at=100.5,
        operation="chat",
        model="m",
        status=200,
        prompt_tokens=7,
        cached_tokens=3,
        completion_tokens=2,
        total_ms=1500.0,
    )
    refused = RequestRecord(id="b", at=101.0, operation="refused", model="", status=404)
    file = tmp_path / "records.jsonl"
    file.write_bytes(msgspec.json.Encoder().encode_lines([served, refused]))
    (arrival,) = read_request_log(file)
    assert (arrival.at_s, arrival.prompt_tokens, arrival.output_tokens) == (100.5, 7, 2)
    assert (arrival.cached_tokens, arrival.duration_s) == (3, 1.5)


def test_usage_in_the_style_of_openai_is_read(tmp_path: Path) -> None:
    file = tmp_path / "usage.jsonl"
    file.write_text('{"created": 5, "usage": {"prompt_tokens": 4, "completion_tokens": 6}}\n\n')
    (arrival,) = read_request_log(file)
    assert (arrival.at_s, arrival.prompt_tokens, arrival.output_tokens) == (5.0, 4, 6)


def test_a_packed_table_with_dates_is_read(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv.gz"
    table = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:47,10,1\n"
    file.write_bytes(gzip.compress(table.encode()))
    first, second = read_request_log(file)
    assert second.at_s - first.at_s == pytest.approx(0.31941)
    assert first.prompt_tokens == 374


def test_a_mooncake_trace_is_read_with_its_hashes(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl.xz"
    line = b'{"timestamp": 2500, "input_length": 700, "output_length": 9, "hash_ids": [4, 7]}\n'
    file.write_bytes(lzma.compress(line))
    (arrival,) = read_request_log(file)
    assert (arrival.at_s, arrival.prompt_tokens, arrival.output_tokens) == (2.5, 700, 9)
    assert (arrival.block_hashes, arrival.block_tokens) == ((4, 7), 512)


def test_requests_that_share_a_moment_are_several(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    request = '{"Prompt Length": 3, "Output Length": 4, "prompt": "never kept"}'
    file.write_text(f'{{"timestamp": 1000, "requests": [{request}, {request}]}}\n')
    assert [(one.at_s, one.prompt_tokens, one.cached_tokens) for one in read_request_log(file)] == [(1.0, 3, None)] * 2


def test_a_routers_trace_is_read_and_its_other_events_left_out(tmp_path: Path) -> None:
    request = {
        "input_tokens": 40,
        "output_tokens": 5,
        "cached_tokens": 16,
        "request_received_ms": 3000,
        "total_time_ms": 250.0,
        "replay": {"trace_block_size": 16, "input_sequence_hashes": [1, 2, 3]},
    }
    events = [
        {"timestamp": 1, "event": {"event_type": "tool_start"}},
        {"timestamp": 2, "event": {"event_type": "request_end", "request": request}},
    ]
    file = tmp_path / "trace.jsonl"
    file.write_bytes(msgspec.json.Encoder().encode_lines(events))
    (arrival,) = read_request_log(file)
    assert (arrival.at_s, arrival.cached_tokens, arrival.duration_s) == (3.0, 16, 0.25)
    assert (arrival.block_hashes, arrival.block_tokens) == ((1, 2, 3), 16)


def test_a_round_of_an_agent_comes_with_its_first_event(tmp_path: Path) -> None:
    file = tmp_path / "rounds.jsonl"
    events = '[{"timestamp": "1970-01-01T00:00:09Z"}, {"timestamp": "1970-01-01T00:00:07.5Z"}]'
    file.write_text(f'{{"input_tokens_total": 9, "prefix_tokens": 6, "output_tokens": 2, "timing_events": {events}}}\n')
    (arrival,) = read_request_log(file)
    assert (arrival.at_s, arrival.prompt_tokens, arrival.cached_tokens) == (7.5, 9, 6)


def test_failures_of_a_burstgpt_table_have_no_prompt_and_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text("Timestamp,Model,Request tokens,Response tokens\n5,ChatGPT,472,18\n45,ChatGPT,0,0\n")
    (arrival,) = read_request_log(file)
    assert (arrival.at_s, arrival.prompt_tokens, arrival.output_tokens) == (5.0, 472, 18)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "when,how\n1,2\n", "no column named timestamp"),
        ("a.csv", "timestamp,prompt_tokens,output_tokens\n1,many,2\n", "a.csv:2"),
        ("a.jsonl", '{"usage": {"prompt_tokens": 1}}\n', "a.jsonl:1"),
        ("a.jsonl", "nonsense\n", "a.jsonl:1"),
        ("a.jsonl", '{"at": 1, "promt_tokens": 9}\n', 'a.jsonl:1: .* did you mean "prompt_tokens" by "promt_tokens"'),
        ("a.jsonl", '{"event": 5}\n', "a.jsonl:1"),
        ("a.jsonl", '{"timestamp": 1, "input_length": -3, "output_length": 1}\n', "a.jsonl:1: .* below zero"),
        ("a.csv", "timestamp,prompt_tokens,output_tokens\nnan,1,2\n", "a.csv:2: nan is no time"),
        ("a.csv", "timestamp,prompt_tokens,output_tokens\n1,-1,2\n", "a.csv:2: .* below zero"),
        ("a.tar.xz", "", "unpack it"),
        ("a.jsonl.xz", "not packed", "cannot be read"),
    ],
)
def test_a_log_that_is_none_is_refused_with_its_place(tmp_path: Path, name: str, text: str, says: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InvalidSpec, match=says):
        read_request_log(file)
