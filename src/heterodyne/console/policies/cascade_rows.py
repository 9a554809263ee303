"""Makes the rows of cascades. Pure."""

import math
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from heterodyne.console.policies.counts import PolicyCounts
from heterodyne.console.policies.pages import CascadeFigures, CascadeReasonCount, CascadeRow
from heterodyne.routing.cascade.decision import CascadeReason
from heterodyne.routing.cascade.fitted_cascade import FittedCascade
from heterodyne.routing.cascade.settings import CascadeSettings
from heterodyne.telemetry import metrics

CONFIDENCE: Final = 0.95
CHEAP, BIG = "cheap", "big"
BY_PROMPT: Final = (CascadeReason.EASY_PROMPT, CascadeReason.HARD_PROMPT, CascadeReason.NO_TIME_TO_TRY)
HALVINGS: Final = 50


class SetCascade(Struct, frozen=True, kw_only=True):
    """One of the settings, with its file."""

    settings: CascadeSettings
    fitted: FittedCascade | None
    problem: str = ""  # why there is none


def cascade_rows(
    cascades: Mapping[str, SetCascade], counts: PolicyCounts, minute: PolicyCounts
) -> tuple[CascadeRow, ...]:
    """In the order of the settings, and then those that are not there any more."""
    others = sorted(counts.names(metrics.cascade_decisions, "cascade") - cascades.keys())
    return tuple(_row(name, cascades.get(name), counts, minute) for name in (*cascades, *others))


def _row(name: str, one: SetCascade | None, counts: PolicyCounts, minute: PolicyCounts) -> CascadeRow:
    fitted = None if one is None else one.fitted
    figures = _figures(name, counts)
    reasons = [
        CascadeReasonCount(model=named["model"], reason=named["reason"], requests=round(amount))
        for named, amount in counts.of(metrics.cascade_decisions, cascade=name)
    ]
    audited, different = figures.audited, figures.audited_different
    return CascadeRow(
        cascade=name,
        is_set=one is not None,
        cheap="" if fitted is None else fitted.cheap,
        big="" if fitted is None else fitted.big,
        problem="" if one is None else one.problem,
        loss_share_max=None if fitted is None else fitted.bound.loss_share_max,
        confidence=None if fitted is None else fitted.bound.confidence,
        audit_share=0.0 if one is None else one.settings.audit_share,
        figures=figures,
        last_minute=_figures(name, minute),
        reasons=tuple(sorted(reasons, key=lambda one: (-one.requests, one.reason))),
        different_share=different / audited if audited else None,
        different_share_max=share_max(different, audited) if audited else None,
    )


def _figures(name: str, counts: PolicyCounts) -> CascadeFigures:
    decided = {CHEAP: 0, BIG: 0}
    by_prompt = {CHEAP: 0, BIG: 0}
    for named, amount in counts.of(metrics.cascade_decisions, cascade=name):
        among = by_prompt if named["reason"] in BY_PROMPT else decided
        among[named["model"]] = among.get(named["model"], 0) + round(amount)
    requests = sum(decided.values()) + sum(by_prompt.values())
    tried, big, audited_usd, instead = (
        counts.sum(metrics.cascade_usd, cascade=name, part=part) for part in ("tried", BIG, "audited", "instead")
    )
    answered_s, instead_s = (
        counts.sum(metrics.cascade_seconds, cascade=name, part=part) for part in ("answered", "instead")
    )
    same, different = (
        counts.whole(metrics.cascade_audits, cascade=name, outcome=outcome) for outcome in ("same", "different")
    )
    always_big = big + instead
    return CascadeFigures(
        requests=requests,
        kept=decided[CHEAP],
        escalated=decided[BIG],
        cheap_by_prompt=by_prompt[CHEAP],
        big_by_prompt=by_prompt[BIG],
        tried_usd=tried,
        big_usd=big,
        audited_usd=audited_usd,
        instead_usd=instead,
        saved_usd=instead - tried - audited_usd,
        cost_share=(tried + audited_usd + big) / always_big if always_big else None,
        answered_ms=1000 * answered_s / requests if requests and answered_s else None,
        big_ms=1000 * instead_s / requests if requests and instead_s else None,
        audited=same + different,
        audited_different=different,
    )


def share_max(count: int, of: int, confidence: float = CONFIDENCE) -> float:
    """The greatest share that would, with a chance of 1 - confidence, still give as few as this (Chernoff's bound)."""
    least, most = count / of, 1.0
    for _ in range(HALVINGS):
        middle = (least + most) / 2
        if of * _divergence(count / of, middle) < -math.log(1 - confidence):
            least = middle
        else:
            most = middle
    return most


def _divergence(seen: float, share: float) -> float:
    """Of a coin's share from one that was seen, in nats."""
    nats = 0.0
    if seen > 0:
        nats += seen * math.log(seen / share)
    if seen < 1:
        nats += (1 - seen) * math.log((1 - seen) / (1 - share)) if share < 1 else math.inf
    return nats
