"""Which engines are installed beside this Python, and how each is started on a folder of weights."""

import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct


class Start(Struct, frozen=True, kw_only=True):
    """One replica to be started."""

    folder: Path  # of the weights
    port: int
    memory_share: float  # of the card, for weights and KV
    device: str  # cuda or cpu


class Engine(Struct, frozen=True, kw_only=True):
    """One engine that is here."""

    name: str
    dialect: str
    version: str

    def command(self, start: Start) -> list[str]:
        """What starts a replica that answers on loopback."""
        return _COMMANDS[self.name](start)

    def environment(self, start: Start) -> dict[str, str]:
        """What it reads besides."""
        share = {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{start.memory_share:.2f}"} if self.name == "jax" else {}
        return {"HF_HUB_OFFLINE": "1", **share}


def found_engines(wanted: tuple[str, ...] = ()) -> tuple[Engine, ...]:
    """Those that are installed, the fastest kind first; with names, these alone."""
    engines = []
    for name, (module, distribution, dialect) in _KINDS.items():
        if find_spec(module) is None or (wanted and name not in wanted):
            continue
        try:
            said = version(distribution)
        except PackageNotFoundError:
            continue
        engines.append(Engine(name=name, dialect=dialect, version=said))
    return tuple(engines)


def _vllm(start: Start) -> list[str]:
    own = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(start.folder), *_address(start)]
    return [*own, "--gpu-memory-utilization", f"{start.memory_share:.2f}", "--max-model-len", "4096"]


def _sglang(start: Start) -> list[str]:
    own = [sys.executable, "-m", "sglang.launch_server", "--model-path", str(start.folder), *_address(start)]
    return [*own, "--mem-fraction-static", f"{start.memory_share:.2f}", "--context-length", "4096", "--enable-metrics"]


def _tensorrt_llm(start: Start) -> list[str]:
    own = ["trtllm-serve", str(start.folder), *_address(start)]
    return [*own, "--kv_cache_free_gpu_memory_fraction", f"{start.memory_share:.2f}"]


def _jax(start: Start) -> list[str]:
    own = [sys.executable, "-m", "heterodyne", "jax", str(start.folder), *_address(start)]
    return [*own, "--served-model", str(start.folder), "--slots", "64", "--context", "4096"]


def _transformers(start: Start) -> list[str]:
    own = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(start.folder), *_address(start)]
    batching = ["--continuous-batching"] if start.device == "cuda" else []
    # Its share is of what the weights leave; two of these on one card leave each other room.
    share = ["--cb-max-memory-percent", f"{start.memory_share:.2f}"] if batching else []
    return [*own, "--device", start.device, *batching, *share, "--log-level", "error"]


def _transformers_plain(start: Start) -> list[str]:
    """The same without graphs of its steps: a second speed where there is no second engine."""
    return [*_transformers(start), "--no-cb-use-cuda-graph"]


def _address(start: Start) -> tuple[str, ...]:
    return ("--host", "127.0.0.1", "--port", str(start.port))


_COMMANDS = {
    "vllm": _vllm,
    "sglang": _sglang,
    "tensorrt-llm": _tensorrt_llm,
    "jax": _jax,
    "transformers": _transformers,
    "transformers without graphs": _transformers_plain,
}
# By name: the module, the distribution, and the dialect that pools speak with it.
_KINDS = {
    "vllm": ("vllm", "vllm", "vllm"),
    "sglang": ("sglang", "sglang", "sglang"),
    "tensorrt-llm": ("tensorrt_llm", "tensorrt-llm", "tensorrt-llm"),
    "jax": ("jax", "jax", "vllm"),
    "transformers": ("transformers", "transformers", "transformers"),
    "transformers without graphs": ("transformers", "transformers", "transformers"),
}
