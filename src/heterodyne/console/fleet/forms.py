"""What an operator sends to change the fleet."""

from msgspec import Struct

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


class ReloadOrder(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which gateways are to work by the settings of the file."""

    alone: bool = False  # this one, whatever the others have

    def __str__(self) -> str:
        return "alone" if self.alone else ""


def _place(url: str) -> str:
    """A URL fit for logs: before it is checked it may have a password in it, or a key in its query."""
    return without_secrets(url)[:URL_CHARS_MAX]
