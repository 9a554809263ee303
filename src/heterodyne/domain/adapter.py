"""How near a LoRA adapter is to a replica; whoever is nearest is asked first."""

from enum import IntEnum


class Nearness(IntEnum):
    """From the nearest on."""

    HELD = 0  # a request may go there at once
    COMING = 1  # being loaded, or seen there
    ROOM = 2  # can be loaded
    FULL = 3  # can be loaded when an idle one has left
    CROWDED = 4  # every place has an adapter that is in use
    BARRED = 5  # could not be loaded a moment ago
