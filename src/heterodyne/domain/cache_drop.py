"""Kept answers that are not to be given again: those of a tag, a model, a project, or of all of these together."""

import re
from typing import Final

from msgspec import Struct

TAG: Final = re.compile(r"[!-+\--~]{1,64}")  # visible ASCII without a comma
TAGS_MAX: Final = 16  # of one answer


class CacheDrop(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked for before a moment and has all that is named; where nothing is named, everything."""

    at: float  # seconds since the epoch
    tag: str = ""
    model: str = ""
    project: str = ""
