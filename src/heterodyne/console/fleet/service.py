"""What an operator may ask for, what is answered, and the desk that does it."""

from typing import Protocol

from msgspec import Struct

from heterodyne.console.decisions.service import DecisionService
from heterodyne.console.fleet.pages import FleetPage
from heterodyne.domain.errors import InvalidField
from heterodyne.domain.url_secrets import without_secrets

URL_CHARS_MAX = 300


class Selection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One replica, or all of a pool."""

    replica: str | None = None
    pool: str | None = None

    def __post_init__(self) -> None:
        if (self.replica is None) == (self.pool is None):
            raise InvalidField("Name either `replica` or `pool`.", param="replica")

    def __str__(self) -> str:
        return self.replica or f"pool {self.pool}"


class Addition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A replica that runs somewhere, for a pool that there is."""

    pool: str
    url: str
    without_key: bool = False  # it is not sent the pool's key

    def __str__(self) -> str:
        return f"{_place(self.url)} to pool {self.pool}{' without its key' if self.without_key else ''}"


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """A change that needs no words."""

    def __str__(self) -> str:
        return ""


class Changed(Struct, frozen=True, kw_only=True):
    """What a change did."""

    version: int  # of the fleet
    replicas: tuple[str, ...]  # those it was about
    is_applied: bool  # whether every worker has said that it works by it; False: some worker is late
    note: str = ""


class Reloaded(Struct, frozen=True, kw_only=True):
    """What a reload did, replica by replica and setting by setting."""

    version: int
    is_applied: bool
    started: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()  # they finish what they have first
    changed: tuple[str, ...] = ()  # the same engine, about which the settings now say something else
    dropped: tuple[str, ...] = ()  # of those stopped, the ones that were added while running
    needs_restart: tuple[str, ...] = ()  # settings that keep their old value until then


class FleetService(Protocol):
    """Whoever owns the fleet."""

    @property
    def decisions(self) -> DecisionService: ...

    def page(self) -> FleetPage: ...

    async def drain(self, selection: Selection) -> Changed: ...

    async def undrain(self, selection: Selection) -> Changed: ...

    async def restart(self, selection: Selection) -> Changed: ...

    async def remove(self, selection: Selection) -> Changed: ...

    async def add(self, addition: Addition) -> Changed: ...

    async def reload(self) -> Reloaded: ...


def _place(url: str) -> str:
    """A URL fit for logs: before it is checked it may have a password in it, or a key in its query."""
    return without_secrets(url)[:URL_CHARS_MAX]
