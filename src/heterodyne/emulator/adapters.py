"""The LoRA adapters of an emulated engine; only their names matter, nothing is read from disk."""

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct


class AdapterRefusal(StrEnum):
    """Why an adapter was not loaded or unloaded."""

    LOADED = "loaded"  # one of this name is loaded
    FULL = "full"
    MISSING = "missing"


class Adapter(Struct, frozen=True, kw_only=True):
    """One adapter of the served model."""

    name: str
    path: str
    number: int  # as KV events and llama.cpp call it; the first is 1
    scale: float = 1.0


class EmulatedAdapters:
    """Those in memory, in the order they were loaded."""

    def __init__(self, room: int, names: tuple[str, ...] = ()) -> None:
        self.room = room
        self._loaded: dict[str, Adapter] = {}
        self._numbers = 0
        for name in names:
            self.try_load(name, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)

    def get(self, name: str) -> Adapter | None:
        """The adapter of this name."""
        return self._loaded.get(name)

    @property
    def loaded(self) -> tuple[Adapter, ...]:
        """All of them."""
        return tuple(self._loaded.values())

    def try_load(self, name: str, path: str) -> AdapterRefusal | None:
        """One more, unless there is a reason against it."""
        if name in self._loaded:
            return AdapterRefusal.LOADED
        if len(self._loaded) >= self.room:
            return AdapterRefusal.FULL
        self._numbers += 1
        self._loaded[name] = Adapter(name=name, path=path, number=self._numbers)
        return None

    def try_unload(self, name: str) -> AdapterRefusal | None:
        """One fewer; requests under way with it are not disturbed."""
        return AdapterRefusal.MISSING if self._loaded.pop(name, None) is None else None

    def set_scales(self, scales: dict[int, float]) -> None:
        """Scales by number; adapters that are not named are turned off."""
        self._loaded = {
            name: Adapter(name=name, path=adapter.path, number=adapter.number, scale=scales.get(adapter.number, 0.0))
            for name, adapter in self._loaded.items()
        }
