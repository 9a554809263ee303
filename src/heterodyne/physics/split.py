"""What the rows that judged a prediction did not share with the rows it was fitted to."""

from enum import StrEnum


class Split(StrEnum):
    """How far from its own rows a prediction was scored, the nearest first."""

    CALIBRATED = "calibrated"  # other loads of the replica that was measured
    SETUP = "setup"  # other loads and layouts of a model that was measured there
    VERSION = "version"  # another version of the engine
    LAYOUT = "layout"  # other widths
    MODEL = "model"  # a model never seen
    CHIP = "chip"  # a chip never seen, of a maker that was
    VENDOR = "vendor"  # a chip of another maker
    NOTHING = "nothing"  # no row at all: datasheets and priors
