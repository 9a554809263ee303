"""The traces of the bake-off, the service level that each is held to, and the part of it that a seed gets."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, structs

from benchmarks.traces.servegen import ServeGen
from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.serving import Slo
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.registry.request_log.read import read_request_log

SEEDS_MAX = 10
SHORT, LONG = Slo(ttft_s=1.0, itl_s=0.05), Slo(ttft_s=3.0, itl_s=0.05)
AZURE, SYNTHETIC, TOOL_AGENT, SERVEGEN = "Azure conversation", "Mooncake synthetic", "Mooncake tool-agent", "ServeGen"


class Trace(Struct, frozen=True, kw_only=True):
    """Requests to draw on."""

    name: str
    slo: Slo
    part: Callable[[int, int], list[TraceRequest]]  # of a seed, and so many requests of it


def read_traces(data: Path) -> dict[str, Trace]:
    """All four, from the folder of shared data."""
    folder = data / "traces"
    if not folder.is_dir():
        raise InvalidSpec(f"{folder}: no such folder; say with --data where the shared data is")
    azure = _Log(folder / "azure_llm_2023_conv.csv.gz")
    synthetic = _Log(folder / "mooncake_fast25_synthetic_trace.jsonl.gz")
    tool_agent = _Log(folder / "mooncake_tool_agent_first1000.jsonl.gz")
    traces = (
        Trace(name=AZURE, slo=SHORT, part=azure.part),
        Trace(name=SYNTHETIC, slo=LONG, part=synthetic.part),
        Trace(name=TOOL_AGENT, slo=LONG, part=tool_agent.part),
        Trace(name=SERVEGEN, slo=SHORT, part=ServeGen(folder / "servegen_m-small.tar.xz").sample),
    )
    return {trace.name: trace for trace in traces}


class _Log:
    """A recorded trace. Seeds begin in different places; one that comes to its end goes on at its beginning."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise InvalidSpec(f"{path}: no such file; say with --data where the shared data is")
        self._log = sorted(read_request_log(path), key=lambda one: one.at_s)

    def part(self, seed: int, requests: int) -> list[TraceRequest]:
        log = self._log
        begin = seed % SEEDS_MAX * len(log) // SEEDS_MAX
        span_s = (log[-1].at_s - log[0].at_s) * len(log) / (len(log) - 1)
        later = [structs.replace(one, at_s=one.at_s + span_s) for one in log[:begin]]
        return [*log[begin:], *later][:requests]
