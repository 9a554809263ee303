"""What alerts are judged by, of models and pools that grow and shrink."""

from heterodyne.alerts.signals import ScaledModelSignals, ScaledPoolSignals
from heterodyne.console.scaling.pages import ScalingPage, ShortRow


def scaled_models(page: ScalingPage) -> tuple[ScaledModelSignals, ...]:
    """Each model of it."""
    return tuple(
        ScaledModelSignals(
            model=one.model,
            needed=one.needed,
            most=one.most,
            is_paused=one.is_paused,
            short="" if one.short is None else _sentence(one.short),
        )
        for one in page.models
    )


def scaled_pools(page: ScalingPage) -> tuple[ScaledPoolSignals, ...]:
    """Each pool of it."""
    return tuple(
        ScaledPoolSignals(
            pool=pool.pool, cold_start_s=pool.cold_start_s, away_s=pool.away_s, problem=pool.problem or ""
        )
        for one in page.models
        for pool in one.pools
    )


def _sentence(short: ShortRow) -> str:
    mend = f"; {short.mend}" if short.mend else ""
    return f"{short.requests_per_s:.2f} usual requests/s are missing: {short.because}{mend}."
