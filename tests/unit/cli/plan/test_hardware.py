"""`heterodyne plan hardware` as a person uses it."""

from pathlib import Path

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


def test_where_none_keeps_the_promise_the_nearest_are_named_and_it_exits_with_1() -> None:
    result = CliRunner().invoke(cli, [*ASK, "--slo-itl-ms", "0.001"])
    assert result.exit_code == 1
    assert "No accelerator keeps this promise." in result.stdout
    assert "one request alone gets a token every" in result.stdout
    assert "--slo-itl-ms" in result.stdout


def test_a_plan_is_written_that_simulate_reads_and_keeps(tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    said = [*ASK, "--rate", "30", "--price", "h100=0.01", "--fleet-file", str(file)]
    assert CliRunner().invoke(cli, said).exit_code == 0
    result = CliRunner().invoke(cli, ["simulate", "--fleet", str(file), "--requests", "800"])
    assert result.exit_code == 0, result.output
    assert "h100-sxm" in result.stdout
    assert "at the 30 requests/s of the plan" in result.stderr
    assert "slo keeps the promise" in result.stdout


def test_own_prices_and_sellers_decide_the_order() -> None:
    def first(*options: str) -> str:
        ranking = msgspec.json.decode(CliRunner().invoke(cli, [*ASK, "--json", *options]).stdout)
        return str(ranking["choices"][0]["accelerator"])

    assert first("--price", "h200=0.01") == "h200-sxm"
    assert first("--price", "h200=0.01", "--lead-days", "h200=90", "--needed-in-days", "14") != "h200-sxm"
    result = CliRunner().invoke(cli, [*ASK, "--provider", "azur"])
    assert result.exit_code == 2
    assert 'did you mean "azure"' in result.stderr


def test_spot_machines_of_which_nothing_is_known_are_named() -> None:
    said = [*ASK, "--spot", "--spot-interruptions", "h100=2"]
    plain, counted = (CliRunner().invoke(cli, words).stdout.splitlines()[-1] for words in (said[:-2], said))
    assert plain.startswith("as if they were never taken back: ")
    assert "h100-sxm" in plain
    assert "h100-sxm" not in counted
    assert "--spot-interruptions" in counted


def test_an_unknown_precision_names_the_nearest() -> None:
    result = CliRunner().invoke(cli, [*ASK, "--precision", "fp9"])
    assert result.exit_code == 2
    assert "fp8" in result.stderr


def test_a_class_sets_the_targets_and_flags_win() -> None:
    def latest(*options: str) -> tuple[float, float]:
        ranking = msgspec.json.decode(CliRunner().invoke(cli, [*ASK, "--json", *options]).stdout)
        loads = [choice["load"] for choice in ranking["choices"]]
        return max(one["ttft"]["p99_s"] for one in loads), max(one["itl"]["p99_s"] for one in loads)

    assert latest()[0] <= 0.5
    assert 0.5 < latest("--class", "batch")[0] <= 2.0
    assert latest("--class", "batch", "--slo-itl-ms", "20")[1] <= 0.02


def test_the_page_says_how_sure_the_ranking_is(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    result = CliRunner().invoke(cli, [*ASK, "--quantile", "0.7", "--html", str(file)])
    assert result.exit_code == 0, result.output
    page = file.read_text(encoding="utf-8")
    assert "How sure that is" in page
    assert "at quantile 0.7" in page


def test_json_has_the_ranges_of_what_is_shown() -> None:
    ranking = msgspec.json.decode(CliRunner().invoke(cli, [*ASK, "--json"]).stdout)
    h100 = next(one for name, one in ranking["ranges"].items() if name.endswith("h100-sxm"))
    assert h100["cost"]["low"] < h100["cost_calibrated"]["low"]
    assert h100["itl_s"]["low"] < h100["itl_s"]["high"]
