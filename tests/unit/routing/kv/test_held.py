"""A store holds what saves most for each byte, no longer than that is worth it, and mixes no layouts or tenants."""

from heterodyne.routing.kv.chain import Chain, chain_of, salt_of
from heterodyne.routing.kv.held import SESSIONS_PIN, KvTier

TOKENS = 128  # of a prompt of 512 bytes: two blocks of 64
TOKEN_BYTES = 1000.0


def chain(words: bytes, tenant: bytes = b"t", size: int = 512) -> Chain:
    return chain_of(salt_of(tenant), (words * size)[:size], 0.25)


def put(
    tier: KvTier, one: Chain, now_s: float = 0.0, *, usd: float = 1e-6, session: str = "s", layout: str = "L"
) -> None:
    tier.insert(layout, one, token_bytes=TOKEN_BYTES, token_usd=usd, session=session, now_s=now_s)


def held(tier: KvTier, one: Chain, now_s: float = 0.0, layout: str = "L") -> int:
    return tier.tokens(layout, one, now_s)


def test_what_was_computed_is_held_from_its_beginning() -> None:
    tier = KvTier(1e9)
    put(tier, chain(b"a"))
    assert held(tier, chain(b"a")) == TOKENS
    longer = chain_of(salt_of(b"t"), b"a" * 512 + b"b" * 512, 0.25)
    assert held(tier, longer) == TOKENS
    assert held(tier, chain(b"b")) == 0


def test_another_layout_or_tenant_has_nothing_of_it() -> None:
    tier = KvTier(1e9)
    put(tier, chain(b"a"))
    assert held(tier, chain(b"a"), layout="M") == 0
    assert held(tier, chain(b"a", b"other")) == 0


def test_it_never_holds_more_than_it_has_room_for() -> None:
    tier = KvTier(5 * TOKENS * TOKEN_BYTES, blocks_max=8)
    for number in range(200):
        put(tier, chain(b"%d." % number), float(number))
        assert tier.byte_count <= 5 * TOKENS * TOKEN_BYTES
        assert tier.entries <= 8


def test_what_is_dear_to_compute_stays_and_what_is_cheap_goes() -> None:
    tier = KvTier(2 * TOKENS * TOKEN_BYTES)
    put(tier, chain(b"dear"), usd=1e-3)
    for number in range(20):
        put(tier, chain(b"%d." % number), 1.0 + number, usd=1e-6)
    assert held(tier, chain(b"dear")) == TOKENS
    assert held(tier, chain(b"19."), 20.0) == TOKENS
    assert held(tier, chain(b"3."), 20.0) == 0


def test_what_was_dear_once_goes_in_the_end() -> None:
    tier = KvTier(2 * TOKENS * TOKEN_BYTES)
    put(tier, chain(b"dear"), usd=20e-6)
    for number in range(100):
        put(tier, chain(b"%d." % number), 1.0 + number, usd=1e-6)
    assert held(tier, chain(b"dear"), 101.0) == 0


def test_ends_go_before_beginnings() -> None:
    tier = KvTier(3 * TOKENS * TOKEN_BYTES)
    long = chain_of(salt_of(b"t"), b"a" * 2560, 0.25)  # 2 small blocks and 4 large ones
    put(tier, long)
    assert 0 < held(tier, long) < 640


def test_what_nobody_wants_is_forgotten_in_time() -> None:
    tier = KvTier(1e9, ttl_s=60.0)
    put(tier, chain(b"a"), 0.0)
    assert held(tier, chain(b"a"), 59.0) == TOKENS
    assert held(tier, chain(b"a"), 61.0) == 0
    put(tier, chain(b"b"), 62.0)
    assert tier.entries == 2


def test_keeping_costs_no_more_than_computing_it_again() -> None:
    # A gigabyte is 1e6 tokens here, so it saves a dollar; at 2 dollars an hour it is kept for half of one.
    tier = KvTier(1e9, usd_per_gb_hour=2.0)
    put(tier, chain(b"a"), usd=1e-6)
    assert held(tier, chain(b"a"), 1790.0) == TOKENS
    assert held(tier, chain(b"a"), 1810.0) == 0


def test_what_many_sessions_want_is_pinned() -> None:
    tier = KvTier(4 * TOKENS * TOKEN_BYTES)
    for number in range(4 * SESSIONS_PIN):
        put(tier, chain(b"system"), 0.0, session=f"s{number}", usd=0.0)
    assert tier.pinned_bytes > 0.0
    for number in range(50):
        put(tier, chain(b"%d." % number), 1.0 + number, usd=1.0)
    assert held(tier, chain(b"system"), 51.0) == TOKENS
    assert tier.pinned_bytes <= 0.5 * 4 * TOKENS * TOKEN_BYTES


def test_a_prompt_that_was_not_there_after_all_is_forgotten() -> None:
    tier = KvTier(1e9)
    put(tier, chain(b"a"))
    tier.remove("L", chain(b"a"))
    assert (held(tier, chain(b"a")), tier.entries, tier.byte_count) == (0, 0, 0.0)
