"""What an operator sends about rollouts."""

from msgspec import Struct

from heterodyne.domain.errors import InvalidField

POOLS_MAX = 32
COPIES_MAX = 100_000


class RolloutStart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Move a model to some of its pools."""

    model: str
    candidate: tuple[str, ...]  # pools; all others of the model are the baseline
    shadow: int = 0  # copies of users' requests that are compared before the first user; 0: none

    def __post_init__(self) -> None:
        if not 0 <= self.shadow <= COPIES_MAX:
            raise InvalidField(f"shadow: 0 to {COPIES_MAX} copies are expected.", param="shadow")
        if not 0 < len(self.candidate) <= POOLS_MAX:
            raise InvalidField(f"candidate: 1 to {POOLS_MAX} pools are expected.", param="candidate")

    def __str__(self) -> str:
        return f"{self.model} to {', '.join(self.candidate)}"


class RolloutOf(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rollout of a model that runs."""

    model: str

    def __str__(self) -> str:
        return self.model
