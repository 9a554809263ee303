"""`heterodyne plan traffic` as a person uses it."""

from pathlib import Path

import msgspec
from click.testing import CliRunner

from heterodyne.cli.main import cli


def test_a_log_becomes_a_table_and_json(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text("timestamp,prompt_tokens,output_tokens\n0,100,10\n60,300,30\n")
    table = CliRunner().invoke(cli, ["plan", "traffic", str(file)])
    assert table.exit_code == 0, table.output
    assert "burstiness" in table.stdout
    profile = msgspec.json.decode(CliRunner().invoke(cli, ["plan", "traffic", str(file), "--json"]).stdout)
    assert profile["requests"] == 2
    assert profile["prompt"]["mean"] == 200.0


def test_blocks_seen_before_are_shown_by_size_of_cache(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    line = '{"timestamp": %d, "input_length": 1024, "output_length": 5, "hash_ids": [1, %d]}'
    file.write_text("\n".join(line % (1000 * number, number + 2) for number in range(4)))
    result = CliRunner().invoke(cli, ["plan", "traffic", str(file), "--s-per-output-token", "1"])
    assert result.exit_code == 0, result.output
    assert "38% of prompt tokens; to forget nothing takes 2,560 tokens of KV" in result.stdout
    assert "65,536              37.5%" in result.stdout


def test_what_a_log_does_not_say_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text("timestamp,prompt_tokens,output_tokens\n0,100,10\n60,300,30\n")
    assert CliRunner().invoke(cli, ["plan", "traffic", str(file)]).stdout.count("unknown") == 3


def test_a_log_of_one_request_says_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text("timestamp,prompt_tokens,output_tokens\n0,100,10\n")
    result = CliRunner().invoke(cli, ["plan", "traffic", str(file)])
    assert result.exit_code == 2
    assert "at least 2 requests" in result.stderr
