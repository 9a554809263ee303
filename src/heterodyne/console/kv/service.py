"""What knows of KV."""

from typing import Protocol

from heterodyne.console.kv.pages import KvPage


class KvService(Protocol):
    """One per console."""

    def page(self) -> KvPage: ...
