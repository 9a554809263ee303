"""KV that another replica holds: whether to fetch it over the link between them or to compute it again."""

from collections.abc import Iterable

from msgspec import Struct

from heterodyne.physics.hardware import Link
from heterodyne.physics.kv_transfer import transfer_s

TOKENS_MIN = 1024  # the shortest prefix anybody has measured a gain with is twice this
SETUP_S = (
    0.026  # two H200 hosts over NIXL and host memory: the time left when the line through 2k to 48k tokens meets 0
)
MARGIN = 0.1  # a fetch that fails costs a recompute besides


class Source(Struct, frozen=True, kw_only=True, gc=False):
    """A replica that holds some of the prompt and can be asked for it."""

    place: int
    cached_tokens: int
    link: Link
    share: float = 1.0  # of the link that a fetch gets


class Fetch(Struct, frozen=True, kw_only=True, gc=False):
    """Where to fetch from, and what it gives."""

    place: int
    tokens: int  # beyond those the target holds itself
    fetch_s: float
    saved_s: float  # against computing them there


def fetch_s(
    tokens: float, kv_bytes_per_token: float, link: Link, *, share: float = 1.0, setup_s: float = SETUP_S
) -> float:
    """Time to agree on the fetch and to move the KV of this many tokens."""
    return setup_s + transfer_s(tokens * kv_bytes_per_token, link, share=share)


def best_source(
    sources: Iterable[Source],
    *,
    own_tokens: int,
    kv_bytes_per_token: float,
    prefill_tokens_per_s: float,
    tokens_min: int = TOKENS_MIN,
    setup_s: float = SETUP_S,
    margin: float = MARGIN,
) -> Fetch | None:
    """The fetch that saves the target most time; None: it had better compute. The first of equals wins."""
    best: Fetch | None = None
    for source in sources:
        tokens = source.cached_tokens - own_tokens
        if tokens < max(1, tokens_min):
            continue
        takes_s = fetch_s(tokens, kv_bytes_per_token, source.link, share=source.share, setup_s=setup_s)
        recompute_s = tokens / prefill_tokens_per_s
        saved_s = recompute_s - takes_s
        if takes_s * (1 + margin) < recompute_s and (best is None or saved_s > best.saved_s):
            best = Fetch(place=source.place, tokens=tokens, fetch_s=takes_s, saved_s=saved_s)
    return best
