"""What each engine is started with so that it exchanges KV."""

import json

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.planning.launch.kv_exchange import KvExchange, with_kv
from heterodyne.planning.launch.launch_plan import LaunchPlan

PLAN = LaunchPlan(program=("engine",), flags=(), image=None, served_name="m", documentation="d")
PREFILL, DECODE = ReplicaRole.PREFILL, ReplicaRole.DECODE


def words(engine: EngineKind, transfer: str, role: ReplicaRole = ReplicaRole.BOTH, store: str | None = None) -> str:
    plan = with_kv(PLAN, engine, KvExchange(transfer=transfer, role=role, store=store))
    return " ".join(plan.argv)


@pytest.mark.parametrize(
    ("role", "said"), [(PREFILL, "kv_producer"), (DECODE, "kv_consumer"), (ReplicaRole.BOTH, "kv_both")]
)
def test_vllm_hands_over_by_its_role_and_computes_what_does_not_come(role: ReplicaRole, said: str) -> None:
    plan = with_kv(PLAN, EngineKind.VLLM, KvExchange(transfer="nixl", role=role))
    config = json.loads(plan.argv[plan.argv.index("--kv-transfer-config") + 1])
    assert config == {"kv_connector": "NixlConnector", "kv_role": said, "kv_load_failure_policy": "recompute"}
    assert "--enable-prompt-tokens-details" in plan.argv


def test_stores_and_folders_have_their_place() -> None:
    assert '"shared_storage_path": "/kv"' in words(EngineKind.VLLM, "example", store="/kv")
    assert "LMCacheMPConnector" in words(EngineKind.VLLM, "lmcache")
    assert "--slot-save-path /kv --slots" in words(EngineKind.LLAMACPP, "slots", store="/kv")


def test_sglang_is_for_one_part_of_a_request() -> None:
    assert "--disaggregation-mode prefill" in words(EngineKind.SGLANG, "sglang", PREFILL)
    assert "bootstrap" not in words(EngineKind.SGLANG, "sglang", DECODE)


@pytest.mark.parametrize(
    ("engine", "transfer", "why"),
    [
        (EngineKind.VLLM, "slots", "there is nixl, example, lmcache"),
        (EngineKind.TENSORRT_LLM, "trtllm", "there is none"),
        (EngineKind.SGLANG, "sglang", "for prefill or for decode"),
        (EngineKind.VLLM, "example", "needs a folder"),
        (EngineKind.LLAMACPP, "slots", "needs the folder"),
    ],
)
def test_what_cannot_be_launched_is_refused_with_what_can(engine: EngineKind, transfer: str, why: str) -> None:
    with pytest.raises(InvalidSpec, match=why):
        words(engine, transfer)
