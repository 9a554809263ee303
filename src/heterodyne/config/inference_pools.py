"""Pools that are of an InferencePool get its endpoints from the manifests, before settings are judged together."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.config.suggestions import nearest
from heterodyne.domain.errors import InvalidSpec
from heterodyne.fleet.inference_pools import InferenceManifests, read_inference_manifests

MANIFESTS = "endpoint_picker.manifests"


def with_inference_pools(settings: Settings) -> tuple[Settings, list[SettingProblem]]:
    """The settings with the addresses and priorities that the manifests have, and what is wrong with them."""
    asking = {name: pool for name, pool in settings.pools.items() if pool.inference_pool is not None}
    picker = settings.endpoint_picker
    if picker.manifests is None:
        path = "inference_pool"
        return settings, [
            SettingProblem(path=dotted(POOLS, name, path), message=f"needs {MANIFESTS}, where InferencePools are read")
            for name in asking
        ]
    try:
        manifests = read_inference_manifests(Path(picker.manifests).expanduser())
    except InvalidSpec as error:
        return settings, [SettingProblem(path=MANIFESTS, message=error.message)]
    problems = list(_unknown(settings, manifests))
    pools = dict(settings.pools)
    for name, pool in asking.items():
        found = manifests.pools.get(pool.inference_pool or "")
        if found is not None and not pool.urls:
            pools[name] = structs.replace(pool, urls=tuple(f"http://{one}" for one in manifests.endpoints(found)))
    objectives = {**manifests.objectives, **picker.objectives}
    return structs.replace(
        settings, pools=pools, endpoint_picker=structs.replace(picker, objectives=objectives)
    ), problems


def _unknown(settings: Settings, manifests: InferenceManifests) -> Iterator[SettingProblem]:
    for name, pool in settings.pools.items():
        wanted = pool.inference_pool
        if wanted is None:
            continue
        path = dotted(POOLS, name, "inference_pool")
        if pool.urls:
            yield SettingProblem(path=path, message="both urls and inference_pool; keep one of them")
        elif wanted not in manifests.pools:
            near = nearest(wanted, manifests.pools)
            hint = f'; did you mean "{near}"?' if near else ""
            yield SettingProblem(
                path=path, message=f'no InferencePool "{wanted}" in {settings.endpoint_picker.manifests}{hint}'
            )
