"""`heterodyne scale plan` as a person uses it."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from heterodyne.cli.main import cli

FLEET = """\
[promise]
ttft_ms = 2000
itl_ms = 100
prompt_tokens = 600
output_tokens = 300

[pools.l4]
model = "llama-3.1-8b"
hardware = "l4"

[pools.l4.autoscaling]
minimum = 1
maximum = 4
cold_start_s = 60
"""
NO_LENGTHS = FLEET.replace("prompt_tokens = 600\noutput_tokens = 300\n", "")
RATES = "seconds,rate\n0,0.3\n600,1.4\n1200,1.4\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fleet.toml").write_text(FLEET)
    (tmp_path / "rates.csv").write_text(RATES)
    return tmp_path


def ask(folder: Path, *words: object) -> Result:
    return CliRunner().invoke(cli, ["scale", "plan", "--fleet", str(folder / "fleet.toml"), *map(str, words)])


def test_each_step_is_told_with_its_reason_and_all_of_it_with_what_it_came_to(folder: Path) -> None:
    result = ask(folder, "--rates", folder / "rates.csv")
    assert result.exit_code == 0, result.output
    assert "begins with 1 replica of l4" in result.stdout
    assert any("add" in line and "carry" in line for line in result.stdout.splitlines())
    assert "replica-hours" in result.stdout
    assert "of direction in the hour that has most" in result.stdout


def test_json_has_what_would_have_happened_otherwise(folder: Path) -> None:
    result = ask(folder, "--rates", folder / "rates.csv", "--json")
    found = msgspec.json.decode(result.stdout)
    assert found["steps"][0]["action"] == "add"
    assert found["steps"][0]["otherwise"]
    assert found["report"]["requests"] > 800


@pytest.mark.parametrize(
    ("fleet", "rates", "words", "said"),
    [
        (FLEET, RATES, (), "--trace or --rates: say what comes"),
        (FLEET.partition("[pools.l4.autoscaling]")[0], RATES, ("--rates",), "add [pools.l4.autoscaling]"),
        (FLEET.replace("minimum = 1", "minimum = 9"), RATES, ("--rates",), "minimum 9 is more than maximum 4"),
        (FLEET.replace("minimum", "minimal"), RATES, ("--rates",), "minimal"),
        (NO_LENGTHS, RATES, ("--rates",), "name a --trace"),
        (FLEET, "0,1\n", ("--rates",), "two lines at least"),
        (FLEET, "0,1\n0,2\n", ("--rates",), "line 2: rates are 0 or more, times rise"),
        (FLEET, "0,1\nx,2\n", ("--rates",), "line 2: give seconds and requests a second"),
        (FLEET, "0,1000000\n60,1\n", ("--rates",), "are the most"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(
    folder: Path, fleet: str, rates: str, words: tuple[str, ...], said: str
) -> None:
    (folder / "fleet.toml").write_text(fleet)
    (folder / "rates.csv").write_text(rates)
    result = ask(folder, *words, *((folder / "rates.csv",) if words else ()))
    assert result.exit_code != 0
    assert said in str(result.exception) + result.output
