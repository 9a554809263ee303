"""What an answer rests on, in a sentence for a reader who has not read the code."""

from collections.abc import Iterable

from heterodyne.physics.profile import Basis

SENTENCES = {
    Basis.OWN: "yours: measured by you on your own replica",
    Basis.CHIP: "chip: measured on this chip under this engine",
    Basis.FAMILY: "family: measured on other chips under this engine, carried over by datasheet rates",
    Basis.DATASHEET: "datasheet: nobody measured it; datasheet rates and published priors alone",
}


def bases(used: Iterable[Basis]) -> tuple[str, ...]:
    """The sentences of those that occur, the most trusted first."""
    found = set(used)
    return tuple(SENTENCES[basis] for basis in Basis if basis in found)
