"""A launch as our own settings: the pool that routes to it, in TOML."""

import json

from heterodyne.planning.launch.launch_plan import LaunchPlan
from heterodyne.planning.launch.sizing import Sizing
from heterodyne.planning.manifests.kubernetes import object_name


def pool_entry(sizing: Sizing, plan: LaunchPlan, *, urls: tuple[str, ...] = ()) -> str:
    """One `[pools.NAME]` table; without urls, the replica that the launch script starts on this host."""
    model, name = sizing.layout.model.name, object_name(sizing)
    in_cluster = (
        [f'# In a cluster, in place of urls: discover = "kubernetes" and kubernetes_service = {_string(name)}']
        if plan.image
        else []
    )
    lines = [
        *in_cluster,
        f"[pools.{name}]",
        f"model = {_string(model)}",
        f"engine = {_string(sizing.layout.engine)}",
        f"hardware = {_string(sizing.layout.accelerator.name)}",
        f"tp = {sizing.layout.tp}",
        f"precision = {_string(sizing.layout.precision)}",
        f"urls = [{', '.join(map(_string, urls or (f'http://127.0.0.1:{plan.port}',)))}]",
    ]
    if plan.served_name != model:
        lines.append(f"engine_model = {_string(plan.served_name)}")
    lines.append(f"context_tokens = {sizing.context_tokens}")
    if sizing.kv is not None:
        lines += [f"kv_transfer = {_string(sizing.kv.transfer)}", f"role = {_string(sizing.kv.role)}"]
    return "\n".join([*lines, ""])


def _string(text: str) -> str:
    """Of strings JSON's spelling is also TOML's."""
    return json.dumps(text)
