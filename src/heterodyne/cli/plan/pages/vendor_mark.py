"""The mark of each maker of accelerators, the same on every page."""

from heterodyne.cli.plan.pages.mark import Mark, MarkShape
from heterodyne.cli.plan.pages.tone import Tone

OTHERS = Mark("others", MarkShape.CROSS, Tone.GREY)
MARKS = {
    "nvidia": Mark("NVIDIA", MarkShape.CIRCLE, Tone.GREEN),
    "amd": Mark("AMD", MarkShape.SQUARE, Tone.ORANGE),
    "google": Mark("Google", MarkShape.TRIANGLE, Tone.BLUE),
    "intel": Mark("Intel", MarkShape.DIAMOND, Tone.TEAL),
    "aws": Mark("AWS", MarkShape.INVERTED, Tone.PURPLE),
    "apple": Mark("Apple", MarkShape.PENTAGON, Tone.BROWN),
    "arm": Mark("Arm", MarkShape.STAR, Tone.PINK),
}


def vendor_mark(vendor: str) -> Mark:
    """Makers we have no mark for share one."""
    return MARKS.get(vendor, OTHERS)
