"""Pure: the load of one replica, as this worker knows it: what was sent there and how far that has come.

Gauges that engines publish lag by seconds; what we sent and what has come back does not. A request waits from when it
is sent to its first token, then it decodes until it ends; sums over both are kept, so that a forecast costs the same
however much is in flight.
"""

from math import inf
from typing import Final

from heterodyne.domain.fleet import Replica
from heterodyne.routing.heard_load import HeardLoad
from heterodyne.routing.kv.trust import Trust
from heterodyne.routing.prediction.pool_speed import ForecastTimes, PoolSpeed
from heterodyne.routing.reports.report import ReplicaLoad
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.snapshots import ReplicaStateSnapshot

Areas = tuple[float, float, float]

PATIENT_MIN: Final = 8  # requests of batch work that may begin on a replica which had none lately
PATIENT_FORGOTTEN_S: Final = 60.0


class ReplicaState:
    """One per replica and worker; only tickets change it."""

    __slots__ = (
        *("_at_s", "_blind", "_blind_until_s", "_blind_work_s", "_context_area", "_head_since_s", "_heard"),
        *("_load_at_s", "_most", "_price", "_sequence_area", "_work_done_s", "all_context_tokens"),
        *("all_patient", "all_waiting", "all_waiting_tokens", "batch_s", "belief", "claimed_s", "context_tokens"),
        *("decoding", "floor_s", "free_at_s", "in_flight", "is_by_token", "is_gone", "key", "kv_tokens"),
        *("least_s", "others", "own_work_done_s", "patient", "patient_max", "patient_seen_s", "place"),
        *(
            "replica",
            "replica_id",
            "room_s",
            "slots",
            "speed",
            "started",
            "trust",
            "usd_per_s",
            "waiting",
            "waiting_tokens",
            "waiting_work_s",
        ),
    )

    def __init__(self, replica: Replica, place: int, speed: PoolSpeed, now_s: float, key: str = "") -> None:
        """`key` is what the engine goes by in all gateways."""
        self.place = place
        self.key = key
        self.speed = speed
        self.in_flight = 0
        self.started = 0  # that this worker ever sent there
        self.patient = 0  # in flight, of batch and background work: nobody was promised anything
        self.patient_max = PATIENT_MIN  # of them, until more is known of what they do to others
        self.patient_seen_s = -inf  # when one ended last
        self.waiting = 0  # in flight, without a first token
        self.decoding = 0
        self.is_gone = False  # its replica has left, and another may have its place
        self.others = 0.0  # sequences it has from elsewhere, as other workers report and by its own account
        self.waiting_tokens = 0.0  # uncached prompt tokens of those that wait
        self.waiting_work_s = 0.0  # the same, in seconds by the prior
        self.context_tokens = 0.0  # held by all in flight, prompts and half of their answers
        self.free_at_s = now_s  # when the prompts that wait are worked off
        self.claimed_s = 0.0  # that prompts may take which another worker sends there, and of which nobody has told yet
        self.room_s = 0.0  # until there is memory or a slot for one more like those it has
        self.floor_s = 0.0  # but not sooner than this from now: none of them has answered
        self.least_s = 0.0  # the longer of the two
        self.batch_s = 0.0  # of a decode step, for the sequences in it
        self.belief = Trust()  # in what the prefix index says of it
        self.trust = self.belief.factor
        self._head_since_s = now_s
        self._blind = 0  # in flight, whose answers come whole
        self._blind_work_s = 0.0  # of their prompts, by the prior
        self._blind_until_s = now_s  # when those should be done, by prediction alone
        self._at_s = now_s
        self._load_at_s: float | None = None
        self._most = 0  # of ours in flight, since its gauges were last read
        self._sequence_area = self._context_area = self._work_done_s = 0.0
        self._heard = HeardLoad(now_s)
        self.own_work_done_s = 0.0  # of prompts, by the prior, of this worker's alone
        # Ours and theirs, worked out with the rest.
        self.all_context_tokens = self.all_waiting_tokens = 0.0
        self.all_waiting = self.all_patient = 0
        self.publish(replica, now_s)

    def publish(self, replica: Replica, now_s: float) -> None:
        """What the fleet knows of it now."""
        self._pass(now_s)
        self.replica = replica
        self.replica_id = replica.id  # every request asks for it
        prior, load = self.speed.prior, replica.load
        self.kv_tokens = prior.kv_tokens
        price = replica.price
        self.is_by_token = price.is_by_token
        self._price = price
        usd_per_s = price.usd(0, 0, 1.0)
        self.usd_per_s = inf if usd_per_s is None else usd_per_s  # of a replica that is paid by the hour
        if load is not None:
            self.kv_tokens = load.kv_tokens or self.kv_tokens
            if replica.load_at_s != self._load_at_s or replica.load_at_s is None:
                # What it held when it was read is not known; ours was at most the most since it was read before.
                self._heard.read_gauges(max(0.0, float((load.running or 0) + (load.waiting or 0) - self._most)))
                self.others = self._heard.sequences()
                self._load_at_s, self._most = replica.load_at_s, self.in_flight
                self.speed.slots.learn(load.running or 0, load.waiting or 0, load.kv_share, now_s)
        slots = self.speed.slots.slots or max(prior.slots, self.speed.slots.most)
        self.slots = slots if replica.in_flight_max is None else min(slots, replica.in_flight_max)
        self._settle(now_s)

    @property
    def has_heard(self) -> bool:
        """Whether other workers have something there, by what was heard last."""
        return self._heard.in_flight > 0

    @property
    def has_load(self) -> bool:
        """Whether others are to hear of it: what was computed there is told as a sum, which must not come and go."""
        return self.in_flight > 0 or self.own_work_done_s > 0.0

    def hear(self, load: ReplicaLoad, now_s: float) -> None:
        """What other workers have in flight there, by their reports; it takes the place of what was heard before."""
        self._pass(now_s)
        self._work_done_s += self._heard.hear(load, now_s)
        self.others = self._heard.sequences()
        self._settle(now_s)

    def load(self, now_s: float) -> ReplicaLoad:
        """What this worker has in flight there, for the others."""
        own_s = self.free_at_s - now_s
        heard_s = self._heard.until_s - now_s
        return ReplicaLoad(
            in_flight=self.in_flight,
            waiting=self.waiting,
            patient=self.patient,
            waiting_tokens=max(0.0, self.waiting_tokens),
            context_tokens=max(0.0, self.context_tokens),
            backlog_s=max(0.0, own_s - heard_s if heard_s > 0.0 else own_s),
            work_done_s=self.own_work_done_s,
        )

    # What happens to its requests.

    def start_patient(self, now_s: float) -> None:
        """One more of batch work; after a while without any it begins again with few."""
        if not self.patient and now_s - self.patient_seen_s > PATIENT_FORGOTTEN_S:
            self.patient_max = PATIENT_MIN
        self.patient += 1

    def end_patient(self, now_s: float) -> None:
        """One fewer, and room for two: what so many do to others is known by then."""
        self.patient -= 1
        self.patient_max += 1
        self.patient_seen_s = now_s

    def start(self, request: RoutingRequest, forecast: ForecastTimes, now_s: float) -> None:
        """One more is sent."""
        self._pass(now_s)
        self.started += 1
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

    def start_blind(self, request: RoutingRequest, forecast: ForecastTimes, now_s: float) -> float:
        """One more is sent whose first token will not be seen: its prompt should be done by the time returned."""
        self._pass(now_s)
        self.started += 1
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

    def first_token(self, request: RoutingRequest, forecast: ForecastTimes, now_s: float) -> Areas:
        """One that waited decodes from here."""
        self._pass(now_s)
        self._leave_line(request, forecast)
        self.decoding += 1
        self._head_since_s = now_s
        self._work_done_s += forecast.work_s
        self.own_work_done_s += forecast.work_s
        self._settle(now_s)
        return self._sequence_area, self._context_area, self._work_done_s

    def end(self, request: RoutingRequest, forecast: ForecastTimes, now_s: float, *, waited: bool) -> None:
        """One is over, with or without a first token."""
        self._pass(now_s)
        self._leave(request)
        if waited:
            self._leave_line(request, forecast)
        else:
            self.decoding -= 1
        self._settle(now_s)

    def end_blind(self, request: RoutingRequest, forecast: ForecastTimes, now_s: float, *, until_s: float) -> None:
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
        """What it holds; all zero when nothing is in flight, whatever was sent before."""
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

    @property
    def step_s(self) -> float:
        """One decode step with one sequence more."""
        speed = self.speed
        return (
            speed.step_s
            + speed.sequence_s * (self.in_flight + self.others + 1)
            + speed.context_token_s * self.all_context_tokens
        )

    def usd(
        self,
        prompt_tokens: float,
        answer_tokens: float,
        share_s: float,
        cached_tokens: float = 0.0,
        cache_write_tokens: float = 0.0,
    ) -> float:
        """What so many tokens cost, or so much of its time where it is paid by the hour; infinite: nobody says.

        Forecasts and bills both come here, so that they differ only by what was thought and what was counted.
        """
        if self.is_by_token:
            return self._price.usd(prompt_tokens, answer_tokens, share_s, cached_tokens, cache_write_tokens) or 0.0
        return inf if self.usd_per_s == inf else self.usd_per_s * share_s

    def _leave(self, request: RoutingRequest) -> None:
        self.in_flight -= 1
        if self.in_flight:
            self.context_tokens -= request.prompt_tokens + 0.5 * request.output_tokens
        else:
            self.context_tokens = 0.0  # nothing is left of rounding

    def _leave_line(self, request: RoutingRequest, forecast: ForecastTimes) -> None:
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
            heard = self._heard
            self._sequence_area += passed_s * (self.decoding + self.others - heard.waiting)
            if self.decoding:
                self._context_area += passed_s * self.context_tokens * self.decoding / self.in_flight
            if heard.in_flight:
                self._context_area += passed_s * heard.decoding_tokens
            self._at_s = now_s

    def _settle(self, now_s: float) -> None:
        """What follows from the sums, worked out once for all forecasts until the next change."""
        speed, heard = self.speed, self._heard
        busy, context = self.in_flight + self.others, self.context_tokens + heard.context_tokens
        self.all_context_tokens = context
        self.all_waiting_tokens = self.waiting_tokens + heard.waiting_tokens
        self.all_waiting = self.waiting + heard.waiting
        self.all_patient = self.patient + heard.patient
        load, kv_load = (busy + 1) / self.slots, context * (1.0 + 1.0 / (busy + 1)) / self.kv_tokens
        if kv_load > load:
            load = kv_load
        self.room_s = (load - 1.0) * speed.answer_tokens * self.step_s if load > 1.0 else 0.0
        begins_s = self._blind_until_s if self._blind_until_s > now_s else now_s
        if heard.until_s > now_s:
            begins_s += heard.until_s - now_s
        if self.waiting:
            # The first in line is being computed since the one before left; the others have not begun.
            pace, work_s = speed.prompts, self.waiting_work_s
            mean_s = work_s / self.waiting
            begun_s = (now_s - self._head_since_s) / pace
            self.free_at_s = begins_s + pace * (work_s - (begun_s if begun_s < mean_s else mean_s))
            self.floor_s = pace * (work_s - mean_s)
        else:
            self.free_at_s, self.floor_s = begins_s, 0.0
        self.least_s = self.room_s if self.room_s > self.floor_s else self.floor_s
        self.batch_s = speed.sequence_s * busy + speed.context_token_s * context
