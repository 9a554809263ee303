"""What an operator sends about pools that grow and shrink by themselves."""

from msgspec import Struct


class ScalingOf(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of one model or, without one, of all."""

    model: str | None = None
