"""Makes the rows of caches. Pure."""

from collections.abc import Mapping

from heterodyne.caching.semantic.decision import CacheAction
from heterodyne.caching.settings import CacheSettings
from heterodyne.console.policies.counts import PolicyCounts
from heterodyne.console.policies.pages import CacheFigures, CacheRow, SemanticFigures
from heterodyne.domain.cache_use import HIT, MISS, SIMILAR
from heterodyne.telemetry import metrics

FOLLOWED = "followed"
DIFFERENT = "different"
TRIED = (CacheAction.EXPLORE, CacheAction.SHADOW)  # would be served, and are compared


def cache_rows(
    settings: Mapping[str, CacheSettings], counts: PolicyCounts, minute: PolicyCounts, gauges: PolicyCounts
) -> tuple[CacheRow, ...]:
    """In the order of the settings, and then those that are not there any more."""
    others = sorted(counts.names(metrics.cache_answers, "cache") - settings.keys())
    return tuple(_row(name, settings.get(name), counts, minute, gauges) for name in (*settings, *others))


def _row(
    cache: str, one: CacheSettings | None, counts: PolicyCounts, minute: PolicyCounts, gauges: PolicyCounts
) -> CacheRow:
    return CacheRow(
        cache=cache,
        is_set=one is not None,
        ttl_s=None if one is None else one.ttl_s,
        figures=_figures(cache, counts),
        last_minute=_figures(cache, minute),
        semantic=None if one is None or one.semantic == "off" else _semantic(cache, one, counts, gauges),
    )


def _figures(cache: str, counts: PolicyCounts) -> CacheFigures:
    hits, similar, misses, followed = (
        counts.whole(metrics.cache_answers, cache=cache, outcome=outcome) for outcome in (HIT, SIMILAR, MISS, FOLLOWED)
    )
    asked = hits + similar + misses
    return CacheFigures(
        hits=hits,
        similar=similar,
        misses=misses,
        followed=followed,
        saved_usd=counts.sum(metrics.cache_saved_usd, cache=cache),
        hit_share=(hits + similar) / asked if asked else None,
    )


def _semantic(cache: str, one: CacheSettings, counts: PolicyCounts, gauges: PolicyCounts) -> SemanticFigures:
    decided = {
        action: counts.whole(metrics.semantic_cache_decisions, cache=cache, action=action.value)
        for action in CacheAction
    }
    compared = sum(counts.whole(metrics.semantic_cache_compared, cache=cache, action=one.value) for one in TRIED)
    wrong = sum(
        counts.whole(metrics.semantic_cache_compared, cache=cache, action=one.value, outcome=DIFFERENT) for one in TRIED
    )
    requests = gauges.whole(metrics.semantic_cache_requests, cache=cache)
    wrong_max = gauges.whole(metrics.semantic_cache_wrong_max, cache=cache)
    return SemanticFigures(
        mode=one.semantic,
        error_share_max=one.error_share_max,
        decided=sum(decided.values()),
        served=decided[CacheAction.SERVE],
        would_serve=sum(decided[action] for action in TRIED),
        compared=compared,
        wrong=wrong,
        wrong_share=wrong / compared if compared else None,
        account_requests=requests,
        account_wrong_max=wrong_max,
        account_wrong_share_max=wrong_max / requests if requests else None,
    )
