"""Pure: what the actors of a pool ask of a node, and why none has taken one yet."""

from collections.abc import Sequence

from heterodyne.fleet.ray.messages import RayNode
from heterodyne.fleet.settings import PoolSettings

ACCELERATOR = "accelerator_type:"  # begins the resource by which Ray knows a node's accelerator
ANY_OF = "!"  # begins a label's value that is not the value itself
SHOWN_MAX = 8


def actor_options(pool: PoolSettings) -> dict[str, object]:
    """As Ray's `options` takes them."""
    gpus = pool.ray_gpus
    if gpus is None:
        gpus = float(pool.tp) if pool.ray_accelerator_type is not None else 0.0
    options: dict[str, object] = {"num_cpus": pool.ray_cpus, "num_gpus": gpus}
    if pool.ray_accelerator_type is not None:
        options["accelerator_type"] = pool.ray_accelerator_type
    if pool.ray_resources:
        options["resources"] = dict(pool.ray_resources)
    if pool.ray_labels:
        options["label_selector"] = dict(pool.ray_labels)
    return options


def why_pending(pool: PoolSettings, nodes: Sequence[RayNode]) -> str:
    """Why a replica has no node, by what the nodes are."""
    alive = [node for node in nodes if node.alive]
    if not alive:
        return "the cluster has no node"
    if pool.ray_accelerator_type is not None:
        wanted = f"{ACCELERATOR}{pool.ray_accelerator_type}"
        if not any(node.resources.get(wanted) for node in alive):
            return f"no node has an accelerator {pool.ray_accelerator_type}; {_accelerators(alive)}"
    for label, value in pool.ray_labels.items():
        if _is_plain(value) and not any(node.labels.get(label) == value for node in alive):
            return f'no node has the label {label}="{value}"; {_values(label, alive)}'
    needs = _needs(pool)
    for name, amount in needs.items():
        most = max(node.resources.get(name, 0.0) for node in alive)
        if most < amount:
            return f"it takes {amount:g} {name}, and no node has more than {most:g}"
    if not any(all(node.resources.get(name, 0.0) >= amount for name, amount in needs.items()) for node in alive):
        return f"no node has all of {', '.join(f'{amount:g} {name}' for name, amount in needs.items())}"
    return "every node that could take it is taken, or its process is about to begin"


def _needs(pool: PoolSettings) -> dict[str, float]:
    options = actor_options(pool)
    return {"CPU": pool.ray_cpus, "GPU": float(str(options["num_gpus"])), **pool.ray_resources}


def _is_plain(value: str) -> bool:
    """Whether it is a value, and no expression such as `in(a,b)` or `!a`."""
    return not value.startswith(ANY_OF) and "(" not in value


def _accelerators(nodes: Sequence[RayNode]) -> str:
    known = {name.removeprefix(ACCELERATOR) for node in nodes for name in node.resources if ACCELERATOR in name}
    return f"there are {', '.join(sorted(known)[:SHOWN_MAX])}" if known else "none has any"


def _values(label: str, nodes: Sequence[RayNode]) -> str:
    known = {node.labels[label] for node in nodes if label in node.labels}
    return f"there it is {', '.join(sorted(known)[:SHOWN_MAX])}" if known else "none has that label"
