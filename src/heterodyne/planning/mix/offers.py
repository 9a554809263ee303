"""What chips of one kind may be had for, and how many: on demand, on the spot market, by contract, or owned already."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.hardware import Accelerator
from heterodyne.planning.hardware.ranking import lowest_price
from heterodyne.planning.mix.interruptions import Interruptions


class Holding(Struct, frozen=True, kw_only=True):
    """Chips that are there already, or that a contract gives: so many, for so much an hour each while they run."""

    accelerator: str
    word: str  # in names of kinds: "owned", "committed"
    chips: int
    usd_per_hour: float  # of a chip in use: the contract's price, or the power of one that is owned

    @property
    def stock(self) -> str:
        """Its chips count apart from those that can be rented beside."""
        return f"{self.accelerator} {self.word}"


class Offer(Struct, frozen=True, kw_only=True):
    """One way to have chips of a kind."""

    word: str  # empty: on demand
    usd_per_hour: float  # of one chip
    is_spot: bool = False
    seller: str = ""
    missing_share: float = 0.0  # of the time that one is taken back
    stock: str | None = None  # None: the accelerator's, where it is limited


def offers(
    chip: Accelerator, holdings: tuple[Holding, ...], interruptions: Mapping[str, Interruptions]
) -> Iterator[Offer]:
    """By contract and owned, then on demand, then on the spot market."""
    for one in holdings:
        if one.accelerator == chip.name:
            yield Offer(word=one.word, usd_per_hour=one.usd_per_hour, stock=one.stock)
    for word, is_spot in (("", False), ("spot", True)):
        price = lowest_price(chip, is_spot=is_spot)
        if price is not None:
            missing = interruptions[chip.name].missing_share if is_spot and chip.name in interruptions else 0.0
            yield Offer(
                word=word,
                usd_per_hour=price.usd_per_hour,
                is_spot=is_spot,
                seller=price.seller,
                missing_share=missing,
            )


def owned(chip: Accelerator, chips: int, *, usd_per_kwh: float, overhead: float) -> Holding:
    """Chips that are paid for: an hour of one costs its power and the building's."""
    if usd_per_kwh and chip.power_w is None:
        raise InvalidSpec(f"owned: the power of {chip.name} is not known; give [physics.hardware.{chip.name}] power_w")
    kw = (chip.power_w or 0.0) / 1000 * overhead
    return Holding(accelerator=chip.name, word="owned", chips=chips, usd_per_hour=kw * usd_per_kwh)
