"""Checks of KV that replicas exchange: engines that can, stores that are there, roles and strategies with two sides."""

from collections.abc import Iterator, Mapping

from heterodyne.config.fields import KV_STORES, MODELS, POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.served_models import field_of_every_pool, own_pools
from heterodyne.config.settings import Settings
from heterodyne.fleet.kv_layout import kv_layout_facts
from heterodyne.fleet.settings import PoolSettings

ENGINES_OF = {  # by how KV is exchanged
    "nixl": ("vllm",),
    "example": ("vllm",),
    "lmcache": ("vllm", "sglang"),
    "sglang": ("sglang",),
    "slots": ("llamacpp",),
    "trtllm": ("tensorrt-llm",),
    "dynamo": ("vllm", "sglang", "tensorrt-llm"),
}
HANDS_OVER = ("nixl", "sglang", "slots", "trtllm", "dynamo")  # from the one that computes it to the one that answers
WARMED = ("vllm", "sglang", "llamacpp", "tensorrt-llm", "lmdeploy", "tgi")  # keep prompts, and speak OpenAI's API
FACTS = ("role", "kv_transfer", "kv_block_tokens", "engine", "engine_model", "version", "weights_sha256", "precision")


def kv_is_exchanged_by_engines_that_can(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Each way belongs to some engines, and roles to ways that hand over."""
    for name, pool in settings.pools.items():
        path = dotted(POOLS, name, "kv_transfer")
        if pool.kv_transfer is not None and pool.engine not in ENGINES_OF[pool.kv_transfer]:
            able = " or ".join(ENGINES_OF[pool.kv_transfer])
            yield SettingProblem(
                path=path,
                message=f'"{pool.engine}" exchanges no KV by {pool.kv_transfer}; that is for {able}',
                rests_on=(dotted(POOLS, name, "engine"),),
            )
        elif pool.role != "both" and pool.kv_transfer not in HANDS_OVER:
            yield SettingProblem(
                path=dotted(POOLS, name, "role"),
                message=f"a {pool.role} replica hands KV over, or takes it; set {path} to one of "
                f"{', '.join(HANDS_OVER)}",
                rests_on=(path,),
            )


def kv_stores_of_pools_exist(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A store that a pool names is described."""
    for name, pool in settings.pools.items():
        if pool.kv_store is not None and pool.kv_store not in settings.kv_stores:
            known = ", ".join(settings.kv_stores) or "none"
            yield SettingProblem(
                path=dotted(POOLS, name, "kv_store"),
                message=f'no store "{pool.kv_store}"; {KV_STORES} has {known}',
                rests_on=(KV_STORES,),
            )


def slots_are_saved_to_a_folder(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """One folder for both sides, and one worker: what is in which slot is known to the worker that put it there."""
    for name, pool in settings.pools.items():
        if pool.kv_transfer != "slots":
            continue
        path = dotted(POOLS, name, "kv_store")
        store = settings.kv_stores.get(pool.kv_store or "")
        if pool.kv_store is None or (store is not None and store.path is None):
            yield SettingProblem(
                path=path,
                message=f"slots are saved to a folder: name one of {KV_STORES} with a path",
                rests_on=(dotted(POOLS, name, "kv_transfer"), KV_STORES),
            )
        if settings.gateway.workers != 1:
            yield SettingProblem(
                path="gateway.workers",
                message=f"pool {name} exchanges KV by slots, whose content only one worker can follow; set it to 1",
                rests_on=(dotted(POOLS, name, "kv_transfer"),),
            )


def prefill_replicas_have_somebody_to_hand_over_to(
    settings: Settings, _: Mapping[str, str]
) -> Iterator[SettingProblem]:
    """Another pool of the model that answers, and holds KV alike."""
    for name, pool in settings.pools.items():
        if pool.role != "prefill":
            continue
        answering = {
            other: one for other, one in settings.pools.items() if one.model == pool.model and one.role != "prefill"
        }
        differences = [_difference(name, pool, other, one) for other, one in answering.items()]
        if all(differences):
            why = "; ".join(differences) or "no other pool of its model answers"
            yield SettingProblem(
                path=dotted(POOLS, name, "role"),
                message=f"its KV can go to nobody: {why}",
                rests_on=field_of_every_pool(settings, *FACTS),
            )


def roles_have_a_strategy_that_uses_them(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Nobody asks a prefill replica where prompts are not split from answers."""
    for name, pool in settings.pools.items():
        kv = settings.models[pool.model].kv if pool.model in settings.models else "prefix"
        if pool.role == "prefill" and kv not in ("split", "auto"):
            path = dotted(MODELS, pool.model, "kv")
            yield SettingProblem(
                path=dotted(POOLS, name, "role"),
                message=f'{path} is "{kv}", so nobody would ask these replicas; set it to "auto" or "split"',
                rests_on=(path,),
            )


def new_replicas_can_be_warmed_up(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """By engines that keep the prompts they are asked, for models whose prompts are looked at."""
    for name, pool in settings.pools.items():
        path = dotted(POOLS, name, "kv_warm_up")
        kv = settings.models[pool.model].kv if pool.model in settings.models else "prefix"
        if pool.kv_warm_up and pool.engine not in WARMED:
            able = " or ".join(WARMED)
            yield SettingProblem(
                path=path,
                message=f'nothing is known of what "{pool.engine}" keeps of prompts; that is for {able}',
                rests_on=(dotted(POOLS, name, "engine"),),
            )
        elif pool.kv_warm_up and kv in ("stateless", "sticky"):
            strategy = dotted(MODELS, pool.model, "kv")
            yield SettingProblem(
                path=path,
                message=f'{strategy} is "{kv}", so nobody knows which prompts are asked most; set it to "prefix"',
                rests_on=(strategy,),
            )


def slots_can_be_restored_ahead(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Only a slot's file can be brought without a request that asks for it."""
    for name, pool in settings.pools.items():
        if pool.kv_prefetch and pool.kv_transfer != "slots":
            path = dotted(POOLS, name, "kv_transfer")
            yield SettingProblem(
                path=dotted(POOLS, name, "kv_prefetch"),
                message=f'nothing can be brought ahead of a request but saved slots; set {path} to "slots"',
                rests_on=(path,),
            )


def kv_strategies_have_what_they_need(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A store or an exchange for `store`, prefill replicas for `split`."""
    for name, model in settings.models.items():
        pools = own_pools(settings, name).values()
        path = dotted(MODELS, name, "kv")
        if model.kv == "store" and not any(pool.kv_store or pool.kv_transfer or pool.kv_host_gb for pool in pools):
            yield SettingProblem(
                path=path,
                message="no pool of the model has a kv_store, a kv_transfer or kv_host_gb for KV to come by",
                rests_on=field_of_every_pool(settings, "kv_store", "kv_transfer", "kv_host_gb"),
            )
        elif model.kv == "split" and not any(pool.role == "prefill" for pool in pools):
            yield SettingProblem(
                path=path,
                message='no pool of the model has role = "prefill"',
                rests_on=field_of_every_pool(settings, "role"),
            )


def _difference(name: str, pool: PoolSettings, other: str, one: PoolSettings) -> str:
    """Why KV of the one pool is of no use to the other; empty: it is of use."""
    if one.kv_transfer != pool.kv_transfer:
        return f"pool {other} exchanges KV by {one.kv_transfer or 'nothing'}, and this one by {pool.kv_transfer}"
    ours, theirs = kv_layout_facts(name, pool), kv_layout_facts(other, one)
    unlike = [f"{fact} is {theirs[fact]} there and {ours[fact]} here" for fact in ours if ours[fact] != theirs[fact]]
    return f"of pool {other} " + ", ".join(unlike) if unlike else ""
