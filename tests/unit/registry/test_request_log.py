"""Request logs in the forms people have them."""

import gzip
from pathlib import Path

import msgspec
import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.record import RequestRecord
from heterodyne.registry.request_log import read_request_log


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


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "when,how\n1,2\n", "no column named timestamp"),
        ("a.csv", "timestamp,prompt_tokens,output_tokens\n1,many,2\n", "a.csv:2"),
        ("a.jsonl", '{"usage": {"prompt_tokens": 1}}\n', "a.jsonl:1"),
        ("a.jsonl", "nonsense\n", "a.jsonl:1"),
    ],
)
def test_a_log_that_is_none_is_refused_with_its_place(tmp_path: Path, name: str, text: str, says: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InvalidSpec, match=says):
        read_request_log(file)
