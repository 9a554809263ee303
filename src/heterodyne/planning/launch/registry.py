"""The engines we can launch, a line each."""

from collections.abc import Callable, Mapping

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.planning.launch import llamacpp, sglang, tensorrt_llm, vllm
from heterodyne.planning.launch.kv_exchange import with_kv
from heterodyne.planning.launch.launch_plan import LaunchPlan, Site
from heterodyne.planning.launch.sizing import Sizing

LAUNCHERS: Mapping[EngineKind, Callable[[Sizing, Site], LaunchPlan]] = {
    EngineKind.VLLM: vllm.launch,
    EngineKind.SGLANG: sglang.launch,
    EngineKind.TENSORRT_LLM: tensorrt_llm.launch,
    EngineKind.LLAMACPP: llamacpp.launch,
}


def launch_plan(sizing: Sizing, site: Site) -> LaunchPlan:
    """How the sizing's engine is started at a site."""
    engine = sizing.layout.engine
    plan = LAUNCHERS[engine](sizing, site)
    return plan if sizing.kv is None else with_kv(plan, engine, sizing.kv)
