"""What the router thought a request would take where it was sent, kept until the truth is known."""

from msgspec import Struct

from heterodyne.routing.forecast import Forecast


class ForecastRecord(Struct, frozen=True, kw_only=True, gc=False):
    """Figures of a forecast as they were when it was made: its bounds move with what is learned later."""

    pool: str
    at_s: float
    ttft_s: float
    ttft_low_s: float
    ttft_high_s: float
    itl_s: float
    itl_low_s: float
    itl_high_s: float


def record_forecast(forecast: Forecast, now_s: float) -> ForecastRecord:
    """Taken down now."""
    return ForecastRecord(
        pool=forecast.state.replica.pool,
        at_s=now_s,
        ttft_s=forecast.ttft_s,
        ttft_low_s=forecast.ttft_low_s,
        ttft_high_s=forecast.ttft_high_s,
        itl_s=forecast.itl_s,
        itl_low_s=forecast.itl_low_s,
        itl_high_s=forecast.itl_high_s,
    )
