"""Pure: one request on one replica, from being sent to its end: keeps the replica's sums, learns from times."""

from typing import Final

from heterodyne.domain.kv_origin import KvLoss
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.fabric.holding import KvHolding, arrived_after
from heterodyne.routing.fabric.ledger import KvSaved
from heterodyne.routing.model_router import ModelRouter
from heterodyne.routing.picker import FinishedRequestStats
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest

INTERACTIVE: Final = Urgency.INTERACTIVE
KV_HAD: Final = 0.5  # of the tokens that were to be brought, that an engine must report as cached
TOKENS_MIN: Final = 4  # shorter answers say little about the time between tokens


class Ticket:
    """Ends exactly once."""

    __slots__ = (
        "_areas",
        "_blind_until_s",
        "_compared",
        "_first_at_s",
        "_is_over",
        "_kv",
        "_kv_took_s",
        "_model_router",
        "_picker",
        "_said_tokens",
        "_started_at_s",
        "forecast",
        "request",
        "state",
    )

    def __init__(
        self,
        request: RoutingRequest,
        forecast: Forecast,
        model_router: ModelRouter | None,
        now_s: float,
        kv: KvHolding | None = None,
    ) -> None:
        """`kv` is under way to the replica."""
        self.request = request
        self._model_router = model_router
        self._picker = None if model_router is None else model_router.picker  # another may be there when it ends
        self.forecast = forecast
        self.state = state = forecast.state
        self._started_at_s = now_s
        self._first_at_s: float | None = None
        self._areas = (0.0, 0.0, 0.0)
        self._is_over = False
        self._kv = kv
        self._compared: KvSaved | None = None
        self._kv_took_s = 0.0  # as the first token shows, where nobody saw it come
        self._blind_until_s = 0.0  # when its prompt should be done, of an answer that comes whole
        # An engine reports what was fetched as cached: nothing to hold against the index.
        self._said_tokens = 0 if model_router is None else model_router.start(request, state, now_s)
        if forecast.link_s:
            self._said_tokens = 0
        if request.urgency is not INTERACTIVE:
            state.start_patient(now_s)
        if request.streams:
            state.start(request, forecast, now_s)
        else:
            self._blind_until_s = state.start_blind(request, forecast, now_s)

    def compare_with(self, saved: KvSaved) -> None:
        """KV might have been brought, and was not: how long it takes without is told there."""
        self._compared = saved

    def kv_prefilled(self, now_s: float) -> None:
        """The replica that was to compute the prompt for this one has done so."""
        kv, model_router = self._kv, self._model_router
        if kv is not None and not kv.is_over:
            kv.prefilled(now_s)
            if model_router is not None and kv.plan.prefill is not None:
                model_router.prefilled(self.request, kv.plan.prefill.state, now_s)

    def kv_arrived(self, now_s: float, byte_count: float | None = None) -> None:
        """What the replica was to be brought is there: so many bytes, where that is known. Now its engine is asked."""
        kv = self._kv
        if kv is not None and not kv.is_over:
            kv.arrived(now_s, byte_count)
            arrived_after(self.forecast, now_s - self._started_at_s)

    def kv_failed(self, now_s: float, loss: KvLoss = KvLoss.BROKEN) -> None:
        """It will not come: the replica is asked plainly, and computes what it has not."""
        kv, model_router, request, state = self._kv, self._model_router, self.request, self.state
        if kv is None or kv.is_over:
            return
        kv.failed(now_s, loss)
        if model_router is None:
            return
        if loss is KvLoss.MISSING and kv.plan.source is not None:
            model_router.not_held(request, kv.plan.source)
        if self._first_at_s is not None:
            return
        plain = model_router.forecast(request, state, now_s)
        arrived_after(plain, now_s - self._started_at_s)
        if request.streams:
            state.end(request, self.forecast, now_s, waited=True)
            state.start(request, plain, now_s)
        else:
            state.end_blind(request, self.forecast, now_s, until_s=self._blind_until_s)
            self._blind_until_s = state.start_blind(request, plain, now_s)
        self.forecast = plain

    def first_token(self, now_s: float) -> None:
        """The answer begins; of an answer that comes whole this changes nothing."""
        if self._first_at_s is not None or not self.request.streams:
            return
        self._first_at_s = now_s
        request, state, forecast = self.request, self.state, self.forecast
        decoding = 0 if state.others else state.decoding + 1
        ttft_s = now_s - self._started_at_s
        if self._compared is not None:
            self._compared.check(forecast.ttft_s, ttft_s)
        kv = self._kv
        if kv is None or kv.is_over:
            state.speed.on_first_token(forecast, ttft_s, decoding, now_s)
        else:
            # The engine has brought it by itself, or has not: what it reports at the end will tell.
            state.speed.add_prompt(forecast.work_s, now_s)
            self._kv_took_s = forecast.link_s + ttft_s - forecast.ttft_s
        self._areas = state.first_token(request, forecast, now_s)
        if request.chain.hashes and self._model_router is not None:
            self._model_router.first_token(request, state, now_s)

    def end(
        self, now_s: float, *, output_tokens: int, cached_tokens: int | None = None, is_complete: bool = True
    ) -> None:
        """Over; from the pace of an answer that is not complete nothing is learned."""
        assert not self._is_over, "a ticket ends once"
        self._is_over = True
        request, state, model_router = self.request, self.state, self._model_router
        if self._kv is not None:
            self._settle_kv(self._kv, now_s, cached_tokens if is_complete else None)
        if request.urgency is not INTERACTIVE:
            state.end_patient(now_s)
        elif model_router is not None:
            model_router.reserve.end()
        if model_router is not None and (self._said_tokens or self._picker is not None):
            ended = FinishedRequestStats(
                ttft_s=None if self._first_at_s is None else self._first_at_s - self._started_at_s,
                total_s=now_s - self._started_at_s,
                output_tokens=output_tokens,
                cached_tokens=cached_tokens,
                is_complete=is_complete,
            )
            model_router.end(request, state, ended, now_s, said_tokens=self._said_tokens, picker=self._picker)
        if model_router is not None and is_complete and not request.streams and request.chain.hashes:
            model_router.first_token(request, state, now_s)  # it came with the rest
        # Answers that come side by side come at no pace that one alone has.
        if is_complete and request.sequences == 1 and state.speed.try_hear_end(output_tokens, now_s):
            self._learn(output_tokens, now_s)
        if is_complete and request.has_slo and request.urgency is INTERACTIVE and self._first_at_s is not None:
            state.speed.patient_share.learn(
                self._is_kept(output_tokens, now_s), state.patient > 0, output_tokens, self._started_at_s, now_s
            )
        if request.streams:
            state.end(request, self.forecast, now_s, waited=self._first_at_s is None)
        else:
            state.end_blind(request, self.forecast, now_s, until_s=self._blind_until_s)

    def _settle_kv(self, kv: KvHolding, now_s: float, cached_tokens: int | None) -> None:
        """What nobody saw come did come if the engine says that it had the prompt."""
        if not kv.is_over and cached_tokens is not None:
            if cached_tokens < KV_HAD * kv.plan.tokens:
                kv.failed(now_s, KvLoss.BROKEN)  # or it was not there: nobody says
            elif self._kv_took_s > 0.0 and kv.plan.prefill is None:
                kv.took(self._kv_took_s, now_s)
        if self._first_at_s is not None:
            kv.enter(self._first_at_s - self._started_at_s)
        kv.release(now_s)

    def _learn(self, output_tokens: int, now_s: float) -> None:
        """How long a complete answer took."""
        forecast, state, first_at_s = self.forecast, self.state, self._first_at_s
        if first_at_s is None:
            # Batch work comes and goes in crowds: what one of it takes says more of the crowd than of the pool.
            if not self.request.streams and self.request.urgency is INTERACTIVE:
                busy, context = state.in_flight + state.others, state.all_context_tokens
                state.speed.learn_whole(forecast, now_s - self._started_at_s, output_tokens, busy, context)
        elif output_tokens >= TOKENS_MIN:
            state.speed.learn_pace(forecast, now_s - first_at_s, output_tokens - 1, self._areas, state.areas(now_s))

    def _is_kept(self, output_tokens: int, now_s: float) -> bool:
        """Whether what was promised was kept, of a stream that is whole."""
        request, first_at_s = self.request, self._first_at_s
        assert first_at_s is not None
        gaps = output_tokens - 1 if output_tokens > 1 else 1
        return first_at_s - self._started_at_s <= request.ttft_slo_s and now_s - first_at_s <= gaps * request.itl_slo_s
