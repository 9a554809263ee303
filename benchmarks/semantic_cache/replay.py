"""A stream through a decider: what was served, what of it wrongly, and what a clairvoyant would have served."""

import random

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from benchmarks.semantic_cache.streams import Pool, Stream
from heterodyne.caching.semantic.decision import CacheAction, SemanticDecider
from heterodyne.caching.semantic.error_account import ErrorFigures
from heterodyne.caching.semantic.settings import SemanticSettings

Flags = npt.NDArray[np.bool_]
Scores = npt.NDArray[np.float64]


class Replay(Struct):
    """What came of a stream; arrays are in its order."""

    name: str
    is_same: Flags
    is_hit: Flags
    logits: Scores  # of what a rule forbids, the least
    sureness: Scores  # calibrated by class
    cosines: Scores
    account: ErrorFigures

    @property
    def requests(self) -> int:
        return len(self.is_same)

    @property
    def hits(self) -> int:
        return int(self.is_hit.sum())

    @property
    def wrong(self) -> int:
        return int((self.is_hit & ~self.is_same).sum())

    def worst_moment(self, per_request: float) -> float:
        """The greatest part of what is allowed that was ever used up, from the first allowed one on."""
        wrong = np.cumsum(self.is_hit & ~self.is_same)
        allowed = per_request * np.arange(1, self.requests + 1)
        return float((wrong / np.maximum(allowed, 1)).max())


def replay(held: Pool, stream: Stream, settings: SemanticSettings) -> Replay:
    """Asks one decider about each request, and tells it what the label says of those that were asked."""
    decider, coin = SemanticDecider(settings), random.Random(stream.seed)
    is_hit, logits, sureness = [], [], []
    for place, cosine in zip(stream.order.tolist(), stream.cosines.tolist(), strict=True):
        decision = decider.decide(held.prompts[place], held.cached[place], cosine, coin.random())
        is_vetoed = decision.rule in settings.vetoes
        is_hit.append(decision.action is CacheAction.SERVE)
        logits.append(-np.inf if is_vetoed else decision.logit)
        sureness.append(-decision.wrong_chance)
        if decision.action is not CacheAction.SERVE:
            decider.learn(decision, bool(held.is_same[place]))
    return Replay(
        name=stream.name,
        is_same=held.is_same[stream.order],
        is_hit=np.array(is_hit),
        logits=np.array(logits),
        sureness=np.array(sureness),
        cosines=stream.cosines,
        account=decider.figures(),
    )
