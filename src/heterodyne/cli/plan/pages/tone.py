"""The colours of marks and bars: one set for light and dark, each readable under white letters."""

from enum import StrEnum


class Tone(StrEnum):
    """A colour by its name in the style sheet."""

    BLUE = "blue"
    ORANGE = "orange"
    GREEN = "green"
    PURPLE = "purple"
    TEAL = "teal"
    PINK = "pink"
    BROWN = "brown"
    RED = "red"  # what lacks, and nothing else
    GREY = "grey"  # what is not used


# Each is between 4.5 times as dark as white and 3 times as light as the dark page, so that it serves on both.
COLOURS = {
    Tone.BLUE: "#2b6cb8",
    Tone.ORANGE: "#b4540a",
    Tone.GREEN: "#37803a",
    Tone.PURPLE: "#8450bd",
    Tone.TEAL: "#0b7d84",
    Tone.PINK: "#b83f86",
    Tone.BROWN: "#836233",
    Tone.RED: "#cc3333",
    Tone.GREY: "#6b7280",
}
# For things in a row that have no colour of their own: neighbours differ.
SERIES = (Tone.BLUE, Tone.ORANGE, Tone.TEAL, Tone.PINK, Tone.GREEN, Tone.PURPLE, Tone.BROWN)


def tone_of(place: int) -> Tone:
    """The colour of the thing at a place; they come round again after the last."""
    return SERIES[place % len(SERIES)]
