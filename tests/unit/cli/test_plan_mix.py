"""`heterodyne plan mix` as a person uses it."""

from pathlib import Path

import msgspec
from click.testing import CliRunner

from heterodyne.cli.main import cli


def test_the_example_file_can_be_planned(tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text(CliRunner().invoke(cli, ["plan", "mix", "--example"]).stdout)
    result = CliRunner().invoke(cli, ["plan", "mix", str(file)])
    assert result.exit_code == 0, result.output
    assert "h100 x1" in result.stdout
    assert "chat" in result.stdout
    plan = msgspec.json.decode(CliRunner().invoke(cli, ["plan", "mix", str(file), "--json"]).stdout)
    assert plan["replicas"]["h100 x1"] >= 5


def test_a_file_with_a_mistake_is_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text('kinds = []\n[[buckets]]\nname = "chat"\nrequests_per_s = "many"\n')
    result = CliRunner().invoke(cli, ["plan", "mix", str(file)])
    assert result.exit_code == 2
    assert "$.buckets[0].requests_per_s" in result.stderr


def test_no_file_is_a_usage_error() -> None:
    result = CliRunner().invoke(cli, ["plan", "mix"])
    assert result.exit_code == 2
    assert "--example" in result.stderr
