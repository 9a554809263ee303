"""What we know of one kind of accelerator; where each fact comes from is kept beside it."""

from msgspec import Struct

from heterodyne.physics.precision import Precision


class Link(Struct, frozen=True, kw_only=True):
    """A way between chips; one direction, per chip."""

    name: str
    bytes_per_s: float  # of all its lanes together, as a collective uses them
    pair_bytes_per_s: float  # between two chips
    latency_s: float = 5e-6  # of one small message


class ChipPrice(Struct, frozen=True, kw_only=True):
    """What one chip costs for an hour somewhere."""

    provider: str
    usd_per_hour: float
    is_spot: bool = False
    is_accelerator_only: bool = False  # the host is billed apart
    day: str  # of the price list, YYYY-MM-DD
    source: str
    region: str | None = None  # None: where the seller asks least, or everywhere

    @property
    def seller(self) -> str:
        """Whose price it is, and where."""
        return self.provider if self.region is None else f"{self.provider} {self.region}"


class Accelerator(Struct, frozen=True, kw_only=True):
    """One kind of chip. Rates are dense and decimal."""

    name: str
    vendor: str
    architecture: str
    memory_bytes: float  # what a program may use, where it was measured; else the datasheet's
    memory_bytes_per_s: float
    flops: dict[Precision, float]  # datasheet peak
    achievable_flops: dict[Precision, float]  # what a large matrix product was measured to reach
    link: Link
    fast_domain_chips: int  # chips the link joins
    power_w: float | None = None  # None: not published
    prices: tuple[ChipPrice, ...] = ()
    engines: tuple[str, ...] = ()
    precisions: tuple[Precision, ...] = ()  # that weights may be kept in
    formats: tuple[str, ...] = ()  # the names quantised weights go by there
    aliases: tuple[str, ...] = ()
    sources: dict[str, str] = {}  # field: keys of `catalogue.sources()`
