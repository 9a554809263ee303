"""The mark of each maker of accelerators, the same on every page."""

from heterodyne.cli.plan_pages.mark import Mark, Shape
from heterodyne.cli.plan_pages.tone import Tone

OTHERS = Mark("others", Shape.CROSS, Tone.GREY)
MARKS = {
    "nvidia": Mark("NVIDIA", Shape.CIRCLE, Tone.GREEN),
    "amd": Mark("AMD", Shape.SQUARE, Tone.ORANGE),
    "google": Mark("Google", Shape.TRIANGLE, Tone.BLUE),
    "intel": Mark("Intel", Shape.DIAMOND, Tone.TEAL),
    "aws": Mark("AWS", Shape.INVERTED, Tone.PURPLE),
    "apple": Mark("Apple", Shape.PENTAGON, Tone.BROWN),
    "arm": Mark("Arm", Shape.STAR, Tone.PINK),
}


def vendor_mark(vendor: str) -> Mark:
    """Makers we have no mark for share one."""
    return MARKS.get(vendor, OTHERS)
