"""`models` knows what else a model is called and who answers in its place."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def configured(run, tmp_path: Path) -> Path:
    """Settings with a local model that has an alias and a remote fallback; returns the weight file."""
    weights = tmp_path / "model.gguf"
    weights.write_bytes(b"GGUF" + bytes(1996))
    (tmp_path / "heterodyne.toml").write_text(
        f'[registry]\ncache_dir = "{tmp_path}/cache"\n'
        f'[pools.here]\nmodel = "small"\nengine = "llamacpp"\nweights = "file:{weights}"\n'
        '[pools.there]\nmodel = "big"\nurls = ["http://a:1"]\n'
        '[models.small]\naliases = ["fast", "tiny"]\nfallbacks = ["big"]\n'
    )
    return weights


def test_list_tells_aliases_and_fallbacks(run, configured: Path) -> None:
    here, there = json.loads(run("models", "list", "--json").stdout)
    assert (here["aliases"], here["fallbacks"]) == (["fast", "tiny"], ["big"])
    assert (there["aliases"], there["fallbacks"]) == ([], [])
    header, first, second = run("models", "list").stdout.splitlines()
    assert header.split() == ["MODEL", "POOL", "ENGINE", "ALIASES", "FALLBACKS", "CACHED", "SIZE", "SOURCE"]
    assert first.split()[:6] == ["small", "here", "llamacpp", "fast,", "tiny", "big"]
    assert second.split()[:7] == ["big", "there", "openai", "-", "-", "-", "-"]


def test_pull_takes_an_alias(run, configured: Path) -> None:
    result = run("models", "pull", "tiny")
    assert result.exit_code == 0, result.stderr
    assert Path(result.stdout.strip()).read_bytes() == configured.read_bytes()


def test_check_counts_pools_and_models(run, configured: Path) -> None:
    assert "2 pools, 2 models, no problems" in run("config", "check").stdout
