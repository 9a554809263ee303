"""`python -m benchmarks.prices.regions CATALOGUE.tar.xz`: what a chip costs in every region, from SkyPilot's catalogue.

Rows of instances are taken where the cheapest of them is the seller's price that the package has already: that shows
that both mean the same machine. The others are left out and named on stderr.
"""

import csv
import io
import json
import sys
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.hardware import Accelerator, ChipPrice

TARGET = Path(__file__).resolve().parents[2] / "src" / "heterodyne" / "physics" / "data" / "regions.toml"
HEAD = (
    "# What a chip costs for an hour by region, written by `python -m benchmarks.prices.regions`; do not edit.\n"
    "# From SkyPilot's catalogue (sources.toml: sky): cheapest zone of a region, one chip of its machine.\n"
)
NAMES = {  # in the catalogue
    "h100-sxm": ("H100", "H100-SXM", "H100-80G-SXM5"),
    "h100-pcie": ("H100-80G-PCIe", "H100"),
    "h200-sxm": ("H200", "H200-SXM"),
    "b200": ("B200",),
    "b300": ("B300",),
    "a100-80gb": ("A100-80GB", "A100-80GB-SXM"),
    "a100-pcie": ("A100-80G-PCIe", "A100-80GB"),
    "a100-40gb": ("A100",),
    "l40s": ("L40S",),
    "l4": ("L4",),
    "mi300x": ("MI300X",),
    "tpu-v5e": ("tpu-v5litepod-1",),
}
MARKETS = {"vast"}  # its places are those of single hosts
SOURCE = "sky"
NEAR_USD = 0.006  # prices of the package are rounded to cents


class Row(Struct, frozen=True):
    """One instance in one zone."""

    accelerator: str
    chips: float
    region: str
    usd: float | None
    spot_usd: float | None


def main() -> None:
    """Read the archive, write the table."""
    rows = {seller: list(_rows(text)) for seller, text in _files(Path(sys.argv[1]))}
    tables = {chip: list(_lines(accelerator, rows)) for chip, accelerator in accelerators().items()}
    text = (f"\n[{chip}]\nprices = [\n{''.join(lines)}]\n" for chip, lines in tables.items() if lines)
    TARGET.write_text(HEAD + "".join(text), encoding="utf-8")
    print(f"wrote {TARGET}", file=sys.stderr)


def _lines(accelerator: Accelerator, rows: Mapping[str, list[Row]]) -> Iterator[str]:
    """Of all sellers."""
    for price in accelerator.prices:
        if price.source == SOURCE and not price.is_spot and price.provider in rows.keys() - MARKETS:
            yield from _of_seller(accelerator.name, price, rows[price.provider])


def _of_seller(chip: str, price: ChipPrice, rows: list[Row]) -> Iterator[str]:
    """On demand, where the names of the machine are right beyond doubt; on the spot market, where it is cheaper."""
    for name in NAMES.get(chip, ()):
        these = [row for row in rows if row.accelerator == name]
        asked = _by_region(these, is_spot=False)
        if asked and abs(min(asked.values()) - price.usd_per_hour) < NEAR_USD:
            yield from _grouped(chip, price, asked, is_spot=False)
            spot = {
                region: usd
                for region, usd in _by_region(these, is_spot=True).items()
                if usd < 0.99 * asked.get(region, 0)
            }
            yield from _grouped(chip, price, spot, is_spot=True)
            return
    print(f"left out: {chip} of {price.provider}", file=sys.stderr)


def _by_region(rows: list[Row], *, is_spot: bool) -> dict[str, float]:
    """Of one chip, in the cheapest zone."""
    found: dict[str, float] = {}
    for row in rows:
        usd = row.spot_usd if is_spot else row.usd
        if usd is not None and row.region:
            found[row.region] = min(found.get(row.region, float("inf")), round(usd / row.chips, 2))
    return found


def _grouped(chip: str, price: ChipPrice, by_region: Mapping[str, float], *, is_spot: bool) -> Iterator[str]:
    """A line for the regions of one price."""
    regions: defaultdict[float, list[str]] = defaultdict(list)
    for region, usd in sorted(by_region.items()):
        regions[usd].append(region)
    flags = ", is_spot = true" * is_spot + ", is_accelerator_only = true" * price.is_accelerator_only
    for usd, names in sorted(regions.items()):
        start = f'provider = "{price.provider}", usd_per_hour = {usd:g}, day = "{price.day}"{flags}'
        yield f"  {{ {start}, regions = {json.dumps(names)} }},\n"


def _files(archive: Path) -> Iterator[tuple[str, str]]:
    """Seller and table."""
    with tarfile.open(archive) as packed:
        for member in packed:
            if member.name.endswith("/vms.csv"):
                file = packed.extractfile(member)
                assert file is not None, "a file"
                yield Path(member.name).parent.name, io.TextIOWrapper(file, encoding="utf-8").read()


def _rows(text: str) -> Iterator[Row]:
    for row in csv.DictReader(io.StringIO(text)):
        count = _number(row["AcceleratorCount"])
        if row["AcceleratorName"] and count:
            spot = _number(row.get("SpotPrice") or "")
            yield Row(row["AcceleratorName"], count, row["Region"], _number(row["Price"]), spot)


def _number(word: str) -> float | None:
    """None where nothing is said, and of what costs nothing."""
    return float(word) or None if word else None


if __name__ == "__main__":
    main()
