"""One answer being written: what it was asked, what it said, and how far the device is ahead of what is known."""

from collections.abc import Sequence

from msgspec import Struct


class SamplingWishes(Struct, frozen=True, kw_only=True):
    """How the next token is chosen, and what is told of it."""

    temperature: float = 0.0  # 0: the likeliest
    top_p: float = 1.0
    top_k: int = 0  # 0: all
    min_p: float = 0.0
    seed: int = 0
    top_logprobs: int = 0  # likely tokens told beside the one that was taken


class JaxSequence:
    """Changed by the scheduler alone."""

    __slots__ = (
        "key",
        "limit_tokens",
        "prompt",
        "read",
        "reused",
        "salt",
        "sampled",
        "slot",
        "stop_ids",
        "wishes",
        "written",
    )

    def __init__(
        self,
        key: int,
        prompt: Sequence[int],
        *,
        limit_tokens: int,
        stop_ids: frozenset[int] = frozenset(),
        wishes: SamplingWishes | None = None,
        salt: str = "",
    ) -> None:
        self.key = key
        self.prompt = list(prompt)
        self.limit_tokens = limit_tokens
        self.stop_ids = stop_ids
        self.wishes = wishes or SamplingWishes()
        self.salt = salt  # it begins with what another of the same salt has left, and with nobody else's
        self.slot: int | None = None  # None: it waits, or is over
        self.read = 0  # tokens of the prompt whose keys and values the device has been told to make
        self.reused = 0  # of these, those that a slot held already
        self.sampled = 0  # tokens the device has been told to write
        self.written: list[int] = []  # those that came back

    @property
    def is_read(self) -> bool:
        """Whether the device has been given the whole prompt."""
        return self.read == len(self.prompt)

    @property
    def places(self) -> int:
        """How many of its slot's places the device has been told to fill."""
        return self.read + max(0, self.sampled - 1)

    def known_tokens(self) -> list[int]:
        """What its slot holds keys and values of, as far as the tokens are known: never of the newest one."""
        if not self.is_read:
            return self.prompt[: self.read]
        return self.prompt + self.written[:-1]
