"""The flags that let a replica exchange KV with others, in the words of its engine."""

import json
from collections.abc import Callable, Mapping

from msgspec import Struct, structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.planning.launch.launch_plan import Flag, LaunchPlan, Variable

NIXL_PORT, BOOTSTRAP_PORT, LMCACHE_PORT = 5600, 8998, 6555
KV_ROLES = {
    ReplicaRole.BOTH: "kv_both",
    ReplicaRole.PREFILL: "kv_producer",
    ReplicaRole.DECODE: "kv_consumer",
}
BECAUSE_USAGE = "the gateway reads what came from elsewhere in the usage of answers"


class KvExchange(Struct, frozen=True, kw_only=True):
    """What is wanted, as a pool's settings say it."""

    transfer: str
    role: ReplicaRole = ReplicaRole.BOTH
    store: str | None = None  # a folder, or where a store answers


class _Words(Struct, frozen=True, kw_only=True):
    flags: tuple[Flag, ...]
    environment: tuple[Variable, ...] = ()
    notes: tuple[str, ...] = ()


def with_kv(plan: LaunchPlan, engine: EngineKind, exchange: KvExchange) -> LaunchPlan:
    """The plan with what the exchange takes; raises `InvalidSpec` where the engine has no words for it."""
    ways = WAYS.get(engine, {})
    if exchange.transfer not in ways:
        able = ", ".join(ways) or "none"
        raise InvalidSpec(f"kv-transfer: {engine} is not launched with {exchange.transfer!r}; there is {able}")
    words = ways[exchange.transfer](exchange)
    return structs.replace(
        plan,
        flags=(*plan.flags, *words.flags),
        environment=(*plan.environment, *words.environment),
        notes=(*plan.notes, *words.notes),
    )


def _nixl(exchange: KvExchange) -> _Words:
    config = {
        "kv_connector": "NixlConnector",
        "kv_role": KV_ROLES[exchange.role],
        "kv_load_failure_policy": "recompute",
    }
    return _Words(
        flags=(
            _connector(config, "prompts are handed over; what does not come is computed"),
            Flag(words=("--enable-prompt-tokens-details",), because=BECAUSE_USAGE),
        ),
        environment=(
            Variable(
                name="VLLM_NIXL_SIDE_CHANNEL_PORT", value=str(NIXL_PORT), because="one for each replica of a host"
            ),
        ),
        notes=(
            "set VLLM_NIXL_SIDE_CHANNEL_HOST to the address that other replicas reach this one by",
            "leave kv_lease_duration at 30 s or above: the gateway trusts a hand-over for 30 s",
        ),
    )


def _example(exchange: KvExchange) -> _Words:
    config = {
        "kv_connector": "ExampleConnector",
        "kv_role": "kv_both",
        "kv_connector_extra_config": {"shared_storage_path": _store(exchange, "a folder that all replicas see")},
    }
    return _Words(
        flags=(
            _connector(config, "prompts are left in a folder, and read where the whole of one is there"),
            Flag(words=("--enable-prompt-tokens-details",), because=BECAUSE_USAGE),
        ),
        notes=("ExampleConnector is for trying out: a prompt of one token was seen to end the engine",),
    )


def _lmcache(exchange: KvExchange) -> _Words:
    config = {
        "kv_connector": "LMCacheMPConnector",
        "kv_role": "kv_both",
        "kv_connector_extra_config": {"lmcache.mp.host": "tcp://127.0.0.1", "lmcache.mp.port": LMCACHE_PORT},
    }
    return _Words(
        flags=(
            _connector(config, "blocks are kept by the LMCache server of this host, and what is behind it"),
            Flag(words=("--enable-prompt-tokens-details",), because=BECAUSE_USAGE),
        ),
        environment=(Variable(name="PYTHONHASHSEED", value="0", because="blocks have the same names everywhere"),),
        notes=(
            f"start beside it: lmcache server --port {LMCACHE_PORT} --supported-transfer-mode engine_driven, with an "
            "--l2-adapter for the store that replicas share; without engine_driven vLLM hangs",
        ),
    )


def _sglang(exchange: KvExchange) -> _Words:
    if exchange.role is ReplicaRole.BOTH:
        raise InvalidSpec("role: a replica of SGLang that exchanges KV is for prefill or for decode")
    flags = [
        Flag(words=("--disaggregation-mode", exchange.role.value), because="its part of a request"),
        Flag(words=("--disaggregation-transfer-backend", "nixl")),
    ]
    if exchange.role is ReplicaRole.PREFILL:
        words = ("--disaggregation-bootstrap-port", str(BOOTSTRAP_PORT))
        flags.append(Flag(words=words, because="where pairs meet; the label kv_bootstrap_port says another"))
    return _Words(flags=tuple(flags), notes=("read in SGLang's source, not run here",))


def _sglang_lmcache(_: KvExchange) -> _Words:
    return _Words(
        flags=(Flag(words=("--enable-lmcache",), because="blocks are kept by LMCache"),),
        notes=("LMCACHE_CONFIG_FILE names its configuration; read in SGLang's source, not run here",),
    )


def _slots(exchange: KvExchange) -> _Words:
    folder = _store(exchange, "the folder that slots are saved to")
    return _Words(
        flags=(
            Flag(words=("--slot-save-path", folder), because="conversations move in files"),
            Flag(words=("--slots",), because="the gateway counts them"),
        )
    )


def _connector(config: Mapping[str, object], because: str) -> Flag:
    return Flag(words=("--kv-transfer-config", json.dumps(config)), because=because)


def _store(exchange: KvExchange, what: str) -> str:
    if exchange.store is None:
        raise InvalidSpec(f"kv-store: {exchange.transfer} needs {what}")
    return exchange.store


WAYS: Mapping[EngineKind, Mapping[str, Callable[[KvExchange], _Words]]] = {
    EngineKind.VLLM: {"nixl": _nixl, "example": _example, "lmcache": _lmcache},
    EngineKind.SGLANG: {"sglang": _sglang, "lmcache": _sglang_lmcache},
    EngineKind.LLAMACPP: {"slots": _slots},
}
