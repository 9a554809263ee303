"""`heterodyne simulate` as a person uses it."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from heterodyne.cli.main import cli

FLEET = """\
[pools.fast]
model = "llama-3.1-8b"
hardware = "h100-sxm"
replicas = 2

[pools.cheap]
model = "llama-3.1-8b"
hardware = "l4"
tp = 2
replicas = 2
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    fleet, trace = tmp_path / "fleet.toml", tmp_path / "trace.csv"
    fleet.write_text(FLEET)
    rows = [f"{second / 10},{100 + 40 * (second % 30)},{20 + 10 * (second % 7)}" for second in range(200)]
    trace.write_text("\n".join(["timestamp,prompt_tokens,output_tokens", *rows]))
    return fleet, trace


def ask(files: tuple[Path, Path], *words: object) -> Result:
    fleet, trace = files
    return CliRunner().invoke(cli, ["simulate", "--fleet", str(fleet), "--trace", str(trace), *map(str, words)])


def test_several_policies_give_a_row_each(files: tuple[Path, Path]) -> None:
    result = ask(files, "--policy", "slo", "--policy", "round-robin", "--load", 0.5)
    assert result.exit_code == 0, result.output
    assert "200 requests on 4 replicas" in result.stdout
    rows = [line.split()[0] for line in result.stdout.splitlines()[-2:]]
    assert rows == ["slo", "round-robin"]
    assert "capacity for this trace" in result.stderr


def test_one_policy_also_tells_what_each_pool_did(files: tuple[Path, Path]) -> None:
    result = ask(files, "--rate", 20)
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines()[-2:]]
    assert [row[0] for row in rows] == ["fast", "cheap"]
    assert sum(int(row[2]) for row in rows) == 200
    assert "speeds from: fast chip" in result.stderr


def test_json_is_the_same_from_the_same_seed(files: tuple[Path, Path]) -> None:
    first, second = (ask(files, "--rate", 100, "--requests", 500, "--json").stdout for _ in range(2))
    assert first == second
    [got] = msgspec.json.decode(first)
    assert (got["requests"], got["replicas"]) == (500, 4)


def test_a_batch_beside_the_trace_is_told_with_what_it_costs(files: tuple[Path, Path]) -> None:
    words = ("--batch-lines", 300, "--batch-group", 30, "--batch-tokens", 64, 16, 8)
    result = ask(files, "--load", 0.5, *words)
    assert result.exit_code == 0, result.output
    assert "without the batch" in result.stdout
    assert [line.split()[0] for line in result.stdout.splitlines()[-2:]] == ["fast", "cheap"]
    got = msgspec.json.decode(ask(files, "--load", 0.5, "--json", *words).stdout)
    assert 0 < got["lines"] <= 300
    assert got["load"] == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--policy", "slo", "--policy", "cost", "--batch-lines", 10), "one policy"),
        (("--policy", "slow"), 'did you mean "slo"'),
        (("--load", 0.5, "--rate", 3), "give one of them"),
        (("--load", -1), "not above zero"),
        (("--slo-ttft-ms", 0), "not above zero"),
        (("--load", 0.5, "--slo-ttft-ms", 1), "say --rate"),
        (("--model", "llama-3"), "no model in the fleet"),
    ],
)
def test_what_cannot_be_says_why(files: tuple[Path, Path], words: tuple[object, ...], said: str) -> None:
    result = ask(files, *words)
    assert result.exit_code != 0
    assert said in result.stderr


def test_a_trace_without_requests_says_so(files: tuple[Path, Path]) -> None:
    files[1].write_text("timestamp,prompt_tokens,output_tokens\n")
    result = ask(files)
    assert result.exit_code != 0
    assert "the trace is empty" in result.stderr
