"""SGLang's page about its load: one entry for its one scheduler."""

from datetime import UTC, datetime

from heterodyne.domain.errors import InvalidField
from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.response import TEXT, EmulatorResponse, json_response, query
from heterodyne.emulator.surface import load_of
from heterodyne.emulator.surfaces.sglang.metrics import cache_hit_rate
from heterodyne.wire.message import HttpRequest

SECTIONS = frozenset({"core", "memory", "spec", "lora", "disagg", "queues", "all"})


def loads(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    """`/v1/loads`, whole or in the sections asked for, as JSON or for a scraper."""
    words = query(request)
    wanted = frozenset(words.get("include", ["all"])[0].split(","))
    if unknown := wanted - SECTIONS:
        raise InvalidField(f"include: {', '.join(sorted(unknown))}; there are {', '.join(sorted(SECTIONS))}")
    load = _core(engine)
    if wanted & {"all", "memory"}:
        load["memory"] = {"token_capacity": engine.order.scheduling.kv_tokens}
    if wanted & {"all", "lora"}:
        used, room = len(engine.adapters), engine.adapters.room
        load["lora"] = {"slots_used": used, "slots_total": room, "utilization": used / room if room else 0.0}
    if wanted & {"all", "queues"}:
        load["queues"] = {"waiting": load["num_waiting_reqs"], "grammar": 0, "paused": 0, "retracted": 0}
    if words.get("format") == ["prometheus"]:
        return _as_prometheus(load)
    return json_response(
        {
            "timestamp": datetime.fromtimestamp(engine.wall_s, UTC).isoformat(),
            "version": engine.order.engine_version,
            "accelerator": engine.order.layout.accelerator.name,
            "num_accelerators": engine.order.layout.tp,
            "loads": [{**load, "timestamp": engine.wall_s}],
        }
    )


def old_load(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    """`/get_load`, which went before it."""
    core = _core(engine)
    waiting = core["num_waiting_reqs"]
    total = load_of(engine).running + load_of(engine).waiting
    return json_response(
        [{"dp_rank": 0, "num_reqs": total, "num_waiting_reqs": waiting, "num_tokens": core["num_total_tokens"]}]
    )


def _core(engine: EmulatedEngine) -> dict[str, object]:
    load, scheduling = load_of(engine), engine.order.scheduling
    used = round(load.kv_share * scheduling.kv_tokens)
    ahead = sum(life.prompt_tokens for _, life in engine.under_way() if life.admitted_at_s is None)
    return {
        "dp_rank": 0,
        "num_running_reqs": load.running,
        "num_waiting_reqs": load.waiting,
        "num_used_tokens": used,
        "num_total_tokens": used + (ahead if load.waiting else 0),
        "max_total_num_tokens": scheduling.kv_tokens,
        "token_usage": load.kv_share,
        "gen_throughput": engine.observations.decode_tokens_per_s if load.running else 0.0,
        "cache_hit_rate": cache_hit_rate(engine),
        "utilization": load.running / scheduling.slots,
        "max_running_requests": scheduling.slots,
    }


def _as_prometheus(load: dict[str, object]) -> EmulatorResponse:
    lines = []
    for key, value in load.items():
        fields = {f"{key}_{name}": one for name, one in value.items()} if isinstance(value, dict) else {key: value}
        for name, number in fields.items():
            if name != "dp_rank":
                lines += [f"# TYPE sglang_{name} gauge", f'sglang_{name}{{dp_rank="0"}} {number}']
    return EmulatorResponse(body=("\n".join(lines) + "\n").encode(), kind=TEXT)
