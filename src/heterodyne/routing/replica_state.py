"""Pure: one replica as the router sees it: what it has been given, how far that has come, what one more would take.

Gauges that engines publish lag by seconds; what we sent and what has come back does not. A request waits from when it
is sent to its first token, then it decodes until it ends; sums over both are kept, so that a forecast costs the same
however much is in flight.
"""

from math import inf

from msgspec import Struct

from heterodyne.domain.fleet import Replica
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.kv.fetch import fetch_s
from heterodyne.routing.kv.trust import Trust
from heterodyne.routing.prediction.band import Band
from heterodyne.routing.prediction.pool_speed import PROMPT_RATE_S, PoolSpeed
from heterodyne.routing.routing_request import RoutingRequest

PROMPT_SHARE_MAX = 0.8
LATENESS_WEIGHT = 0.02  # broken promises that being late by one more TTFT is as bad as: late is bad, later worse
BUSY = 0.25  # of a TTFT spent waiting: from there on a request counts as having queued

Areas = tuple[float, float, float]


class ReplicaStateSnapshot(Struct, frozen=True, kw_only=True):
    """The sums of one seat at one moment."""

    in_flight: int
    waiting: int
    decoding: int
    blind: int  # of those in flight, whose answers come whole
    waiting_tokens: float
    waiting_work_s: float
    blind_work_s: float
    context_tokens: float


class ReplicaState:
    """Changed by tickets alone, read by whoever decides."""

    __slots__ = (
        "_at_s",
        "_blind",
        "_blind_until_s",
        "_blind_work_s",
        "_context_area",
        "_head_since_s",
        "_load_at_s",
        "_most",
        "_sequence_area",
        "_work_done_s",
        "answer_token_usd",
        "batch_s",
        "belief",
        "context_tokens",
        "decoding",
        "floor_s",
        "free_at_s",
        "in_flight",
        "is_by_token",
        "is_gone",
        "kv_tokens",
        "least_s",
        "others",
        "place",
        "prompt_token_usd",
        "replica",
        "room_s",
        "slots",
        "speed",
        "step_prior_s",
        "trust",
        "usd_per_s",
        "waiting",
        "waiting_tokens",
        "waiting_work_s",
    )

    def __init__(self, replica: Replica, place: int, speed: PoolSpeed, now_s: float) -> None:
        self.place = place
        self.speed = speed
        self.in_flight = 0
        self.waiting = 0  # in flight, without a first token
        self.decoding = 0
        self.is_gone = False  # its replica has left, and another may have its place
        self.others = 0.0  # sequences it has from elsewhere, by its own account
        self.waiting_tokens = 0.0  # uncached prompt tokens of those that wait
        self.waiting_work_s = 0.0  # the same, in seconds by the prior
        self.context_tokens = 0.0  # held by all in flight, prompts and half of their answers
        self.free_at_s = now_s  # when the prompts that wait are worked off
        self.room_s = 0.0  # until there is memory or a slot for one more like those it has
        self.floor_s = 0.0  # but not sooner than this from now: nothing has been heard of them
        self.least_s = 0.0  # the longer of the two
        self.batch_s = 0.0  # of a decode step, for those who are in it
        self.belief = Trust()  # in what the prefix index says of it
        self.trust = self.belief.factor
        self._head_since_s = now_s
        self._blind = 0  # in flight, whose answers come whole
        self._blind_work_s = 0.0  # of their prompts, by the prior
        self._blind_until_s = now_s  # when those should be done: nobody tells us
        self._at_s = now_s
        self._load_at_s: float | None = None
        self._most = 0  # of ours in flight, since its gauges were last read
        self._sequence_area = self._context_area = self._work_done_s = 0.0
        self.publish(replica, now_s)

    def publish(self, replica: Replica, now_s: float) -> None:
        """What the fleet knows of it now."""
        self._pass(now_s)
        self.replica = replica
        prior, load, price = self.speed.prior, replica.load, replica.price
        self.slots = prior.slots if replica.in_flight_max is None else min(prior.slots, replica.in_flight_max)
        self.kv_tokens = prior.kv_tokens
        self.usd_per_s = inf if price.usd_per_hour is None else price.usd_per_hour / 3600
        self.is_by_token = price.is_by_token
        self.prompt_token_usd = (price.usd_per_million_prompt_tokens or 0.0) / 1e6
        self.answer_token_usd = (price.usd_per_million_completion_tokens or 0.0) / 1e6
        if load is not None:
            self.kv_tokens = load.kv_tokens or self.kv_tokens
            if replica.load_at_s != self._load_at_s or replica.load_at_s is None:
                # What it held when it was read is not known; ours was at most the most since it was read before.
                self.others = max(0, (load.running or 0) + (load.waiting or 0) - self._most)
                self._load_at_s, self._most = replica.load_at_s, self.in_flight
        self._settle(now_s)

    # What happens to its requests.

    def start(self, request: RoutingRequest, forecast: Forecast, now_s: float) -> None:
        """One more is sent."""
        self._pass(now_s)
        self.in_flight += 1
        if self.in_flight > self._most:
            self._most = self.in_flight
        self.context_tokens += request.prompt_tokens + 0.5 * request.output_tokens
        if not self.waiting:
            self._head_since_s = now_s
        self.waiting += 1
        self.waiting_tokens += request.prompt_tokens - forecast.cached_tokens
        self.waiting_work_s += forecast.work_s
        self._settle(now_s)

    def start_blind(self, request: RoutingRequest, forecast: Forecast, now_s: float) -> float:
        """One more is sent whose first token nobody will see: its prompt is thought to be done by the time returned."""
        self._pass(now_s)
        self.in_flight += 1
        if self.in_flight > self._most:
            self._most = self.in_flight
        self.decoding += 1
        self.context_tokens += request.prompt_tokens + 0.5 * request.output_tokens
        self._blind += 1
        self._blind_work_s += forecast.work_s
        begins_s = self._blind_until_s if self._blind_until_s > now_s else now_s
        self._blind_until_s = until_s = begins_s + self.speed.prompts * forecast.work_s
        self._settle(now_s)
        return until_s

    def first_token(self, request: RoutingRequest, forecast: Forecast, now_s: float) -> Areas:
        """One that waited decodes from here."""
        self._pass(now_s)
        self._leave_line(request, forecast)
        self.decoding += 1
        self._head_since_s = now_s
        self._work_done_s += forecast.work_s
        self.speed.add_prompt(forecast.work_s, now_s)
        self._settle(now_s)
        return self._sequence_area, self._context_area, self._work_done_s

    def end(self, request: RoutingRequest, forecast: Forecast, now_s: float, *, waited: bool) -> None:
        """One is over, with or without a first token."""
        self._pass(now_s)
        self._leave(request)
        if waited:
            self._leave_line(request, forecast)
        else:
            self.decoding -= 1
        self._settle(now_s)

    def end_blind(self, request: RoutingRequest, forecast: Forecast, now_s: float, *, until_s: float) -> None:
        """One is over whose prompt was thought to be done by `until_s`; what had not been begun never will be."""
        self._pass(now_s)
        self._leave(request)
        self.decoding -= 1
        self._blind -= 1
        if not self._blind:
            self._blind_work_s, self._blind_until_s = 0.0, now_s
        else:
            pace = self.speed.prompts
            self._blind_work_s -= forecast.work_s
            undone_s = min(max(0.0, until_s - now_s), pace * forecast.work_s)
            # Whatever was thought before, no more is left than those that are still here brought along.
            most_s = now_s + pace * self._blind_work_s
            self._blind_until_s = max(now_s, min(self._blind_until_s - undone_s, most_s))
        self._settle(now_s)

    def snapshot(self) -> ReplicaStateSnapshot:
        """What it holds; all zero when nobody is served, whatever was sent before."""
        return ReplicaStateSnapshot(
            in_flight=self.in_flight,
            waiting=self.waiting,
            decoding=self.decoding,
            blind=self._blind,
            waiting_tokens=self.waiting_tokens,
            waiting_work_s=self.waiting_work_s,
            blind_work_s=self._blind_work_s,
            context_tokens=self.context_tokens,
        )

    def areas(self, now_s: float) -> Areas:
        """Sequences and context over time, and seconds of prompts, so far: two readings give what ran in between."""
        self._pass(now_s)
        return self._sequence_area, self._context_area, self._work_done_s

    # What one more would take.

    def forecast(
        self, request: RoutingRequest, cached_tokens: float, now_s: float, held_tokens: float = 0.0
    ) -> Forecast:
        """A few dozen additions and products, however much is in flight.

        `held_tokens` are those that another replica of the pool could send it.
        """
        speed = self.speed
        prior = speed.prior
        prompt, answer = request.prompt_tokens, request.output_tokens
        cached_tokens *= self.trust
        link_s = 0.0
        if held_tokens > cached_tokens:
            link_s = fetch_s(prior, speed.prompts, own_tokens=cached_tokens, held_tokens=held_tokens)
            cached_tokens, link_s = (held_tokens, link_s) if link_s < inf else (cached_tokens, 0.0)
        new = prompt - cached_tokens
        work_s = prior.prompt_s + new * (prior.prompt_token_s + prior.prompt_token_squared_s * (prompt + cached_tokens))
        backlog_s = self.free_at_s - now_s
        if backlog_s < self.floor_s:
            backlog_s = self.floor_s
        busy = self.in_flight + self.others
        steps_s = 0.0
        if busy:
            steps_s = 0.5 * self.step_prior_s
            if prior.mixes_prompts:
                steps_s *= 3.0 + 2.0 * ((new + self.waiting_tokens) // prior.step_tokens)
        sequence_tokens = prompt + 0.5 * answer
        context = self.context_tokens + sequence_tokens
        # Near enough to an exponential for the little time since the last prompt; work is spread, so what one replica
        # will get is what all of them get.
        share = (
            speed.prompts_between
            * speed.prompt_rate
            / ((1.0 + (now_s - speed.prompt_at_s) / PROMPT_RATE_S) * speed.replicas)
        )
        stretch = 1.0 / (1.0 - (share if share < PROMPT_SHARE_MAX else PROMPT_SHARE_MAX))
        itl_s = (speed.step_s + speed.sequence_s * (busy + 1) + speed.context_token_s * context) * stretch
        load, kv_load = (busy + 1) / self.slots, context / self.kv_tokens
        if kv_load > load:
            load = kv_load
        room_s = 0.0
        if load > 1.0:
            room_s = (load - 1.0) * speed.answer_tokens * itl_s
            if room_s < backlog_s:
                room_s = 0.0
        wait_s = room_s or backlog_s
        ttft_s = speed.ahead_s + (speed.ahead + speed.prompts) * work_s + speed.steps * steps_s + wait_s + link_s
        band = speed.ttft_band_waiting if wait_s > BUSY * ttft_s else speed.ttft_band
        risk = 0.0
        if request.ttft_slo_s < inf or request.itl_slo_s < inf:
            own_s, itl_before_s = speed.prompts * work_s, 0.0
            if busy:
                itl_before_s = itl_s - (speed.sequence_s + speed.context_token_s * sequence_tokens) * stretch
            risk = self._risk(request, band, ttft_s, itl_s, own_s=own_s, itl_before_s=itl_before_s)
        share_s = speed.prompts * work_s + answer * (speed.token_share_s + speed.context_token_s * sequence_tokens)
        return Forecast(
            self,
            ttft_s,
            ttft_s * band.high,
            itl_s,
            itl_s * speed.itl_band.high,
            risk,
            share_s,
            self.usd(prompt, answer, share_s),
            load,
            cached_tokens,
            work_s,
            steps_s,
            backlog_s,
            room_s,
            link_s,
        )

    def _risk(
        self, request: RoutingRequest, band: Band, ttft_s: float, itl_s: float, *, own_s: float, itl_before_s: float
    ) -> float:
        """Promises that the request is expected to break here; `own_s` is what its prompt takes."""
        ttft_slo_s, itl_slo_s, itl_band = request.ttft_slo_s, request.itl_slo_s, self.speed.itl_band
        late = band.miss(ttft_s, ttft_slo_s)
        risk = late + (1.0 - late) * itl_band.miss(itl_s, itl_slo_s) + LATENESS_WEIGHT * ttft_s / ttft_slo_s
        if itl_before_s:
            # Whoever decodes here gets slower steps and waits for the prompt; whoever comes next waits longer.
            itl_after_s = itl_s + own_s / (self.speed.answer_tokens + 1.0)
            hurt = itl_band.miss(itl_after_s, itl_slo_s) - itl_band.miss(itl_before_s, itl_slo_s)
            risk += (self.in_flight + self.others) * hurt
            if self.waiting:
                risk += self.waiting * (band.miss(ttft_s + own_s, ttft_slo_s) - late)
        return risk

    def share_s(self, prompt_tokens: int, cached_tokens: int, answer_tokens: int) -> float:
        """What a request took of the replica's time, by its tokens: the steps of its answer are shared by a batch."""
        speed = self.speed
        work_s = speed.prior.prompt_work_s(prompt_tokens, cached_tokens)
        context = prompt_tokens + 0.5 * answer_tokens
        return speed.prompts * work_s + answer_tokens * (speed.token_share_s + speed.context_token_s * context)

    def usd(self, prompt_tokens: float, answer_tokens: float, share_s: float) -> float:
        """Its price, by the token or by the time it takes; infinite where nobody says what the replica costs."""
        if self.is_by_token:
            return prompt_tokens * self.prompt_token_usd + answer_tokens * self.answer_token_usd
        return self.usd_per_s * share_s

    def forecast_beside(self, others: float, request: RoutingRequest, cached_tokens: float, now_s: float) -> Forecast:
        """The same with so many more sequences there."""
        present = self.others
        self.others = present + others
        try:
            return self.forecast(request, cached_tokens, now_s)
        finally:
            self.others = present

    @property
    def step_s(self) -> float:
        """One decode step with one sequence more."""
        speed = self.speed
        return (
            speed.step_s
            + speed.sequence_s * (self.in_flight + self.others + 1)
            + speed.context_token_s * self.context_tokens
        )

    def ttft_band(self, forecast: Forecast) -> Band:
        """The band that a forecast's TTFT lies in."""
        speed = self.speed
        return speed.ttft_band_waiting if forecast.wait_s > BUSY * forecast.ttft_s else speed.ttft_band

    def _leave(self, request: RoutingRequest) -> None:
        self.in_flight -= 1
        if self.in_flight:
            self.context_tokens -= request.prompt_tokens + 0.5 * request.output_tokens
        else:
            self.context_tokens = 0.0  # nothing is left of rounding

    def _leave_line(self, request: RoutingRequest, forecast: Forecast) -> None:
        self.waiting -= 1
        if self.waiting:
            self.waiting_tokens -= request.prompt_tokens - forecast.cached_tokens
            self.waiting_work_s -= forecast.work_s
        else:
            self.waiting_tokens = self.waiting_work_s = 0.0

    def _pass(self, now_s: float) -> None:
        """Time passes with what is in flight."""
        passed_s = now_s - self._at_s
        if passed_s > 0.0:
            self._sequence_area += passed_s * (self.decoding + self.others)
            if self.decoding:
                self._context_area += passed_s * self.context_tokens * self.decoding / self.in_flight
            self._at_s = now_s

    def _settle(self, now_s: float) -> None:
        """What follows from the sums, worked out once for all forecasts until the next change."""
        speed = self.speed
        prior = speed.prior
        busy, context = self.in_flight + self.others, self.context_tokens
        self.step_prior_s = prior.step_s + prior.sequence_s * busy + prior.context_token_s * context
        load, kv_load = (busy + 1) / self.slots, context * (1.0 + 1.0 / (busy + 1)) / self.kv_tokens
        if kv_load > load:
            load = kv_load
        self.room_s = (load - 1.0) * speed.answer_tokens * self.step_s if load > 1.0 else 0.0
        begins_s = self._blind_until_s if self._blind_until_s > now_s else now_s
        if self.waiting:
            # The first in line is being computed since somebody last left it; the others have not begun.
            pace, work_s = speed.prompts, self.waiting_work_s
            mean_s = work_s / self.waiting
            begun_s = (now_s - self._head_since_s) / pace
            self.free_at_s = begins_s + pace * (work_s - (begun_s if begun_s < mean_s else mean_s))
            self.floor_s = pace * (work_s - mean_s)
        else:
            self.free_at_s, self.floor_s = begins_s, 0.0
        self.least_s = self.room_s if self.room_s > self.floor_s else self.floor_s
        self.batch_s = speed.sequence_s * busy + speed.context_token_s * context
