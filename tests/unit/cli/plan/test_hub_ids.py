"""A model by its id on the hub: from what Hugging Face's tools keep on this machine, or an error that says how."""

import json
import tomllib
from pathlib import Path

import pytest

from heterodyne.cli.arguments.hub_cache import hub_cache
from tests.unit.cli.conftest import Run

HUB_ID = "someone/Tiny-Llama"
CONFIG = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_hidden_layers": 8,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "intermediate_size": 1024,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
    "torch_dtype": "bfloat16",
}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "hub" / "models--someone--Tiny-Llama"
    (folder / "snapshots" / "abc").mkdir(parents=True)
    (folder / "snapshots" / "abc" / "config.json").write_text(json.dumps(CONFIG))
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc")
    return tmp_path / "hub"


def test_what_was_downloaded_is_planned_with(run: Run, cache: Path) -> None:
    result = run("plan", "memory", "--model", HUB_ID, "--hardware", "l4", env={"HF_HUB_CACHE": str(cache)})
    assert result.exit_code == 0, result.output
    assert "tiny-llama" in result.output


def test_what_was_not_is_asked_for(run: Run, tmp_path: Path) -> None:
    result = run("plan", "memory", "--model", HUB_ID, "--hardware", "l4", env={"HF_HUB_CACHE": str(tmp_path / "none")})
    assert result.exit_code != 0
    assert f"`hf download {HUB_ID} config.json`" in result.stderr
    assert str(tmp_path / "none") in result.stderr


def test_its_fleet_file_says_where_its_shape_is(run: Run, cache: Path, tmp_path: Path) -> None:
    words = ("plan", "hardware", "--model", HUB_ID, "--class", "batch", "--fleet-file", "fleet.toml")
    environment = {"HF_HUB_CACHE": str(cache)}
    assert run(*words, env=environment).exit_code == 0
    [pool] = tomllib.loads((tmp_path / "fleet.toml").read_text())["pools"].values()
    assert pool["engine_model"] == HUB_ID
    result = run("simulate", "--fleet", "fleet.toml", "--requests", "50", env=environment)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"HF_HUB_CACHE": "/a", "HF_HOME": "/b"}, "/a"),
        ({"HF_HOME": "/b"}, "/b/hub"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/huggingface/hub"),
    ],
)
def test_the_cache_is_where_the_tools_have_it(
    variables: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert hub_cache() == Path(folder)
