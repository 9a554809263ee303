"""KV that lies elsewhere: fetch it over a link or compute it again, and where the two are even."""

from math import inf

from msgspec import Struct

from heterodyne.physics.hardware import Link


class KvChoice(Struct, frozen=True, kw_only=True):
    """Both times for one prefix, and which is shorter by more than the margin."""

    transfer_s: float
    recompute_s: float
    is_transfer: bool


def transfer_s(kv_bytes: float, link: Link, *, share: float = 1.0) -> float:
    """Time to move KV between two chips that have this share of the link."""
    return link.latency_s + kv_bytes / (link.pair_bytes_per_s * share)


def choose(
    tokens: float,
    *,
    kv_bytes_per_token: float,
    link: Link,
    prefill_tokens_per_s: float,
    queue_s: float = 0.0,
    share: float = 1.0,
    margin: float = 0.1,
) -> KvChoice:
    """Fetch when it wins by the margin: a failed fetch costs a recompute besides."""
    fetch = transfer_s(tokens * kv_bytes_per_token, link, share=share)
    again = tokens / prefill_tokens_per_s + queue_s
    return KvChoice(transfer_s=fetch, recompute_s=again, is_transfer=fetch * (1 + margin) < again)


def break_even_bytes_per_s(kv_bytes_per_token: float, prefill_tokens_per_s: float) -> float:
    """The link speed at which fetching a long prefix takes as long as computing it."""
    return kv_bytes_per_token * prefill_tokens_per_s


def break_even_tokens(
    *, kv_bytes_per_token: float, link: Link, prefill_tokens_per_s: float, queue_s: float = 0.0, share: float = 1.0
) -> float:
    """The shortest prefix worth fetching; infinite when the link is slower than computing."""
    ahead_s = link.latency_s - queue_s
    if ahead_s <= 0:
        return 0.0
    gain_s_per_token = 1 / prefill_tokens_per_s - kv_bytes_per_token / (link.pair_bytes_per_s * share)
    return ahead_s / gain_s_per_token if gain_s_per_token > 0 else inf
