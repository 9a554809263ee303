"""`heterodyne plan hardware` as a person uses it."""

import msgspec
from click.testing import CliRunner

from heterodyne.cli.main import cli

ASK = ["plan", "hardware", "--model", "llama-3.1-8b"]


def test_a_table_ranks_the_accelerators() -> None:
    result = CliRunner().invoke(cli, ASK)
    assert result.exit_code == 0, result.output
    assert "USD/1M" in result.stdout
    assert "h100-sxm" in result.stdout


def test_json_has_what_was_refused_too() -> None:
    ranking = msgspec.json.decode(CliRunner().invoke(cli, [*ASK, "--json"]).stdout)
    assert ranking["choices"]
    assert {"accelerator", "tp", "reason"} <= set(ranking["refused"][0])


def test_no_accelerator_that_keeps_the_target_exits_with_1() -> None:
    result = CliRunner().invoke(cli, [*ASK, "--slo-itl-ms", "0.001"])
    assert result.exit_code == 1


def test_an_unknown_precision_names_the_nearest() -> None:
    result = CliRunner().invoke(cli, [*ASK, "--precision", "fp9"])
    assert result.exit_code == 2
    assert "fp8" in result.stderr


def test_a_class_sets_the_targets_and_flags_win() -> None:
    def targets(*options: str) -> tuple[float, float]:
        ranking = msgspec.json.decode(CliRunner().invoke(cli, [*ASK, "--json", *options]).stdout)
        served = [choice["served"] for choice in ranking["choices"]]
        return max(one["ttft_s"] for one in served), max(one["itl_s"] for one in served)

    assert targets()[0] <= 0.5
    assert 0.5 < targets("--class", "batch")[0] <= 2.0
    assert targets("--class", "batch", "--slo-itl-ms", "20")[1] <= 0.02
