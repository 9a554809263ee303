"""What one way to run a model said of one next token."""

from msgspec import Struct

Token = int | str  # its number; of an engine that gives none, its text


class ScoredToken(Struct, frozen=True):
    """One position: the token that stands there, and those that were likeliest."""

    token: Token
    logprob: float  # of that token
    top: dict[Token, float]  # log-probabilities, the likeliest first

    @property
    def likeliest(self) -> Token:
        return next(iter(self.top))
