"""`heterodyne hardware`: the accelerators we know, every number with where it was read."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heterodyne.physics.hardware import Accelerator, ChipPrice


@click.group()
def hardware() -> None:
    """List the accelerators in the catalogue and show what is known of one.

    \b
    Examples:
      heterodyne hardware list
      heterodyne hardware show h100-sxm
    """


@hardware.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the accelerators as JSON.")
def list_hardware(as_json: bool) -> None:
    """List every accelerator: memory, bandwidth, BF16 rate on paper and measured, link, the lowest list price.

    \b
    Examples:
      heterodyne hardware list
      heterodyne hardware list --json
    """
    from heterodyne.cli.arguments.catalogue import catalogue
    from heterodyne.cli.output import print_json, print_table

    found = list(catalogue().values())
    if as_json:
        print_json(found)
        return
    header = ("NAME", "VENDOR", "MEMORY", "TB/S", "BF16 TFLOPS", "MEASURED", "LINK GB/S", "CHIPS", "USD/H")
    print_table(header, [_row(chip) for chip in found])


@hardware.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the accelerator as JSON.")
def show(name: str, as_json: bool) -> None:
    """Show one accelerator, each number with its source; what the settings replaced says "settings".

    \b
    Examples:
      heterodyne hardware show h100-sxm
      heterodyne hardware show mi300x --json
    """
    from heterodyne.cli.arguments.catalogue import catalogue
    from heterodyne.cli.output import print_json, print_table
    from heterodyne.physics.catalogue import SETTINGS, accelerator, sources

    chip = accelerator(name, catalogue())
    known = {**sources(), SETTINGS: f"[physics.hardware.{chip.name}] of your settings"}
    if as_json:
        print_json({"accelerator": chip, "sources": {key: known[key] for key in _keys(chip) if key in known}})
        return
    click.echo(f"{chip.name} ({chip.vendor}, {chip.architecture})")
    print_table(("FACT", "VALUE", "SOURCE"), _facts(chip))
    if chip.prices:
        click.echo()
        print_table(("PROVIDER", "USD/H", "KIND", "DAY", "SOURCE"), [_price_row(price) for price in chip.prices])
    click.echo()
    _print_sources(chip, known)


def _row(chip: "Accelerator") -> tuple[str, ...]:
    from heterodyne.cli.output import gib_in_words
    from heterodyne.physics.precision import Precision

    prices = [price.usd_per_hour for price in chip.prices if not price.is_spot]
    return (
        chip.name,
        chip.vendor,
        gib_in_words(chip.memory_bytes),
        f"{chip.memory_bytes_per_s / 1e12:.2f}",
        _tera(chip.flops.get(Precision.BF16)),
        _tera(chip.achievable_flops.get(Precision.BF16)),
        f"{chip.link.bytes_per_s / 1e9:g}",
        str(chip.fast_domain_chips),
        f"{min(prices):.2f}" if prices else "-",
    )


def _facts(chip: "Accelerator") -> list[tuple[str, str, str]]:
    from heterodyne.cli.output import gib_in_words

    link = chip.link
    facts = [
        ("memory_bytes", "memory", gib_in_words(chip.memory_bytes)),
        ("memory_bytes_per_s", "memory bandwidth", f"{chip.memory_bytes_per_s / 1e12:g} TB/s"),
        *(("flops", f"{name} peak", f"{_tera(rate)} TFLOPS") for name, rate in chip.flops.items()),
        *(
            ("achievable_flops", f"{name} achievable", f"{_tera(rate)} TFLOPS")
            for name, rate in chip.achievable_flops.items()
        ),
        ("link", f"link {link.name}", f"{link.bytes_per_s / 1e9:g} GB/s one way"),
        ("link", "link between two chips", f"{link.pair_bytes_per_s / 1e9:g} GB/s one way"),
        ("fast_domain_chips", "chips the link joins", str(chip.fast_domain_chips)),
        ("power_w", "power", "not published" if chip.power_w is None else f"{chip.power_w:g} W"),
        ("precisions", "weights in", ", ".join(chip.precisions)),
        ("engines", "engines", ", ".join(chip.engines)),
    ]
    return [(fact, value, chip.sources.get(field, "-")) for field, fact, value in facts]


def _price_row(price: "ChipPrice") -> tuple[str, ...]:
    kind = "spot" if price.is_spot else "on demand"
    host = ", host apart" if price.is_accelerator_only else ""
    return (price.provider, f"{price.usd_per_hour:.2f}", f"{kind}{host}", price.day, price.source)


def _print_sources(chip: "Accelerator", known: "Mapping[str, str]") -> None:
    click.echo("Sources:")
    for key in _keys(chip):
        if key in known:  # a price in the settings may name a source of its own
            click.echo(f"  {key}: {known[key]}")


def _keys(chip: "Accelerator") -> list[str]:
    """The source keys this chip's facts use, each once."""
    listed = [*chip.sources.values(), *(price.source for price in chip.prices)]
    return sorted({key for keys in listed for key in keys.split(", ")})


def _tera(rate: float | None) -> str:
    return "-" if rate is None else f"{rate / 1e12:g}"
