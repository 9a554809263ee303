"""A fitted cascade: its router, its blend of judges, its thresholds, and a card that says what they rest on."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.routing.cascade.blend import JudgeBlend
from heterodyne.routing.cascade.complexity import ComplexityRouter, ComplexityWeights
from heterodyne.routing.cascade.price import BigPrice, priced
from heterodyne.routing.cascade.risk import RiskBound, RiskThreshold

FORMAT: Final = "heterodyne-cascade-1"


class CascadeCard(Struct, frozen=True, kw_only=True):
    """What a reader of the file should know before relying on it."""

    rows: int
    fitted_rows: int  # scores were learned from these
    bounded_rows: int  # thresholds were chosen on these
    cheap_quality: float
    big_quality: float
    seed: int
    judges: tuple[str, ...]
    note: str = (
        "Holds for prompts, models and judges like those it was fitted on. Calibrate again when a model, a prompt "
        "template or the mix of traffic changes."
    )


class FittedCascade(Struct, frozen=True, kw_only=True):
    """All that is needed to decide, as one small JSON file."""

    cheap: str
    big: str
    bound: RiskBound
    routed: RiskThreshold  # for prompts alone
    judged: RiskThreshold | None  # for judged answers; None where no row was judged
    complexity: ComplexityWeights
    blend: JudgeBlend | None
    price: BigPrice
    steps_routed: tuple[float, ...]
    steps_judged: tuple[float, ...]
    card: CascadeCard
    format: str = FORMAT


class CascadeScorer:
    """Risks of prompts and of judged answers, each for the price of the big answer, by one fitted cascade."""

    def __init__(self, fitted: FittedCascade) -> None:
        self.fitted = fitted
        self._router = ComplexityRouter(fitted.complexity)

    def prompt_risk(self, prompt: str) -> float:
        return priced(self._router.risk(prompt), self.fitted.price.relative(prompt))

    def try_answer_risk(self, prompt: str, risks: Mapping[str, float]) -> float | None:
        """None where a judge is missing, or none was ever there."""
        if self.fitted.blend is None:
            return None
        risk = self.fitted.blend.try_risk(self._router.margin(prompt), risks)
        return None if risk is None else priced(risk, self.fitted.price.relative(prompt))


def encoded(fitted: FittedCascade) -> bytes:
    """The file of a fitted cascade."""
    return msgspec.json.format(msgspec.json.encode(fitted), indent=1) + b"\n"


def decoded(file: str, data: bytes) -> FittedCascade:
    """A fitted cascade from its file; raises InvalidSpec."""
    try:
        fitted = msgspec.json.decode(data, type=FittedCascade)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidSpec(f"{file}: not a fitted cascade: {error}") from error
    if fitted.format != FORMAT:
        raise InvalidSpec(f"{file}: format {fitted.format}, this version reads {FORMAT}; fit again")
    try:
        ComplexityRouter(fitted.complexity)
    except ValueError as error:
        raise InvalidSpec(f"{file}: {error}") from error
    return fitted
