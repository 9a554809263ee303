"""Many coding agents at once, each going through a recorded session of a public log from a moment of its own."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

from msgspec import Struct, structs

from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.registry.request_log.read import read_request_log

APART_S = 3600.0  # between two rounds of the log: they are of different sessions
BLOCK_TOKENS = 256


class Session(Struct, frozen=True, kw_only=True):
    """The rounds of one agent, from zero on; the blocks of their prompts are numbers."""

    rounds: tuple[TraceRequest, ...]
    shared_blocks: int  # at the beginning of every prompt, which all who go through this session have

    @property
    def seconds(self) -> float:
        """From its first round to its last."""
        return self.rounds[-1].at_s


def recorded_sessions(path: Path) -> list[Session]:
    """What was cached before the first round was there from others: system prompt, tools, the files of the project."""
    log = sorted(read_request_log(path), key=lambda one: one.at_s)
    begins = [number for number, one in enumerate(log) if not number or one.at_s - log[number - 1].at_s > APART_S]
    parts = [log[begin:end] for begin, end in zip(begins, [*begins[1:], len(log)], strict=True)]
    return [
        Session(rounds=_with_blocks(part), shared_blocks=(part[0].cached_tokens or 0) // BLOCK_TOKENS) for part in parts
    ]


def agents(sessions: Sequence[Session], *, count: int, seed: int) -> list[TraceRequest]:
    """So many of them through each session, begun at moments drawn evenly over ten times its length."""
    chance = Random(f"agents {seed}")
    requests = []
    for kind, session in enumerate(sessions):
        for number in range(count):
            begins_s = chance.uniform(0.0, 10 * session.seconds)
            for one in session.rounds:
                own = tuple(
                    f"{kind} {block}" if place < session.shared_blocks else f"{kind} {seed} {number} {block}"
                    for place, block in enumerate(one.block_hashes)
                )
                requests.append(structs.replace(one, at_s=begins_s + one.at_s, block_hashes=own))
    return sorted(requests, key=lambda one: one.at_s)


def _with_blocks(log: Sequence[TraceRequest]) -> tuple[TraceRequest, ...]:
    """Each prompt begins with so much of the one before as the log says was cached."""
    before: list[int] = []
    fresh = 0
    rounds = []
    for one in log:
        kept = before[: min(one.cached_tokens or 0, one.prompt_tokens) // BLOCK_TOKENS]
        added = one.prompt_tokens // BLOCK_TOKENS - len(kept)
        before = kept + list(range(fresh, fresh + added))
        fresh += added
        rounds.append(
            structs.replace(one, at_s=one.at_s - log[0].at_s, block_hashes=tuple(before), block_tokens=BLOCK_TOKENS)
        )
    return tuple(rounds)
