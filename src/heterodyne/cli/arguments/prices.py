"""The options that say what chips cost here and which of them there are, for every plan that compares by price."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click
from msgspec import Struct

if TYPE_CHECKING:
    from heterodyne.physics.hardware import Accelerator
    from heterodyne.physics.step_time import Speculation
    from heterodyne.planning.hardware.own_prices import OwnPrice
    from heterodyne.planning.mix.interruptions import Interruptions

P = ParamSpec("P")
R = TypeVar("R")

PRICE_OPTIONS = (
    click.option(
        "--price",
        multiple=True,
        metavar="NAME[@REGION]=USD",
        help="Of one chip for an hour, as you pay it; repeatable.",
    ),
    click.option("--provider", multiple=True, metavar="NAME", help="Prices of this seller only; repeatable."),
    click.option(
        "--region",
        multiple=True,
        metavar="NAME",
        help="Prices of this region only, or of those that begin so (us-east); repeatable.",
    ),
    click.option("--lead-days", multiple=True, metavar="NAME=N", help="Until such chips are there; repeatable."),
    click.option("--needed-in-days", type=float, metavar="N", help="Leave out what comes later."),
)
SPOT_OPTIONS = (
    click.option(
        "--spot-interruptions",
        multiple=True,
        metavar="NAME=N",
        help="Times a day that a spot machine of this kind is taken back; repeatable. None: never.",
    ),
    click.option(
        "--spot-recovery-min",
        type=float,
        default=15.0,
        show_default=True,
        metavar="MIN",
        help="Until another serves in its place.",
    ),
)
QUANTILE_OPTION = click.option(
    "--quantile",
    type=float,
    default=0.5,
    show_default=True,
    metavar="Q",
    help="Of measured step times by predicted ones, where those rest on as much: 0.5 is the middle, 0.9 cautious.",
)
GUESSING_OPTIONS = (
    click.option(
        "--guess-tokens",
        type=int,
        metavar="N",
        help="Plan with speculative decoding or MTP: so many tokens guessed ahead in a step.",
    ),
    click.option(
        "--guess-acceptance",
        type=float,
        default=0.7,
        show_default=True,
        metavar="SHARE",
        help="The chance that one guess is right; measure yours, all depends on it.",
    ),
    click.option(
        "--guess-cost",
        type=float,
        default=0.05,
        show_default=True,
        metavar="SHARE",
        help="Time to guess one token, of a plain step: a small draft 0.05, an MTP layer about one in all layers.",
    ),
)


class PriceOptions(Struct, frozen=True, kw_only=True):
    """As they came from the command line."""

    price: tuple[str, ...] = ()
    provider: tuple[str, ...] = ()
    region: tuple[str, ...] = ()
    lead_days: tuple[str, ...] = ()
    needed_in_days: float | None = None


def price_options(command: Callable[P, R]) -> Callable[P, R]:
    """Give a command all of them."""
    for option in reversed((*PRICE_OPTIONS, *SPOT_OPTIONS, QUANTILE_OPTION, *GUESSING_OPTIONS)):
        command = option(command)
    return command


def priced_catalogue(options: PriceOptions) -> "Mapping[str, Accelerator]":
    """The accelerators of this run at the prices of its options."""
    from heterodyne.cli.arguments.catalogue import catalogue
    from heterodyne.planning.hardware.own_prices import in_regions, in_time, with_own_prices, with_regions

    chips = catalogue()
    if options.region:
        from heterodyne.physics.region_prices import region_prices

        chips = with_regions(chips, region_prices())
    chips = with_own_prices(chips, _own_prices(options.price, chips), options.provider)
    if options.region:
        chips = in_regions(chips, options.region)
    lead_days = numbers("lead-days", options.lead_days, chips, example="30")
    return in_time(chips, lead_days, options.needed_in_days)


def interruptions_from(
    words: tuple[str, ...], recovery_min: float, chips: "Mapping[str, Accelerator]"
) -> "dict[str, Interruptions]":
    """Of the accelerators whose were counted."""
    from heterodyne.planning.mix.interruptions import Interruptions

    counted = numbers("spot-interruptions", words, chips, example="0.5")
    return {name: Interruptions(per_day=often, recovery_min=recovery_min) for name, often in counted.items()}


def _own_prices(words: tuple[str, ...], chips: "Mapping[str, Accelerator]") -> "list[OwnPrice]":
    """`h100-sxm@us-east-1=2.10`, or without the region."""
    from heterodyne.planning.hardware.own_prices import OwnPrice

    found: list[OwnPrice] = []
    for word in words:
        name, _, usd = word.partition("=")
        chip, _, region = name.partition("@")
        [(accelerator, price)] = numbers("price", (f"{chip}={usd}",), chips, example="2.10").items()
        found.append(OwnPrice(accelerator=accelerator, usd_per_hour=price, region=region.strip() or None))
    return found


def numbers(
    option: str, words: tuple[str, ...], chips: "Mapping[str, Accelerator]", *, example: str
) -> dict[str, float]:
    """`h100-sxm=2.10` as a number by accelerator."""
    from heterodyne.domain.errors import InvalidSpec
    from heterodyne.physics.catalogue import accelerator

    found: dict[str, float] = {}
    for word in words:
        name, _, number = word.partition("=")
        chip = accelerator(name.strip(), chips).name
        try:
            found[chip] = float(number)
        except ValueError as error:
            raise InvalidSpec(
                f'{option}: "{word}" is not a name and a number, for example {chip}={example}.'
            ) from error
    return found


def speculation_from(tokens: int | None, acceptance: float, cost: float) -> "Speculation | None":
    """None without guesses."""
    from heterodyne.domain.errors import InvalidSpec
    from heterodyne.physics.step_time import Speculation

    if tokens is None:
        return None
    if tokens < 1 or not 0 <= acceptance <= 1 or cost < 0:
        raise InvalidSpec(
            f"guess-tokens: {tokens} tokens at {acceptance:g} cannot be; at least 1 token, and a chance from 0 to 1."
        )
    return Speculation(draft_tokens=tokens, acceptance=acceptance, draft_share=cost)
