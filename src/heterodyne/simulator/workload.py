"""A log of requests becomes traffic: from zero on, at the rate that is wanted, as many requests as are wanted."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.replica.job import Job
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.routing.kv.chain import EMPTY, Chain, chain_of_blocks

HASH_TOKENS = 16  # where the log has no hashes, by default
NO_SALT = b""  # a log tells no tenants apart
SAME_SESSION_SHARE = 0.5  # of a prompt that an earlier one began with too, for both to be one conversation


class SimulatedRequest(Struct, frozen=True, kw_only=True, gc=False):
    """One request as it comes."""

    number: int
    at_s: float
    prompt_tokens: int
    output_tokens: int
    numbers: tuple[int, ...]  # of the full blocks of its prompt, each with all before it
    chain: Chain  # the same as the router knows them
    session: str

    @property
    def job(self) -> Job:
        """As a replica sees it."""
        return Job(
            id=self.number, prompt_tokens=self.prompt_tokens, output_tokens=self.output_tokens, blocks=self.numbers
        )


class Workload(Struct, frozen=True, kw_only=True):
    """Traffic, made while it is walked through: the log over and over, each time with prompts that are new."""

    arrivals: tuple[SimulatedRequest, ...]  # of the log, at the wanted pace
    lap_s: float  # from one walk through the log to the next
    requests: int
    hash_tokens: int  # in each block of a prompt
    blocks: int  # different ones in the log

    @property
    def prompt_tokens_mean(self) -> float:
        """Over the log."""
        return sum(one.prompt_tokens for one in self.arrivals) / len(self.arrivals)

    @property
    def output_tokens_mean(self) -> float:
        """Over the log."""
        return sum(one.output_tokens for one in self.arrivals) / len(self.arrivals)

    def __iter__(self) -> Iterator[SimulatedRequest]:
        """In the order they come."""
        for number in range(self.requests):
            lap, place = divmod(number, len(self.arrivals))
            request = self.arrivals[place]
            yield _again(request, number, lap, self) if lap else request


def workload(log: Sequence[TraceRequest], *, rate: float | None = None, requests: int | None = None) -> Workload:
    """The first `requests` of a log, or more than it has by repeating it; `rate` None leaves the times as they are."""
    if not log:
        raise InvalidSpec("the trace is empty: it has no request with a prompt")
    if requests is not None and requests < 1:
        raise InvalidSpec(f"requests: {requests} is no number of requests; give at least 1")
    if rate is not None and not rate > 0:
        raise InvalidSpec(f"rate: {rate:g} is no rate; give more than 0 requests a second")
    ordered = sorted(log, key=lambda one: one.at_s)[:requests]
    times_s, lap_s = _times_s(ordered, rate)
    if requests is not None and requests > len(ordered) and not lap_s:
        raise InvalidSpec("all requests of the trace came at one moment: say with --rate how often they come")
    hash_tokens = _hash_tokens(ordered)
    known: dict[int | str, int] = {}
    sessions = _Sessions()
    arrivals = []
    for number, (at_s, one) in enumerate(zip(times_s, ordered, strict=True)):
        numbers = _numbers(one, known)
        arrivals.append(
            SimulatedRequest(
                number=number,
                at_s=at_s,
                prompt_tokens=one.prompt_tokens,
                output_tokens=max(1, one.output_tokens),
                numbers=numbers,
                chain=chain_of_blocks(NO_SALT, numbers, hash_tokens) if numbers else EMPTY,
                session=sessions.of(numbers),
            )
        )
    return Workload(
        arrivals=tuple(arrivals),
        lap_s=lap_s,
        requests=requests or len(arrivals),
        hash_tokens=hash_tokens,
        blocks=len(known),
    )


def _times_s(ordered: Sequence[TraceRequest], rate: float | None) -> tuple[list[float], float]:
    """When each comes, and when the log may begin again: a mean gap after its last request."""
    count = len(ordered)
    begin_s, span_s = ordered[0].at_s, ordered[-1].at_s - ordered[0].at_s
    if rate is not None and not span_s:
        return [number / rate for number in range(count)], count / rate
    lap_s = span_s * count / (count - 1) if span_s else 0.0
    stretch = 1.0 if rate is None else count / rate / lap_s
    return [(one.at_s - begin_s) * stretch for one in ordered], lap_s * stretch


def _hash_tokens(log: Sequence[TraceRequest]) -> int:
    sizes = {one.block_tokens for one in log if one.block_hashes}
    if len(sizes) > 1:
        raise InvalidSpec(f"the trace hashes prompts in blocks of {sorted(sizes)} tokens; one size is needed")
    return sizes.pop() if sizes else HASH_TOKENS


def _numbers(arrival: TraceRequest, known: dict[int | str, int]) -> tuple[int, ...]:
    """A number of our own for the hash of each full block."""
    full = arrival.block_hashes[: arrival.prompt_tokens // arrival.block_tokens]
    return tuple([known.setdefault(one, len(known)) for one in full])


def _again(request: SimulatedRequest, number: int, lap: int, load: Workload) -> SimulatedRequest:
    """The same request on a later walk, whose prompts share with each other and with none before."""
    numbers = tuple([one + lap * load.blocks for one in request.numbers])
    return SimulatedRequest(
        number=number,
        at_s=request.at_s + lap * load.lap_s,
        prompt_tokens=request.prompt_tokens,
        output_tokens=request.output_tokens,
        numbers=numbers,
        chain=chain_of_blocks(NO_SALT, numbers, load.hash_tokens) if numbers else EMPTY,
        session=f"{lap}:{request.session}" if request.session else "",
    )


class _Sessions:
    """Logs seldom name conversations: a prompt that goes on where an earlier one ended belongs to it."""

    def __init__(self) -> None:
        self._owners: dict[int, str] = {}

    def of(self, numbers: tuple[int, ...]) -> str:
        """Empty where a prompt is too short for a block."""
        if not numbers:
            return ""
        session = self._begun(numbers) or f"s{len(self._owners)}"
        for one in numbers:
            self._owners.setdefault(one, session)
        return session

    def _begun(self, numbers: tuple[int, ...]) -> str | None:
        least = SAME_SESSION_SHARE * len(numbers)
        known = (place for place in range(len(numbers), 0, -1) if numbers[place - 1] in self._owners)
        longest = next(known, 0)
        return self._owners[numbers[longest - 1]] if longest and longest >= least else None
