"""KV under way for one request: what it takes of its sender until it has arrived, failed, or is wanted no more."""

from typing import Final, final

from heterodyne.domain.kv_origin import KvLoss, KvOrigin
from heterodyne.routing.fabric.fabric import KvFabric
from heterodyne.routing.kv.links import KvLink, store_end
from heterodyne.routing.routing_choice import Forecast, KvPlan
from heterodyne.routing.routing_request import RoutingRequest

STORE: Final = KvOrigin.STORE
HOST: Final = KvOrigin.HOST
GONE: Final = (KvLoss.BROKEN, KvLoss.MISSING)  # it may not be there any more


@final
class KvHolding:
    """Ends exactly once. A replica that computes the prompt has it in its sums from the start to the end."""

    __slots__ = (
        *(
            "_fabric",
            "_link",
            "_moved_tokens",
            "_pinned_tokens",
            "_plain_s",
            "_prompt",
            "_request",
            "_sender",
            "_started_at_s",
            "_target",
        ),
        *("has_failed", "is_over", "plan"),
    )

    def __init__(self, request: RoutingRequest, plan: KvPlan, fabric: KvFabric, now_s: float) -> None:
        self._fabric = fabric
        self.plan = plan
        self._request = request
        self._target = target = plan.forecast.state
        self._moved_tokens = plan.byte_count / fabric.token_bytes(target)
        self._pinned_tokens = 0.0  # of a prompt that was computed for this one, until it is read
        self._started_at_s = now_s  # later: when the prompt was computed
        self._prompt: RoutingRequest | None = None  # of the replica that computes it, until it has
        self._plain_s = plan.saved_s + plan.forecast.ttft_s  # with everything computed
        self.has_failed = False
        self.is_over = False
        if plan.origin is STORE:
            self._link: KvLink = fabric.link_from_store(target)
            self._sender = store_end(plan.store)
        elif plan.source is None:
            self._link = fabric.link_from_host(target)
            self._sender = target.replica.id
        else:
            self._link = fabric.link_between(plan.source, target)
            self._sender = plan.source.replica.id
        self._link.begun += 1
        fabric.begin(self._sender, plan.byte_count)
        if plan.prefill is not None:
            self._prompt = prompt = request.copied()
            prompt.output_tokens, prompt.streams = 1.0, True
            plan.prefill.state.start(prompt, plan.prefill, now_s)

    def prefilled(self, now_s: float) -> None:
        """The prompt has been computed; its KV is still to come, and stays with the replica's other KV as long."""
        prefill, prompt = self.plan.prefill, self._prompt
        if prefill is None or prompt is None or self.is_over:
            return
        state = prefill.state
        state.speed.on_first_token(prefill, now_s - self._started_at_s, 0, now_s)
        state.first_token(prompt, prefill, now_s)
        state.end(prompt, prefill, now_s, waited=False)
        self._prompt = None
        self._started_at_s = now_s
        if not state.is_gone:
            self._pinned_tokens = float(self._request.prompt_tokens)
            self._fabric.pinned.hold(state.place, self._pinned_tokens)

    def arrived(self, now_s: float, byte_count: float | None) -> None:
        """It is there: so many bytes, where somebody has counted."""
        if self.is_over:
            return
        if self._prompt is None:  # else nobody saw when the prompt was done, so how long the rest took is not known
            self.took(now_s - self._started_at_s, now_s, byte_count)
        self.release(now_s)

    def took(self, took_s: float, now_s: float, byte_count: float | None = None) -> None:
        """Bringing it took so long."""
        plan = self.plan
        if took_s > 0.0:
            counted = plan.byte_count if byte_count is None else byte_count
            self._link.hear(counted, took_s, now_s, queued_s=plan.queued_s)
        if byte_count is not None:
            self._fabric.learn_bytes(self._target, self._moved_tokens, byte_count)

    def failed(self, now_s: float, loss: KvLoss) -> None:
        """It will not come. A link that broke, or who was to send it, is left alone for a while; a replica that was
        to compute it and did not is its health's affair."""
        if self.is_over:
            return
        self.has_failed = True
        if loss is KvLoss.BROKEN:
            self._link.hear_failure(now_s)
        if loss in GONE and (self.plan.origin is STORE or self.plan.origin is HOST):
            self._fabric.remove(self._request, self._target, store=self.plan.store)
        self.release(now_s)

    def enter(self, ttft_s: float) -> None:
        """The first token came after so long, whatever became of the KV."""
        ledger = self._fabric.ledger
        ledger.enter(self.plan, plain_s=self._plain_s, ttft_s=ttft_s, has_arrived=not self.has_failed)

    def release(self, now_s: float) -> None:
        """Nobody waits for it any more."""
        if self.is_over:
            return
        prefill, prompt = self.plan.prefill, self._prompt
        if prefill is not None and prompt is not None:
            prefill.state.end(prompt, prefill, now_s, waited=True)
            self._prompt = None
        if prefill is not None and self._pinned_tokens:
            self._fabric.pinned.let_go(prefill.state.place, self._pinned_tokens)
        self.is_over = True
        self._fabric.end(self._sender, self.plan.byte_count)


def arrived_after(forecast: Forecast, took_s: float) -> None:
    """The same, now that it is known how long bringing the KV took: what is learned is of the rest."""
    late_s = took_s - forecast.link_s
    forecast.link_s = took_s
    forecast.ttft_s += late_s
    forecast.ttft_low_s += late_s
    forecast.ttft_high_s += late_s
