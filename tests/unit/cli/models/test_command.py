"""`models list` and `models pull`, with weights that lie on this machine."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def configured(run, tmp_path: Path) -> Path:
    """Settings with one local model, one remote; returns the weight file."""
    weights = tmp_path / "model.gguf"
    weights.write_bytes(b"GGUF" + bytes(1996))
    (tmp_path / "heterodyne.toml").write_text(
        f'[registry]\ncache_dir = "{tmp_path}/cache"\n'
        f'[pools.here]\nmodel = "small"\nengine = "llamacpp"\nweights = "file:{weights}"\n'
        '[pools.there]\nmodel = "big"\nurls = ["http://a:1", "http://b:1"]\n'
    )
    return weights


def test_list_tells_pool_engine_source_and_whether_the_weights_are_here(run, configured: Path) -> None:
    here, there = json.loads(run("models", "list", "--json").stdout)
    assert (here["model"], here["pool"], here["engine"]) == ("small", "here", "llamacpp")
    assert (here["source"], here["cached"]) == ([f"file:{configured}"], False)
    assert (there["source"], there["cached"]) == (["http://a:1", "http://b:1"], None)


def test_pull_brings_the_weights_and_list_sees_them(run, configured: Path) -> None:
    pulled = run("models", "pull", "small")
    assert pulled.exit_code == 0, pulled.stderr
    assert Path(pulled.stdout.strip()).read_bytes() == configured.read_bytes()
    here, _ = json.loads(run("models", "list", "--json").stdout)
    assert (here["cached"], here["path"]) == (True, pulled.stdout.strip())
    lines = [line.split() for line in run("models", "list").stdout.splitlines()]
    assert lines[0] == ["MODEL", "POOL", "ENGINE", "CACHED", "SIZE", "SOURCE"]
    assert lines[1][:6] == ["small", "here", "llamacpp", "yes", "2.0", "kB"]
    assert lines[2][:5] == ["big", "there", "openai", "-", "-"]


def test_pull_takes_pool_names_too_and_fetches_once(run, configured: Path) -> None:
    result = run("models", "pull", "here", "small", "--json")
    assert [one["pool"] for one in json.loads(result.stdout)] == ["here"]


def test_pull_without_a_name_fetches_all_that_start_here(run, configured: Path) -> None:
    assert [one["model"] for one in json.loads(run("models", "pull", "--json").stdout)] == ["small"]


def test_pull_of_an_unknown_model_names_the_nearest(run, configured: Path) -> None:
    result = run("models", "pull", "smal")
    assert result.exit_code == 2
    assert 'no model or pool "smal"; did you mean "small"?' in result.stderr


def test_pull_of_a_model_that_runs_elsewhere_is_wrong_usage(run, configured: Path) -> None:
    result = run("models", "pull", "big")
    assert result.exit_code == 2
    assert "runs elsewhere" in result.stderr


def test_weights_that_are_missing_are_told_in_one_line(run, configured: Path) -> None:
    configured.unlink()
    result = run("models", "pull")
    assert result.exit_code == 1
    assert "heterodyne: " in result.stderr
