"""What a builder is: a name, what it takes and makes, and the work."""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from heterodyne.domain.artifact import WeightFormat

DECODER, BERT = "decoder", "bert"  # kinds of models: those that write text, and those that embed it
OnStep = Callable[[int, int], None]  # steps done, of how many


class BuildOrder(Struct, frozen=True, kw_only=True):
    """One build: where its input lies and where its output goes."""

    source: Path  # the folder of the artifact it is made of
    target: Path  # a folder of its own; what an attempt before has left there is gone on with
    model: str
    precision: str
    hardware: str
    settings: dict[str, str]  # as they were given, and as the recipe has them


def kind_of(facts: Mapping[str, str]) -> str:
    """Of a model, by what its version says of itself."""
    return BERT if facts.get("family") == BERT else DECODER


def given_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """A recipe with the settings as they are."""
    return dict(settings)


class Builder(Struct, frozen=True, kw_only=True):
    """One way to make an artifact. A new one is a file here, a line in the catalogue, a test and a page."""

    name: str
    version: int  # raised where it gives other bytes than before
    takes: WeightFormat
    makes: WeightFormat
    precisions: tuple[str, ...]
    run: Callable[[BuildOrder, OnStep], None]
    tools: tuple[str, ...] = ()  # packages whose versions are written down
    settings: tuple[str, ...] = ()  # that it knows
    # The settings as the recipe has them: checked, defaults filled in, and what they name by its hash.
    recipe_settings: Callable[[Mapping[str, str]], dict[str, str]] = given_settings
    kinds: tuple[str, ...] = (DECODER,)  # of models that it takes
    is_canonical: bool = False  # what it makes is what others are built from
    is_other_model: bool = False  # what it makes says other things, so that nobody gets it who asks for the version
    is_for_one_chip: bool = False  # what it makes runs on one kind of accelerator, which the request names
