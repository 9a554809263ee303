"""What the control loops ask of an engine dialect: where to look, how to read it, what can be ordered."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from heterodyne.domain.engine_load import Capability, EngineLoad, ServedModel
from heterodyne.ports.engine_headers import EngineHeaders


class ControlCall(NamedTuple):
    """One call of the control plane; an empty body is none."""

    method: str
    path: str
    body: bytes = b""


class EngineControl(EngineHeaders, Protocol):
    """The side of an engine that no client sees. Pure: no sockets, no clocks."""

    name: str
    health_path: str
    models_path: str | None  # None: it has no list
    load_paths: tuple[str, ...]  # pages that `read_load` wants, in this order; empty: it says nothing of its load
    fallback_load_paths: tuple[str, ...]  # to read instead when one of those is not there (404, 501); empty: none
    load_port: int | None  # where its load pages are; None: where it answers
    capabilities: frozenset[Capability]  # of the program; how it was started and what the model can is another matter

    def is_ready(self, status: int, body: bytes) -> bool:
        """Whether its health page says that it takes work."""
        ...

    def read_models(self, body: bytes) -> tuple[ServedModel, ...]:
        """Its model list; raises `EngineGarbage` when the page is none."""
        ...

    def read_load(self, pages: Sequence[bytes]) -> EngineLoad:
        """Its load, from `load_paths` or `fallback_load_paths`; raises `EngineGarbage` with what is wrong."""
        ...

    def load_adapter(self, name: str, source: str) -> ControlCall | None:
        """Load a LoRA adapter; None: it cannot while it runs."""
        ...

    def unload_adapter(self, name: str) -> ControlCall | None: ...

    def sleep(self) -> ControlCall | None:
        """Give memory back; None: it cannot."""
        ...

    def wake(self) -> ControlCall | None: ...
