"""How one replica is spread over chips: tensor, pipeline, expert and attention-data widths."""

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec


class Parallelism(Struct, frozen=True, kw_only=True):
    """The widths of one replica. Experts are cut `ep` ways whole, and across the remaining chips by tensor."""

    tp: int = 1  # chips that share each attention head group and each dense matrix
    pp: int = 1  # stages of layers, one after another
    ep: int = 1  # groups that whole experts are dealt to
    dp: int = 1  # copies of attention that each serve their own sequences

    def __post_init__(self) -> None:
        """Widths count chips, so none is below one."""
        for name in ("tp", "pp", "ep", "dp"):
            if getattr(self, name) < 1:
                raise InvalidSpec(f"{name}: {getattr(self, name)} is no width: it counts chips, give at least 1")

    @property
    def stage_chips(self) -> int:
        """Chips that work on one layer together."""
        return self.tp * self.dp

    @property
    def chips(self) -> int:
        """Chips in the replica."""
        return self.tp * self.dp * self.pp
