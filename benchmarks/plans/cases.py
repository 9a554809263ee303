"""Thirty questions: five models, two of them mixtures, three service levels, two kinds of traffic, eight chips."""

from collections.abc import Iterator
from random import Random

from msgspec import Struct

from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.traffic.trace_request import TraceRequest

CHIPS = ("l4", "l40s", "a100-80gb", "h100-sxm", "h200-sxm", "b200", "mi300x", "tpu-v6e")
SHARE = 0.99
LEVELS = {
    "fast": Slo(ttft_s=0.5, itl_s=0.03),
    "usual": Slo(ttft_s=1.0, itl_s=0.05),
    "patient": Slo(ttft_s=3.0, itl_s=0.15),
}


class Traffic(Struct, frozen=True, kw_only=True):
    """Lengths with a long tail, arrivals by chance."""

    name: str
    prompt_tokens: float  # the median
    prompt_spread: float  # of the logarithm
    output_tokens: float
    output_spread: float
    patience: float  # times the service level's first token
    pace: float  # times the model's rate
    without: tuple[str, ...] = ()  # chips that are not offered

    def log(self, requests: int, seed: int) -> list[TraceRequest]:
        """One request a second on average."""
        chance = Random(seed)
        at_s, log = 0.0, []
        for _ in range(requests):
            at_s += chance.expovariate(1.0)
            prompt = self.prompt_tokens * chance.lognormvariate(0.0, self.prompt_spread)
            output = self.output_tokens * chance.lognormvariate(0.0, self.output_spread)
            log.append(
                TraceRequest(
                    at_s=at_s,
                    prompt_tokens=round(min(self.prompt_tokens * 8, max(8.0, prompt))),
                    output_tokens=round(min(self.output_tokens * 6, max(4.0, output))),
                )
            )
        return log


class Case(Struct, frozen=True, kw_only=True):
    """One question."""

    model: str
    precision: Precision
    level: str
    traffic: Traffic
    requests_per_s: float

    @property
    def slo(self) -> Slo:
        level = LEVELS[self.level]
        return Slo(ttft_s=level.ttft_s * self.traffic.patience, itl_s=level.itl_s)

    @property
    def chips(self) -> tuple[str, ...]:
        return tuple(name for name in CHIPS if name not in self.traffic.without)


CHAT = Traffic(
    name="chat",
    prompt_tokens=500,
    prompt_spread=0.9,
    output_tokens=160,
    output_spread=0.7,
    patience=1.0,
    pace=1.0,
)
# Where the cheapest chip of the list is sold out.
DOCUMENTS = Traffic(
    name="documents",
    prompt_tokens=2500,
    prompt_spread=0.5,
    output_tokens=250,
    output_spread=0.5,
    patience=3.0,
    pace=0.3,
    without=("mi300x",),
)
MODELS = {  # requests a second of chat
    "llama-3.1-8b": (Precision.FP8, 120.0),
    "qwen3-32b": (Precision.FP8, 40.0),
    "llama-3.1-70b": (Precision.FP8, 25.0),
    "qwen3-30b-a3b": (Precision.FP8, 120.0),
    "deepseek-v3": (Precision.FP8, 20.0),
}


def cases() -> Iterator[Case]:
    """All of them."""
    for model, (precision, rate) in MODELS.items():
        for level in LEVELS:
            for traffic in (CHAT, DOCUMENTS):
                yield Case(
                    model=model,
                    precision=precision,
                    level=level,
                    traffic=traffic,
                    requests_per_s=rate * traffic.pace,
                )
