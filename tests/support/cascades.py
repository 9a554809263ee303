"""Cascades that were fitted to made-up traffic: long prompts are hard for the small model."""

from collections.abc import Callable
from pathlib import Path

from heterodyne.routing.cascade.fitted_cascade import FittedCascade, encoded
from heterodyne.routing.cascade.fitting import fit_cascade
from heterodyne.routing.cascade.observed_row import ObservedAnswer, ObservedRow
from heterodyne.routing.cascade.risk import RiskBound

CHEAP, BIG, ALIAS = "small", "scripted", "smart"
EASY = "What is the capital of France? (1)"
HARD = "Prove the lemma on compact operators, please. (2)"


def fitted_file(
    folder: Path, *judges: str, doubt: Callable[[bool], float] = lambda is_right: 0.0 if is_right else 0.9
) -> Path:
    """Fitted to 400 prompts of which the small model can do half, and judged by these judges."""
    path = folder / "cascade.json"
    path.write_bytes(encoded(_fitted(judges, doubt)))
    return path


def _fitted(judges: tuple[str, ...], doubt: Callable[[bool], float]) -> FittedCascade:
    rows = [_row(number, judges, doubt) for number in range(400)]
    return fit_cascade(rows, CHEAP, BIG, RiskBound(loss_share_max=0.02), seed=7)


def _row(number: int, judges: tuple[str, ...], doubt: Callable[[bool], float]) -> ObservedRow:
    is_hard = number % 2 == 0
    prompt = (HARD if is_hard else EASY)[:-2] + f"{number})"
    return ObservedRow(
        prompt=prompt,
        models={
            CHEAP: ObservedAnswer(quality=0.0 if is_hard else 1.0, usd=0.001),
            BIG: ObservedAnswer(quality=1.0, usd=0.02),
        },
        judges={judge: doubt(not is_hard) for judge in judges},
    )
