"""A registry in an object store, and machines that load from it: once, and then never again."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from heterodyne.cli.main import cli
from heterodyne.registry.conversion.safetensors_gguf import safetensors_to_gguf
from heterodyne.testing.object_store import ObjectStore, running_object_store
from tests.support.tiny_models import tiny_model

Run = Callable[..., Result]


@pytest.fixture
def object_store(tmp_path: Path) -> Iterator[ObjectStore]:
    with running_object_store(tmp_path / "object-store") as store:
        yield store


def machine(folder: Path, store: ObjectStore, name: str, more: str = "") -> Run:
    """Commands on a machine with a folder of its own and the database of all."""
    config = folder / f"{name}.toml"
    config.write_text(
        f'[registry]\ncache_dir = "{folder}/cache"\nmodels_dir = "{folder}/{name}"\nblobs_url = "{store.url}"\n{more}'
        f'[stores]\nurl = "sqlite:{folder}/h.db"\n'
        '[pools.here]\nmodel = "tiny"\nengine = "llamacpp"\nweights = "registry:tiny#q8_0"\n'
    )

    def run(*words: str) -> Result:
        result = CliRunner().invoke(cli, ["--config", str(config), *words], prog_name="heterodyne")
        assert result.exit_code == 0, (words, result.output, result.exception)
        return result

    return run


def test_one_machine_builds_and_another_loads_it_once(object_store: ObjectStore, tmp_path: Path) -> None:
    weights = tmp_path / "tiny.gguf"
    safetensors_to_gguf(tiny_model(tmp_path / "source"), weights, "q8_0")
    builder = machine(tmp_path, object_store, "builder")
    builder("models", "import", f"file:{weights}", "--name", "tiny")
    builder("models", "build", "tiny", "--format", "gguf", "--precision", "q8_0")

    server = machine(tmp_path, object_store, "server")
    path = Path(server("models", "pull").stdout.strip())
    assert path.is_relative_to(tmp_path / "server")
    assert path.read_bytes()[:4] == b"GGUF"
    shown = json.loads(server("models", "show", "tiny", "--json").stdout)
    (load,) = [load for one in shown["artifacts"] for load in one["loads"]]
    assert (load["tier"], load["size_bytes"]) == ("object store", path.stat().st_size)
    assert "object store " in server("models", "show", "tiny").stdout

    assert "right" in server("models", "verify").stdout
    object_store.kill()
    assert Path(server("models", "pull").stdout.strip()) == path, "a second start asks the network for nothing"


def test_engines_load_from_memory_where_there_is_a_folder_for_it(object_store: ObjectStore, tmp_path: Path) -> None:
    weights = tmp_path / "tiny.gguf"
    safetensors_to_gguf(tiny_model(tmp_path / "source"), weights, "q8_0")
    run = machine(tmp_path, object_store, "server", f'ram_dir = "{tmp_path}/ram"\n')
    run("models", "import", f"file:{weights}", "--name", "tiny")
    path = Path(run("models", "pull").stdout.strip())
    assert path.is_relative_to(tmp_path / "ram")
    assert path.read_bytes() == weights.read_bytes()
