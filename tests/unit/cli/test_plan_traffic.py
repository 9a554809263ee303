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


def test_a_log_of_one_request_says_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text("timestamp,prompt_tokens,output_tokens\n0,100,10\n")
    result = CliRunner().invoke(cli, ["plan", "traffic", str(file)])
    assert result.exit_code == 2
    assert "at least 2 requests" in result.stderr
