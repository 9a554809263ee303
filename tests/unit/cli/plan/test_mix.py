"""`heterodyne plan mix` as a person uses it."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from heterodyne.cli.main import cli
from heterodyne.cli.plan.mix_file import read_problem


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "trace.csv"
    rows = [f"{second},{100 + 40 * (second % 30)},{20 + 10 * (second % 7)}" for second in range(120)]
    file.write_text("\n".join(["timestamp,prompt_tokens,output_tokens", *rows]))
    return file


def ask(*words: object) -> Result:
    return CliRunner().invoke(cli, ["plan", "mix", *map(str, words)])


def test_the_example_file_can_be_planned(tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text(ask("--example").stdout)
    result = ask(file)
    assert result.exit_code == 0, result.output
    assert "h100 x1" in result.stdout
    assert "chat" in result.stdout
    plan = msgspec.json.decode(ask(file, "--json").stdout)
    assert 8 <= sum(count for name, count in plan["replicas"].items() if name.startswith("h100")) <= 16


def test_a_model_and_a_log_are_enough(trace: Path) -> None:
    result = ask("--model", "llama-3.1-8b", "--traffic", trace, "--hardware", "h100,l4,l40s", "--rate", 50)
    assert result.exit_code == 0, result.output
    assert "50.00 requests/s in" in result.stderr
    assert "0.99 of requests within 500 ms to the first token and 50 ms a token" in result.stderr
    assert "within both times (0.99 promised)" in result.stdout
    assert "together" in result.stdout
    assert "prompt 100-" in result.stdout


def test_the_numbers_can_be_written_edited_and_planned_again(trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    options = ["--roles", "--spot-share-max", 0.5, "--critical-share", 0.5, "--survives-one-loss"]
    asked = ["--model", "llama-3.1-8b", "--traffic", trace, "--buckets", 2, "--available", "b200=4", *options]
    first = ask(*asked, "--write-problem", file, "--json")
    assert first.exit_code == 0, first.output
    planned, again = msgspec.json.decode(first.stdout), msgspec.json.decode(ask(file, "--json").stdout)
    assert again["usd_per_hour"] == pytest.approx(planned["usd_per_hour"])
    problem = read_problem(file)
    assert problem.survives_one_loss
    assert any(bucket.is_critical for bucket in problem.buckets)


def test_the_fleet_of_a_mix_keeps_its_promise_when_it_is_simulated(trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    asked = ["--model", "llama-3.1-8b", "--traffic", trace, "--hardware", "l40s,l4", "--rate", 40, "--buckets", 2]
    assert ask(*asked, "--fleet-file", file).exit_code == 0
    result = CliRunner().invoke(cli, ["simulate", "--fleet", str(file), "--trace", str(trace), "--requests", "1500"])
    assert result.exit_code == 0, result.output
    assert "slo keeps the promise" in result.stdout


def test_a_fleet_is_not_written_of_numbers_that_say_no_model(tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text(ask("--example").stdout)
    result = ask("--model", "llama-3.1-8b", "--fleet-file", tmp_path / "fleet.toml", file)
    assert result.exit_code == 2


def test_requests_beyond_the_context_are_left_out_aloud(trace: Path) -> None:
    trace.write_text(trace.read_text() + "\n5,999999,5\n")
    result = ask("--model", "llama-3.1-8b", "--traffic", trace, "--hardware", "h100")
    assert result.exit_code == 0, result.output
    assert "left out: 1 of 121 requests" in result.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--hardware", "h100-sxn"], 'did you mean "h100-sxm"'),
        (["--class", "interactiv"], 'did you mean "interactive"'),
        (["--available", "h100"], 'available: "h100" is not a name and a number'),
        (["--hardware", "l4", "--minimum", "h100=2"], 'no accelerator "h100"; known: l4'),
        (["--rate", "lots"], 'rate: "lots" is neither'),
        (["--rate", "-1"], "rate: -1"),
        (["--slo-ttft-ms", "0"], "slo.ttft_s: 0"),
        (["--headroom", "1"], "headroom: 1"),
        (["--buckets", "99"], "buckets: 99"),
        (["--slo-ttft-ms", "1"], "Try --slo-ttft-ms"),
        (["--hardware", "h100", "--available", "h100=1", "--rate", "900"], "without the limits on availability"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_try(trace: Path, options: list[str], says: str) -> None:
    result = ask("--model", "llama-3.1-8b", "--traffic", trace, *options)
    assert result.exit_code in (1, 2)
    assert says in result.stderr


def test_a_file_with_a_mistake_is_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text('kinds = []\n[[buckets]]\nname = "chat"\nrequests_per_s = "many"\n')
    result = ask(file)
    assert result.exit_code == 2
    assert "$.buckets[0].requests_per_s" in result.stderr


def test_a_misspelt_field_of_a_file_is_refused_with_the_nearest(tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text('kinds = []\n[[buckets]]\nname = "chat"\nrequest_per_s = 3\n')
    result = ask(file)
    assert result.exit_code == 2
    assert 'did you mean "requests_per_s"?' in result.stderr


def test_options_beside_a_file_are_refused_and_not_ignored(tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text(ask("--example").stdout)
    result = ask(file, "--headroom", 0.3)
    assert result.exit_code == 2
    assert "--headroom: a file says it all" in result.stderr


@pytest.mark.parametrize("words", [[], ["--model", "llama-3.1-8b"]])
def test_no_file_and_no_log_is_a_usage_error(words: list[str]) -> None:
    result = ask(*words)
    assert result.exit_code == 2
    assert "--example" in result.stderr
