"""What pools and models must say of KV that is exchanged, one check at a time."""

import pytest

from heterodyne.config.checks import kv_exchange_checks as checks
from heterodyne.config.checks.catalogue import CHECKS, Check
from heterodyne.config.settings import Settings
from heterodyne.fleet.kv_layout import kv_layout
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings

STORE = KvStoreSettings(medium="redis", capacity_gb=100.0)


def pool(**fields: object) -> PoolSettings:
    return PoolSettings(**{"model": "m", "engine": "vllm", "urls": ("http://gpu1:8000",), "version": "1", **fields})  # type: ignore[arg-type]


def found(check: Check, kv: str = "prefix", **pools: PoolSettings) -> list[str]:
    settings = Settings(pools=pools, models={"m": ModelSettings(kv=kv)}, kv_stores={"shared": STORE})  # type: ignore[arg-type]
    return [str(problem) for problem in check(settings, {})]


def test_two_roles_that_go_together_have_no_problem() -> None:
    prompts = pool(role="prefill", kv_transfer="nixl", kv_store="shared")
    answers = pool(role="decode", kv_transfer="nixl", urls=("http://gpu2:8000",))
    assert [problem for check in CHECKS for problem in found(check, "split", p=prompts, d=answers)] == []


def test_an_engine_that_exchanges_no_kv_that_way_is_refused() -> None:
    (problem,) = found(checks.kv_is_exchanged_by_engines_that_can, p=pool(engine="sglang", kv_transfer="nixl"))
    assert problem == 'pools.p.kv_transfer: "sglang" exchanges no KV by nixl; that is for vllm'


@pytest.mark.parametrize("transfer", [None, "example", "lmcache"])
def test_a_role_takes_a_way_to_hand_over(transfer: str | None) -> None:
    (problem,) = found(checks.kv_is_exchanged_by_engines_that_can, p=pool(role="decode", kv_transfer=transfer))
    assert "set pools.p.kv_transfer to one of nixl, sglang, slots, trtllm, dynamo" in problem


def test_a_store_that_is_not_described_is_refused() -> None:
    (problem,) = found(checks.kv_stores_of_pools_exist, p=pool(kv_store="shered"))
    assert problem == 'pools.p.kv_store: no store "shered"; kv_stores has shared'


def test_slots_want_a_folder_and_one_worker() -> None:
    def problems(path: str | None, workers: int, kv_store: str | None = "disk") -> list[str]:
        settings = Settings(
            gateway=GatewaySettings(workers=workers),
            kv_stores={"disk": KvStoreSettings(medium="disk", capacity_gb=1.0, path=path)},
            pools={"p": pool(engine="llamacpp", kv_transfer="slots", kv_store=kv_store)},
        )
        return [str(problem) for problem in checks.slots_are_saved_to_a_folder(settings, {})]

    assert problems("/var/kv", 1) == []
    assert problems(None, 1) == problems("/var/kv", 1, kv_store=None)
    assert problems(None, 1) == ["pools.p.kv_store: slots are saved to a folder: name one of kv_stores with a path"]
    assert "only one worker can follow" in problems("/var/kv", 2)[0]


def test_a_prefill_pool_alone_is_refused() -> None:
    (problem,) = found(
        checks.prefill_replicas_have_somebody_to_hand_over_to, p=pool(role="prefill", kv_transfer="nixl")
    )
    assert problem.endswith("no other pool of its model answers")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"version": "2"}, "version is 2 there and 1 here"),
        ({"version": None}, "version is that of pool d alone: it does not say there and 1 here"),
        ({"kv_block_tokens": 128}, "block_tokens is 128 there and 16 here"),
        ({"precision": "fp8"}, "precision is fp8 there and as it comes here"),
        ({"kv_transfer": "dynamo"}, "pool d exchanges KV by dynamo, and this one by nixl"),
    ],
)
def test_a_prefill_pool_whose_kv_fits_nowhere_says_why(fields: dict[str, object], why: str) -> None:
    prompts = pool(role="prefill", kv_transfer="nixl")
    answers = pool(**{"role": "decode", "kv_transfer": "nixl", **fields})
    (problem,) = found(checks.prefill_replicas_have_somebody_to_hand_over_to, p=prompts, d=answers)
    assert why in problem


def test_a_prefill_pool_that_nobody_would_ask_is_refused() -> None:
    (problem,) = found(checks.roles_have_a_strategy_that_uses_them, "store", p=pool(role="prefill", kv_transfer="nixl"))
    assert problem.startswith('pools.p.role: models.m.kv is "store", so nobody would ask these replicas')


def test_strategies_need_something_to_work_with() -> None:
    (store,) = found(checks.kv_strategies_have_what_they_need, "store", p=pool())
    (split,) = found(checks.kv_strategies_have_what_they_need, "split", p=pool(kv_transfer="nixl"))
    assert "models.m.kv: no pool of the model has a kv_store" in store
    assert 'models.m.kv: no pool of the model has role = "prefill"' in split
    assert found(checks.kv_strategies_have_what_they_need, "auto", p=pool()) == []


def test_a_layout_is_that_of_all_pools_that_hold_kv_alike() -> None:
    one = kv_layout("a", pool(kv_transfer="nixl"))
    assert one == kv_layout("b", pool(kv_transfer="nixl", tp=4, role="decode"))
    assert one != kv_layout("b", pool(kv_transfer="nixl", version="2"))
    assert kv_layout("a", pool()) == ""


def test_pools_that_do_not_say_their_version_hold_nothing_alike() -> None:
    silent = pool(kv_transfer="nixl", version=None)
    assert kv_layout("a", silent) != kv_layout("b", silent)


def test_an_engine_is_warmed_up_if_it_keeps_prompts() -> None:
    assert found(checks.new_replicas_can_be_warmed_up, p=pool(kv_warm_up=8)) == []
    assert found(checks.new_replicas_can_be_warmed_up, p=pool(engine="openai")) == []
    (problem,) = found(checks.new_replicas_can_be_warmed_up, p=pool(engine="openai", kv_warm_up=8))
    assert problem.startswith(
        'pools.p.kv_warm_up: nothing is known of what "openai" keeps of prompts; that is for vllm'
    )


@pytest.mark.parametrize("kv", ["stateless", "sticky"])
def test_a_pool_is_warmed_up_by_a_strategy_that_looks_at_prompts(kv: str) -> None:
    (problem,) = found(checks.new_replicas_can_be_warmed_up, kv, p=pool(kv_warm_up=8))
    assert problem.startswith(f'pools.p.kv_warm_up: models.m.kv is "{kv}"')


def test_only_saved_slots_are_brought_ahead_of_a_request() -> None:
    assert (
        found(checks.slots_can_be_restored_ahead, p=pool(engine="llamacpp", kv_transfer="slots", kv_prefetch=True))
        == []
    )
    (problem,) = found(checks.slots_can_be_restored_ahead, p=pool(kv_transfer="nixl", kv_prefetch=True))
    assert problem == (
        "pools.p.kv_prefetch: nothing can be brought ahead of a request but saved slots; "
        'set pools.p.kv_transfer to "slots"'
    )
