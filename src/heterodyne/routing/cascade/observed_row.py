"""One observed prompt: how well each model answered it, for how much, how fast, and what judges said of the cheap one.

A file of them has one JSON object a line:

    {"prompt": "…", "models": {"small": {"quality": 1, "usd": 0.0001, "ms": 420},
     "large": {"quality": 1, "usd": 0.004, "ms": 1900}}, "judges": {"consistency": 0.25},
     "judge_usd": 0.0002, "judge_ms": 30}
"""

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.nearest import unknown_name, with_near_field

Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[float, Meta(ge=0)]


class ObservedAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What came of asking one model."""

    quality: Share
    usd: Amount
    ms: Amount | None = None  # None: not measured


class ObservedRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One prompt and all models that answered it."""

    prompt: str
    models: dict[str, ObservedAnswer]
    judges: dict[str, Share] = {}
    judge_usd: Amount = 0.0  # of judging the cheap answer, further samples included
    judge_ms: Amount = 0.0


def observed_rows(file: str, lines: Iterable[bytes], models: Iterable[str] = ()) -> list[ObservedRow]:
    """The rows of a file, each with answers of these models; raises InvalidSpec with file, line and field."""
    decoder = msgspec.json.Decoder(ObservedRow)
    wanted = tuple(models)
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            complaint = with_near_field(str(error), ObservedRow, ObservedAnswer)
            raise InvalidSpec(f"{file}:{number}: {complaint}") from error
        for model in wanted:
            if model not in row.models:
                raise InvalidSpec(f"{file}:{number}: models: {unknown_name('model', model, row.models).message}")
        rows.append(row)
    return rows
