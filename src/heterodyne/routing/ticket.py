"""Pure: one request on one replica, from being sent to its end: keeps the seat's sums and learns from the truth."""

from typing import TYPE_CHECKING

from heterodyne.routing.ask import Ask
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.picker import Ended
from heterodyne.routing.seat import Seat

if TYPE_CHECKING:
    from heterodyne.routing.desk import Desk

TOKENS_MIN = 4  # shorter answers say little about the time between tokens


class Ticket:
    """Ends exactly once."""

    __slots__ = ("_areas", "_desk", "_first_at_s", "_said_tokens", "_started_at_s", "ask", "forecast", "seat")

    def __init__(self, ask: Ask, forecast: Forecast, desk: "Desk | None", now_s: float) -> None:
        self.ask = ask
        self._desk = desk
        self.forecast = forecast
        self.seat = seat = forecast.seat
        self._started_at_s = now_s
        self._first_at_s: float | None = None
        self._areas = (0.0, 0.0, 0.0)
        self._said_tokens = 0 if desk is None else desk.start(ask, seat, now_s)
        if ask.streams:
            seat.start(ask, forecast, now_s)
        else:
            seat.start_blind(ask, forecast, now_s)

    @property
    def ttft_s(self) -> float | None:
        """As it was; None before the first token, or where nobody saw it."""
        return None if self._first_at_s is None else self._first_at_s - self._started_at_s

    def age_s(self, now_s: float) -> float:
        """Since it was sent."""
        return now_s - self._started_at_s

    def first_token(self, now_s: float) -> None:
        """The answer begins; only answers that stream are told of it."""
        if self._first_at_s is not None or not self.ask.streams:
            return
        self._first_at_s = now_s
        seat, forecast = self.seat, self.forecast
        seat.speed.heard_at_s = now_s
        _learn_first(seat, forecast, now_s - self._started_at_s)
        seat.first_token(self.ask, forecast, now_s)
        if self._desk is not None:
            self._desk.first_token(self.ask, seat)
        self._areas = seat.areas(now_s)

    def end(
        self, now_s: float, *, output_tokens: int, cached_tokens: int | None = None, is_complete: bool = True
    ) -> None:
        """Over; from the pace of an answer that is not complete nothing is learned."""
        seat, forecast = self.seat, self.forecast
        if self._desk is not None:
            ended = Ended(
                ttft_s=self.ttft_s,
                total_s=now_s - self._started_at_s,
                output_tokens=output_tokens,
                cached_tokens=cached_tokens,
                is_complete=is_complete,
            )
            self._desk.end(self.ask, seat, ended, now_s, said_tokens=self._said_tokens)
        if is_complete and output_tokens >= TOKENS_MIN:
            if self._first_at_s is not None:
                self._learn_later(now_s, output_tokens)
            elif not self.ask.streams:
                seat.speed.heard_at_s = now_s
                _learn_whole(seat, forecast, now_s - self._started_at_s, output_tokens)
        waited = self._first_at_s is None and self.ask.streams
        seat.end(self.ask, forecast, now_s, waited=waited)

    def _learn_later(self, now_s: float, output_tokens: int) -> None:
        assert self._first_at_s is not None
        took_s, gaps = now_s - self._first_at_s, output_tokens - 1
        if took_s <= 0.0:
            return
        seat, speed = self.seat, self.seat.speed
        prior = speed.prior
        sequences_before, context_before, work_before_s = self._areas
        sequences, context, work_s = seat.areas(now_s)
        batch_s = (
            prior.sequence_s * (sequences - sequences_before) + prior.context_token_s * (context - context_before)
        ) / took_s
        itl_s = took_s / gaps
        speed.learn_later(batch_s, (work_s - work_before_s) / gaps, itl_s)
        speed.itl_band.learn(self.forecast.itl_s, itl_s)


def _learn_first(seat: Seat, forecast: Forecast, ttft_s: float) -> None:
    speed = seat.speed
    seat.ttft_band(forecast).learn(forecast.ttft_s, ttft_s)
    # Who waits for others to leave learns how long they stay, not how fast prompts are.
    if not forecast.room_s:
        speed.learn_first(forecast.work_s, forecast.backlog_s, forecast.steps_s, ttft_s)


def _learn_whole(seat: Seat, forecast: Forecast, total_s: float, output_tokens: int) -> None:
    """Of an answer that came whole, what its first token should have taken is believed, and the rest is the pace."""
    itl_s = (total_s - forecast.ttft_s) / (output_tokens - 1)
    if itl_s <= 0.0:
        itl_s = total_s / output_tokens
    speed = seat.speed
    speed.learn_later(max(0.0, seat.step_s - speed.step_s), 0.0, itl_s)
    speed.itl_band.learn(forecast.itl_s, itl_s)
