"""One step forward of the database's shape, in both dialects."""

from msgspec import Struct


class Migration(Struct, frozen=True, kw_only=True):
    """Adds and never takes away, so that gateways of the version before go on serving beside it."""

    number: int  # from 1, without gaps
    name: str
    sqlite: tuple[str, ...]  # statements
    postgres: tuple[str, ...]
