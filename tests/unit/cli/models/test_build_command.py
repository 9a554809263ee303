"""`heterodyne models build` with settings of builders."""

import json
from pathlib import Path

import pytest

from tests.support.tiny_adapters import tiny_adapter
from tests.support.tiny_models import tiny_model


@pytest.fixture
def model(run, tmp_path: Path) -> Path:
    """A model that is in a registry of its own, as `tiny`."""
    (tmp_path / "heterodyne.toml").write_text(
        f'[registry]\ncache_dir = "{tmp_path}/cache"\nmodels_dir = "{tmp_path}/models"\n'
        f'[stores]\nurl = "sqlite:{tmp_path}/h.db"\n'
    )
    folder = tiny_model(tmp_path / "source")
    assert run("models", "import", f"file:{folder}", "--name", "tiny").exit_code == 0
    return folder


def test_a_setting_chooses_the_builder_and_is_part_of_the_recipe(run, model: Path, tmp_path: Path) -> None:
    adapter = tiny_adapter(tmp_path / "adapter", model)
    words = ("models", "build", "tiny", "--format", "safetensors", "--json", "--precision")
    merged = run(*words, "fp16", "--set", f"adapter={adapter}")
    assert merged.exit_code == 0, merged.stderr
    recipe = json.loads(merged.stdout)["artifact"]["recipe"]
    assert (recipe["builder"], list(recipe["settings"])) == ("lora-merge", ["adapter_sha256"])
    small = json.loads(run(*words, "int8", "--set", "calibration=texts").stdout)["artifact"]
    assert (small["precision"], small["recipe"]["settings"]) == ("int8", {"calibration": "texts"})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("adapter",), '"adapter" is not NAME=VALUE'),
        (("=x",), '"=x" is not NAME=VALUE'),
        (("adapter=a", "adapter=b"), '"adapter" is set twice'),
        (("adaptor=a",), 'has no setting "adaptor"; adapter'),
    ],
)
def test_settings_that_are_none_are_named(run, model: Path, settings: tuple[str, ...], said: str) -> None:
    options = [word for setting in settings for word in ("--set", setting)]
    done = run("models", "build", "tiny", "--format", "safetensors", "--precision", "fp16", *options)
    assert done.exit_code != 0
    assert said in done.stderr
