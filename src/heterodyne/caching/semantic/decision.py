"""Whether an answer given to one prompt is served to another, and what is learned when it is not.

Of the requests with a candidate, those whose chance to be wrong is over the limit are asked; their fresh answer is
compared with the cached one and teaches for free. Of those under the limit a coin sends some to be asked as well, the
less sure ones more often: they tell how many wrong answers are served, and the error account closes the cache before
they could be more than the bound. The coin comes from the caller.
"""

import math
from enum import StrEnum
from typing import Final

from msgspec import Struct

from heterodyne.caching.semantic import features, verifier
from heterodyne.caching.semantic.calibration import ScoreCalibration
from heterodyne.caching.semantic.error_account import ErrorAccount, ErrorFigures
from heterodyne.caching.semantic.prompt_class import prompt_class
from heterodyne.caching.semantic.reading import PromptReading
from heterodyne.caching.semantic.scorer import PairScorer
from heterodyne.caching.semantic.settings import SemanticSettings
from heterodyne.caching.semantic.word_counts import WordCounts

_LIMIT_EVERY: Final = 32  # requests between two looks at the limit
_RESERVE_PART: Final = 0.2  # of the budget, while that is less than the reserve
_SHARE_SCALE_MAX: Final = 2.5  # how far over the bound the limit may aim while the account has much in hand


class CacheAction(StrEnum):
    """What happens to a request."""

    SERVE = "serve"
    EXPLORE = "explore"  # would be served, and is asked to see whether that would have been wrong
    ASK = "ask"
    SHADOW = "shadow"  # would be served, and is asked because nothing is served yet


class AskReason(StrEnum):
    """Why a request is not served."""

    NO_CANDIDATE = "no_candidate"
    DIFFERENCE = "difference"  # a rule of the verifier forbids it
    UNSURE = "unsure"  # its chance to be wrong is over the limit
    BUDGET = "budget"  # there may be too many wrong answers already
    COIN = "coin"  # explored
    SHADOW = "shadow"


class SemanticDecision(Struct, frozen=True, kw_only=True):
    """What happens to one request, and why; handed back with what came of it."""

    action: CacheAction
    reason: AskReason | None = None  # None: served
    rule: str | None = None  # of the verifier
    prompt_class: str = ""
    logit: float = -math.inf  # the score; that of no candidate is the least
    wrong_chance: float = 1.0
    explored_share: float = 0.0  # the chance that the coin had; 0 where none was thrown
    buckets: tuple[int, ...] = ()


class ShadowFigures(Struct, frozen=True):
    """What would have been served, and how much of it wrongly."""

    requests: int
    hits: int
    wrong: int


class SemanticDecider:
    """Decides for one tenant and learns from it; has no clock and no coin of its own.

    Entries are fenced more finely than that, by everything around a prompt; what is learned about prompts and what is
    allowed to go wrong belong to the tenant.
    """

    def __init__(self, settings: SemanticSettings) -> None:
        self._settings = settings
        self._counts = WordCounts()
        self._scorer = PairScorer(memory_labels=settings.memory_labels)
        self._calibration = ScoreCalibration(memory_labels=settings.memory_labels)
        self._account = _account(settings)
        self._limit = 0.0
        self._until_limit = 0
        self.is_shadow = settings.is_shadow  # until it goes live
        self._shadow_hits = self._shadow_wrong = 0

    def decide(
        self, prompt: PromptReading, cached: PromptReading | None, cosine: float, coin: float
    ) -> SemanticDecision:
        """What happens to a request whose nearest entry is `cached`; `coin` is uniform from 0 to below 1."""
        self._account.count_request()
        self._calibration.count_request()
        self._counts.add(prompt.stems)
        self._look_at_limit()
        if cached is None:
            return SemanticDecision(action=CacheAction.ASK, reason=AskReason.NO_CANDIDATE)
        rule = verifier.difference(prompt, cached)
        buckets = tuple(features.buckets(prompt, cached, cosine, rule, self._counts))
        kind, logit = prompt_class(prompt), self._scorer.logit(buckets)
        if rule in self._settings.vetoes:
            reason, chance = AskReason.DIFFERENCE, 1.0
        else:
            self._calibration.count_candidate(kind, logit)
            chance = self._calibration.wrong_chance(kind, logit)
            reason = AskReason.UNSURE
        action, explored_share = CacheAction.ASK, 0.0
        if chance <= self._limit and reason is AskReason.UNSURE:
            action, reason, explored_share = self._would_serve(chance, coin)
        return SemanticDecision(
            action=action,
            reason=None if action is CacheAction.SERVE else reason,
            rule=rule,
            prompt_class=kind,
            logit=logit,
            wrong_chance=chance,
            explored_share=explored_share,
            buckets=buckets,
        )

    def learn(self, decision: SemanticDecision, is_same: bool) -> None:
        """The fresh answer to a request that was asked was compared with the cached one.

        An explored request without a fresh answer (an engine failed, a client left) has to be told as not the same:
        what is seen has to be decided by the coin alone, and an answer that goes missing is one that is not seen.
        """
        assert decision.action is not CacheAction.SERVE
        if decision.action is CacheAction.SHADOW:
            # Counted and not learned from: served, it would have taught nothing, and what is measured is that.
            self._shadow_hits += 1
            self._shadow_wrong += not is_same
            return
        if decision.reason is AskReason.NO_CANDIDATE:
            return
        if decision.action is CacheAction.EXPLORE:
            self._account.count_explored(decision.explored_share, is_wrong=not is_same)
        self._scorer.learn(decision.buckets, is_same)
        if decision.rule not in self._settings.vetoes:
            self._calibration.learn(decision.prompt_class, decision.logit, is_same)

    def figures(self) -> ErrorFigures:
        """The account at this moment."""
        return self._account.figures()

    def shadow_figures(self) -> ShadowFigures:
        """What was measured while nothing was served."""
        return ShadowFigures(self._account.figures().requests, self._shadow_hits, self._shadow_wrong)

    def go_live(self) -> None:
        """Serves from now on. What was learned stays; the account begins anew, for nothing was served yet."""
        self.is_shadow = False
        self._account = _account(self._settings)
        self._until_limit = 0

    def _would_serve(self, chance: float, coin: float) -> tuple[CacheAction, AskReason, float]:
        if not self._account.may_serve():
            return CacheAction.ASK, AskReason.BUDGET, 0.0
        share = self._explored_share(chance)
        if coin < share:
            return CacheAction.EXPLORE, AskReason.COIN, share
        self._account.count_served()
        return (CacheAction.SHADOW if self.is_shadow else CacheAction.SERVE), AskReason.SHADOW, share

    def _explored_share(self, chance: float) -> float:
        """By the root of the chance: so the count of wrong answers is surest for the requests spent on it."""
        least, most = self._account.explored_share_min, self._settings.explored_share_max
        return max(least, math.sqrt(chance) * most)

    def _look_at_limit(self) -> None:
        """The limit aims at the bound, lower when the account has little in hand and higher when it has much."""
        if self._until_limit > 0:
            self._until_limit -= 1
            return
        self._until_limit = _LIMIT_EVERY - 1
        settings = self._settings
        reserve = min(settings.reserve, self._account.budget * _RESERVE_PART + 1)
        self._account.lower_share(reserve)
        scale = min(max(self._account.headroom / reserve, 0.0), _SHARE_SCALE_MAX)
        self._limit = self._calibration.limit(settings.error_bound, scale)


def _account(settings: SemanticSettings) -> ErrorAccount:
    return ErrorAccount(
        bound=settings.error_bound,
        confidence=settings.confidence,
        explored_share_min=settings.explored_share_min,
        headroom_max=settings.headroom_max,
    )
