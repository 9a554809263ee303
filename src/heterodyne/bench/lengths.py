"""Distributions of lengths in tokens, and how they are written on the command line."""

from math import exp
from pathlib import Path
from random import Random

from msgspec import Struct

from heterodyne.domain.errors import SettingsInvalid

TOKENS_MAX = 1_000_000
FORMS = "fixed:128, uniform:32:512, normal:256:64, lognormal:5:0.8, or a file with one length per line"


class Fixed(Struct, frozen=True, kw_only=True):
    """Always the same length."""

    tokens: int

    def draw(self, random: Random) -> int:
        return clamp(self.tokens)


class Uniform(Struct, frozen=True, kw_only=True):
    """Every length between two bounds, both included."""

    tokens_min: int
    tokens_max: int

    def draw(self, random: Random) -> int:
        return clamp(random.randint(self.tokens_min, self.tokens_max))


class Normal(Struct, frozen=True, kw_only=True):
    """Bell-shaped around a mean."""

    mean_tokens: float
    deviation_tokens: float

    def draw(self, random: Random) -> int:
        return clamp(random.normalvariate(self.mean_tokens, self.deviation_tokens))


class Lognormal(Struct, frozen=True, kw_only=True):
    """Many short, a few very long, as chat traffic is; the parameters are those of the logarithm."""

    mu: float
    sigma: float

    def draw(self, random: Random) -> int:
        return clamp(exp(min(random.normalvariate(self.mu, self.sigma), 50.0)))


class Sampled(Struct, frozen=True, kw_only=True):
    """Lengths seen elsewhere, drawn again at random."""

    tokens: tuple[int, ...]

    def draw(self, random: Random) -> int:
        return clamp(random.choice(self.tokens))


Lengths = Fixed | Uniform | Normal | Lognormal | Sampled


def parse_lengths(text: str) -> Lengths:
    """`kind:number[:number]`, a bare number, or the path of a file."""
    kind, _, rest = text.partition(":")
    try:
        numbers = tuple(float(part) for part in rest.split(":")) if rest else ()
        match kind, numbers:
            case "fixed", (tokens,):
                return Fixed(tokens=_positive(tokens))
            case "uniform", (low, high) if low <= high:
                return Uniform(tokens_min=_positive(low), tokens_max=_positive(high))
            case "normal", (mean, deviation) if deviation >= 0:
                return Normal(mean_tokens=_positive(mean), deviation_tokens=deviation)
            case "lognormal", (mu, sigma) if sigma >= 0:
                return Lognormal(mu=mu, sigma=sigma)
            case _ if text.isdecimal():
                return Fixed(tokens=_positive(float(text)))
            case _:
                return Sampled(tokens=_read(Path(text)))
    except ValueError as error:
        raise SettingsInvalid(f"no lengths in {text!r}; write {FORMS}") from error


def clamp(tokens: float) -> int:
    """A length an engine can be asked for."""
    return max(1, min(TOKENS_MAX, round(tokens)))


def _positive(number: float) -> int:
    if not 1 <= number <= TOKENS_MAX:
        raise ValueError(f"{number} is outside 1..{TOKENS_MAX}")
    return round(number)


def _read(path: Path) -> tuple[int, ...]:
    try:
        words = path.read_text(encoding="utf-8").split()
    except OSError as error:
        raise SettingsInvalid(f"no lengths in {str(path)!r} ({error.strerror}); write {FORMS}") from error
    tokens = tuple(_positive(float(word)) for word in words)
    if not tokens:
        raise ValueError("an empty file")
    return tokens
