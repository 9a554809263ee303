"""What an autoscaler remembers of one model between two looks, and how a look changes it."""

from msgspec import Struct, structs

from heterodyne.domain.fleet import PoolName
from heterodyne.planning.scaling.capacity import CapacityCurve, beyond_chance
from heterodyne.planning.scaling.cold_start import ColdStarts
from heterodyne.planning.scaling.demand import kept
from heterodyne.planning.scaling.floor import DAYS_MAX, Floor, floor_of
from heterodyne.planning.scaling.limits import ScalingRules
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.shape import LoadSample
from heterodyne.planning.scaling.steadiness import Steadiness
from heterodyne.planning.scaling.trust import KEPT_S, LatenessSample
from heterodyne.planning.traffic.demand_rules import DAY_STEPS, STEP_S

LENGTHS_S = 1200.0  # over which the mean length of answers moves,
LENGTHS = 1200  # or so many answers, whichever is sooner


class ScalingState(Struct, frozen=True, kw_only=True):
    """A value: it can be written down, and a simulator can hold many."""

    samples: tuple[LoadSample, ...] = ()
    lateness: tuple[LatenessSample, ...] = ()
    past: tuple[float, ...] = ()  # usual requests a second, by step of the slow loop
    step: int | None = None  # the number of the one under way; None: nothing has been seen
    step_requests: float = 0.0  # usual ones, in it
    floor: Floor = Floor()
    trust: float = 1.0  # times what the capacity curves say
    output_tokens: float | None = None  # of an answer; None: none has ended
    prompt_tokens: float | None = None  # of a prompt; None: none has come
    cached_share: float = 0.0  # of prompts
    cold_starts: dict[PoolName, ColdStarts] = {}
    steadiness: Steadiness = Steadiness()
    enough_since_s: float | None = None  # None: the ready replicas are too few
    last_came_at_s: float | None = None

    def starts(self, rules: ScalingRules, pool: PoolName) -> ColdStarts:
        """Of one pool."""
        return self.cold_starts.get(pool) or ColdStarts(said_s=rules.limits(pool).cold_start_s)


def observed(state: ScalingState, rules: ScalingRules, seen: Observation) -> ScalingState:
    """After one more look."""
    state = _with_lengths(state, rules, seen)
    worth = _Worth.of(state, rules.pools[0].capacity)
    sample = worth.counted(
        LoadSample(
            at_s=seen.at_s,
            span_s=seen.span_s,
            requests=0.0,
            arrivals=seen.arrivals,
            prompt_tokens=seen.prompt_tokens,
        )
    )
    late = LatenessSample(
        at_s=seen.at_s, ended=seen.ended, late=seen.late, arrivals=seen.arrivals, risk=min(seen.risk, seen.arrivals)
    )
    came_at_s = state.last_came_at_s
    if seen.arrivals or came_at_s is None:
        came_at_s = seen.at_s
    return structs.replace(
        _with_step(state, rules, seen, sample.requests),
        samples=kept(tuple(worth.counted(one) for one in state.samples), sample),
        lateness=(*(one for one in state.lateness if one.at_s > seen.at_s - KEPT_S), late),
        last_came_at_s=came_at_s,
        cold_starts={one.pool: state.starts(rules, one.pool).with_measured(one.cold_starts_s) for one in seen.pools},
    )


class _Worth(Struct, frozen=True, kw_only=True):
    """How many usual requests others are, by the lengths as they are known now.

    What came before is counted anew with each look: that lengths become known is no change of demand.
    """

    request: float
    prompt_token: float

    @classmethod
    def of(cls, state: ScalingState, curve: CapacityCurve) -> "_Worth":
        answers = 1.0 if state.output_tokens is None else beyond_chance(state.output_tokens / curve.output_tokens)
        computed = 1.0 - state.cached_share
        prompts = 0.0
        if state.prompt_tokens is not None and curve.prompt_tokens is not None:
            prompts = beyond_chance(state.prompt_tokens * computed / curve.prompt_tokens)
        dearer = curve.dearer(prompts, answers)
        return cls(
            request=dearer * answers * curve.output_tokens * curve.output_token,
            prompt_token=dearer * computed * curve.prompt_token,
        )

    def counted(self, sample: LoadSample) -> LoadSample:
        requests = sample.arrivals * self.request + sample.prompt_tokens * self.prompt_token
        return structs.replace(sample, requests=requests)


def _with_lengths(state: ScalingState, rules: ScalingRules, seen: Observation) -> ScalingState:
    """Answers' lengths are known when they end, and short ones end first: so what is usual is given up slowly."""
    curve, prompt = rules.pools[0].capacity, state.prompt_tokens
    if seen.arrivals and curve.prompt_tokens is not None:
        prompt = curve.prompt_tokens if prompt is None else prompt
        prompt += _pace(seen.span_s, seen.arrivals) * (seen.prompt_tokens / seen.arrivals - prompt)
        state = structs.replace(state, prompt_tokens=prompt)
    if not seen.ended:
        return state
    pace = _pace(seen.span_s, seen.ended)
    output = curve.output_tokens if state.output_tokens is None else state.output_tokens
    output += pace * (seen.output_tokens / seen.ended - output)
    cached = state.cached_share
    if seen.prompt_tokens:
        cached += pace * (min(1.0, seen.cached_tokens / seen.prompt_tokens) - cached)
    return structs.replace(state, output_tokens=output, cached_share=cached)


def _pace(span_s: float, requests: int) -> float:
    return min(1.0, max(span_s / LENGTHS_S, requests / LENGTHS))


def _with_step(state: ScalingState, rules: ScalingRules, seen: Observation, requests: float) -> ScalingState:
    """The slow loop turns once a step."""
    step = int(seen.at_s // STEP_S)
    if state.step is None:
        return structs.replace(state, step=step, step_requests=requests)
    if step == state.step:
        return structs.replace(state, step_requests=state.step_requests + requests)
    quiet = (0.0,) * min(step - state.step - 1, DAYS_MAX * DAY_STEPS)
    past = (*state.past, state.step_requests / STEP_S, *quiet)[-DAYS_MAX * DAY_STEPS :]
    floor = floor_of(past, step * STEP_S) if rules.forecasts else Floor()
    return structs.replace(state, past=past, step=step, step_requests=requests, floor=floor)
