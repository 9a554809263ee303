"""What one load run does: where, what kind of request, how many, how fast and how long each is."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.bench.lengths import Fixed, Lengths
from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.operation import Operation

OPERATIONS = (Operation.CHAT, Operation.COMPLETION, Operation.EMBEDDING)


class ArrivalProcess(StrEnum):
    """How requests are spaced when the rate is given."""

    POISSON = "poisson"  # independent users
    CONSTANT = "constant"  # a metronome


class BenchPlan(Struct, frozen=True, kw_only=True):
    """One run; `rate_requests_per_s` makes it open loop, `concurrency` closed loop."""

    url: str
    model: str
    api_key: str | None = None
    ca_file: str | None = None  # None: the system's certificate authorities
    operation: Operation = Operation.CHAT
    stream: bool = True
    rate_requests_per_s: float | None = None
    arrival: ArrivalProcess = ArrivalProcess.POISSON
    concurrency: int | None = None
    requests: int | None = None  # None: `duration_s` alone ends the run
    duration_s: float | None = None  # None: `requests` alone ends the run
    prompt_tokens: Lengths = Fixed(tokens=128)
    output_tokens: Lengths = Fixed(tokens=64)
    shared_prefix_tokens: int = 0
    ignore_eos: bool = False  # vLLM, SGLang and llama.cpp then write exactly the output length
    seed: int = 0
    timeout_s: float = 120.0
    warm_up_requests: int = 0
    in_flight_max: int = 4096

    def __post_init__(self) -> None:
        problems = [sentence for is_wrong, sentence in self._checks() if is_wrong]
        if problems:
            raise SettingsInvalid("; ".join(problems))

    @property
    def wants_stream(self) -> bool:
        """Embeddings have no stream, whatever was asked."""
        return self.stream and self.operation is not Operation.EMBEDDING

    def _checks(self) -> tuple[tuple[bool, str], ...]:
        rate, concurrency = self.rate_requests_per_s, self.concurrency
        return (
            ((rate is None) == (concurrency is None), "give a rate or a concurrency, one of the two"),
            (rate is not None and rate <= 0, "the rate must be above zero"),
            (concurrency is not None and concurrency < 1, "the concurrency must be at least 1"),
            (self.requests is None and self.duration_s is None, "give a number of requests or a duration"),
            (self.requests is not None and self.requests < 1, "the number of requests must be at least 1"),
            (self.duration_s is not None and self.duration_s <= 0, "the duration must be above zero"),
            (self.timeout_s <= 0, "the timeout must be above zero"),
            (self.in_flight_max < 1, "the in-flight limit must be at least 1"),
            (self.shared_prefix_tokens < 0, "the shared prefix cannot be negative"),
            (self.warm_up_requests < 0, "the warm-up cannot be negative"),
            (self.operation not in OPERATIONS, f"no benchmark for the operation {self.operation.value!r}"),
        )
