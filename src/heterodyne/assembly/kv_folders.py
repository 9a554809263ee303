"""The folders that llama.cpp replicas save slots to, as the settings have them."""

from collections.abc import Callable
from pathlib import Path

from heterodyne.config.settings import Settings
from heterodyne.gateway.kv.slot_files import TTL_S, SlotFiles


def slot_files(settings: Settings, wall_clock: Callable[[], float]) -> dict[str, SlotFiles]:
    """By the name of the store, of those that have a folder."""
    return {
        name: SlotFiles(
            Path(store.path).absolute(),
            wall_clock=wall_clock,
            bytes_max=int(store.capacity_gb * 1e9),
            ttl_s=TTL_S if store.ttl_s is None else store.ttl_s,
        )
        for name, store in settings.kv_stores.items()
        if store.path is not None
    }
