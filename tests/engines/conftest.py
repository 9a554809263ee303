"""Real engines side by side; only for those who name this folder, because the install is heavy: `make test-engines`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heterodyne.registry.conversion.gguf_safetensors import gguf_to_safetensors
from heterodyne.registry.defaults import DEFAULT_POOLS
from heterodyne.registry.settings import RegistrySettings
from heterodyne.registry.weights import obtain
from tests.engines.running_vllm import RunningVllm

HERE = Path(__file__).parent


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Whoever runs all tests leaves these out."""
    named = (Path(argument.partition("::")[0]).resolve() for argument in config.args)
    return None if any(path.is_relative_to(HERE) for path in named) else True


@pytest.fixture(scope="session")
def gguf_file() -> Path:
    """The default chat model, as llama.cpp loads it."""
    pool = DEFAULT_POOLS["chat"]
    assert pool.weights
    return obtain(pool.weights, pool.weights_sha256, RegistrySettings(), lambda *_: None)


@pytest.fixture(scope="session")
def folder(gguf_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model, as vLLM loads it."""
    folder = tmp_path_factory.mktemp("converted") / "model"
    gguf_to_safetensors(gguf_file, folder)
    return folder


@pytest.fixture(scope="session")
def _vllm(folder: Path) -> Iterator[RunningVllm]:
    engine = RunningVllm(folder)
    yield engine
    engine.kill()


@pytest.fixture
def vllm(_vllm: RunningVllm) -> RunningVllm:
    """Started by the first test that needs it, and again after one that killed it."""
    _vllm.wait_ready()
    return _vllm
