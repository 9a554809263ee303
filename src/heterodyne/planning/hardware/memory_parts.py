"""Where the memory of one chip goes, part by part: the order in which every table, page and chart shows it."""

from heterodyne.physics.memory import MemoryBudget


def memory_parts(budget: MemoryBudget) -> dict[str, float]:
    """Bytes by part; `free` is below zero by what the demand lacks."""
    return {
        "weights": budget.weights_bytes,
        "activations": budget.activation_bytes,
        "overhead": budget.overhead_bytes,
        "kv": budget.kv_bytes,
        "free": budget.free_bytes,
        "unclaimed": budget.unclaimed_bytes,
    }
