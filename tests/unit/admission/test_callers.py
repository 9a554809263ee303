"""Whose key is good, and that nothing tells a bad one from another bad one."""

from hashlib import sha256

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs

from heterodyne.admission.callers import CONSOLE, LOCAL, PROXY, STRANGER, CallerRing
from heterodyne.domain.errors import TokenRefused, Unauthenticated
from heterodyne.domain.issued_token import IssuedToken, stand_in_of
from heterodyne.domain.tenant import RESERVED_ORGANISATIONS, Caller, KeyId, OrganisationId, ProjectId, TenantSnapshot
from heterodyne.domain.urgency import Tier

NOW_S = 1000.0


def digest(secret: bytes) -> str:
    return sha256(secret).hexdigest()


def caller(name: str, expires_at: float | None = None) -> Caller:
    return Caller(
        key=KeyId(f"key_{name}"),
        project=ProjectId("acme/search"),
        organisation=OrganisationId("acme"),
        salt=b"salt",
        tier=Tier.GOLD,
        weight=1.0,
        scopes=(),
        levels=(),
        expires_at=expires_at,
    )


SECRETS = {b"hd-one": caller("one"), b"hd-two": caller("two", 2000.0), b"hd-old": caller("old", NOW_S)}
SNAPSHOT = TenantSnapshot(version=3, callers={digest(secret): one for secret, one in SECRETS.items()})
RING = CallerRing(SNAPSHOT, (digest(b"static"),))
KEYLESS = CallerRing(SNAPSHOT, is_keyless=True)


@pytest.mark.parametrize("header", [b"Bearer hd-one", b"bearer hd-one", b"BEARER  hd-one ", b"Bearer \thd-one"])
def test_an_issued_key_finds_its_caller(header: bytes) -> None:
    assert RING.check(header, NOW_S) is SECRETS[b"hd-one"]


def test_a_key_of_the_settings_is_a_caller_of_its_own() -> None:
    found = RING.check(b"Bearer static", NOW_S)
    assert (found.organisation, found.project, found.levels) == ("static", "static/static", ())
    assert found.salt == sha256(b"static").digest()
    assert found.key == f"static_{digest(b'static')[:8]}"


@pytest.mark.parametrize("header", [None, b"", b"hd-one", b"Bearer", b"Bearer ", b"Bearer \t ", b"Basic hd-one"])
def test_without_a_key_the_answer_says_how_to_send_one(header: bytes | None) -> None:
    with pytest.raises(Unauthenticated, match="Authorization: Bearer"):
        RING.check(header, NOW_S)
    assert KEYLESS.check(header, NOW_S) is LOCAL


def test_unknown_expired_and_revoked_keys_are_refused_in_the_same_words() -> None:
    messages = set()
    for secret in (b"hd-never", b"hd-old", b"hd-on", b"hd-one two", b"\xff\x00"):
        with pytest.raises(Unauthenticated) as refused:
            RING.check(b"Bearer " + secret, NOW_S)
        messages.add((refused.value.message, refused.value.code, refused.value.param, refused.value.__cause__))
    assert len(messages) == 1


def test_a_key_works_until_the_very_moment_it_expires() -> None:
    assert RING.check(b"Bearer hd-two", 1999.999) is SECRETS[b"hd-two"]
    for now_s in (2000.0, 2001.0):
        with pytest.raises(Unauthenticated):
            RING.check(b"Bearer hd-two", now_s)


def test_a_keyless_ring_knows_issued_keys_and_lets_placeholders_in() -> None:
    assert KEYLESS.check(b"Bearer hd-one", NOW_S) is SECRETS[b"hd-one"]
    assert KEYLESS.check(b"Bearer none", NOW_S) is LOCAL
    with pytest.raises(Unauthenticated, match="not valid"):
        KEYLESS.check(b"Bearer hd-old", NOW_S)


def test_what_the_tenants_say_of_a_key_goes_over_the_settings() -> None:
    ring = CallerRing(SNAPSHOT, (digest(b"hd-one"), digest(b"hd-old")))
    assert ring.check(b"Bearer hd-one", NOW_S) is SECRETS[b"hd-one"]
    with pytest.raises(Unauthenticated):
        ring.check(b"Bearer hd-old", NOW_S)


def test_nothing_of_a_secret_is_shown() -> None:
    assert repr(RING) == "CallerRing(version=3, keys=4)"
    with pytest.raises(Unauthenticated) as refused:
        RING.check(b"Bearer hd-mistyped", NOW_S)
    assert "mistyped" not in repr(refused.value) + str(refused.value)


def test_an_empty_ring_opens_to_nobody_not_even_to_no_time() -> None:
    ring = CallerRing(TenantSnapshot())
    for now_s in (float("-inf"), 0.0, NOW_S):
        with pytest.raises(Unauthenticated):
            ring.check(b"Bearer x", now_s)


@given(header=st.none() | st.binary(max_size=200) | st.binary(max_size=60).map(lambda secret: b"Bearer " + secret))
@example(header=b"Bearer hd-one")
@example(header=b"bEARER\x0bhd-one")
@example(header=b"Bearer " + bytes(32))
def test_any_header_finds_the_right_caller_or_is_unauthenticated(header: bytes | None) -> None:
    for ring, is_keyless in ((RING, False), (KEYLESS, True)):
        try:
            found = ring.check(header, NOW_S)
        except Unauthenticated:
            continue
        secret = (header or b"").partition(b" ")[2].strip()
        if found is LOCAL:
            assert is_keyless
        elif found.organisation == "static":
            assert secret == b"static"
        else:
            assert SECRETS[secret] is found
            assert found.expires_at is None or found.expires_at > NOW_S


@given(secrets=st.lists(st.binary(min_size=1, max_size=40).map(bytes.strip).filter(bool), max_size=20, unique=True))
def test_every_issued_key_opens_as_its_own_caller(secrets: list[bytes]) -> None:
    callers = {digest(secret): structs.replace(caller("k"), key=KeyId(secret.hex())) for secret in secrets}
    ring = CallerRing(TenantSnapshot(callers=callers))
    for secret in secrets:
        assert ring.check(b"Bearer " + secret, NOW_S).key == secret.hex()


def test_the_consoles_key_is_a_caller_of_its_own_and_opens_beside_others() -> None:
    for is_keyless in (True, False):
        ring = CallerRing(TenantSnapshot(), (digest(b"static"),), is_keyless=is_keyless, console_digest=digest(b"own"))
        assert ring.check(b"Bearer own", 0.0) is CONSOLE
        assert ring.check(b"Bearer static", 0.0).project == "static/static"
    with pytest.raises(Unauthenticated):
        CallerRing(TenantSnapshot(), (digest(b"static"),)).check(b"Bearer own", 0.0)


def test_callers_that_no_database_knows_have_reserved_organisations() -> None:
    static = RING.check(b"Bearer static", 0.0)
    assert {one.organisation for one in (LOCAL, CONSOLE, STRANGER, PROXY, static)} == RESERVED_ORGANISATIONS
    assert all(one.project.startswith(f"{one.organisation}/") for one in (LOCAL, CONSOLE, STRANGER, PROXY, static))


def test_a_key_is_found_by_its_id_for_as_long_as_it_works() -> None:
    assert RING.of_key("key_one", NOW_S) is SECRETS[b"hd-one"]
    assert RING.of_key("key_two", 1999.0) is SECRETS[b"hd-two"]
    assert RING.of_key(f"static_{digest(b'static')[:8]}", NOW_S).project == "static/static"
    for key, now_s in (("key_two", 2000.0), ("key_old", NOW_S), ("key_none", NOW_S), ("local", NOW_S), ("", NOW_S)):
        with pytest.raises(Unauthenticated):
            RING.of_key(key, now_s)
    assert KEYLESS.of_key("local", NOW_S) is LOCAL


def test_a_tier_says_what_its_batch_work_costs() -> None:
    ring = CallerRing(SNAPSHOT, is_keyless=True, batch_price_by_tier={"gold": 0.5})
    assert ring.check(b"Bearer hd-one", NOW_S).batch_price == 0.5
    assert ring.check(None, NOW_S).batch_price == 1.0


class Checker:
    """Whatever a test wants tokens to stand for."""

    def __init__(self, stands_for: str, ends_at: float = 50.0) -> None:
        self.issued = IssuedToken(stands_for=KeyId(stands_for), ends_at=ends_at)

    def check(self, token: bytes, digest: bytes, now_wall_s: float) -> IssuedToken:
        return self.issued


TOKEN = b"Bearer eyJ.e30.x"


def test_a_token_of_an_issuer_is_its_key_until_the_first_of_the_two_ends() -> None:
    one = caller("one")
    snapshot = TenantSnapshot(callers={digest(b"hd-1"): one, digest(b"hd-2"): structs.replace(one, expires_at=20.0)})
    assert CallerRing(snapshot, tokens=Checker("key_one")).check(TOKEN, 10.0).expires_at == 20.0
    only = TenantSnapshot(callers={digest(b"hd-1"): one})
    assert CallerRing(only, tokens=Checker("key_one")).check(TOKEN, 10.0) == structs.replace(one, expires_at=50.0)


def test_a_token_may_stand_for_a_whole_project_whose_later_work_it_is_known_for() -> None:
    project = structs.replace(caller("one"), key=stand_in_of("acme/search"))
    ring = CallerRing(TenantSnapshot(projects=(project,)), tokens=Checker("token:acme/search"))
    assert ring.check(TOKEN, 10.0).project == "acme/search"
    assert ring.of_key("token:acme/search", 10.0) == project


def test_a_token_that_stands_for_what_is_not_there_is_refused_by_its_name() -> None:
    with pytest.raises(TokenRefused, match="key_gone"):
        CallerRing(TenantSnapshot(), tokens=Checker("key_gone")).check(TOKEN, 10.0)


def test_without_issuers_a_token_is_a_key_that_nobody_issued() -> None:
    with pytest.raises(Unauthenticated, match="not valid"):
        RING.check(TOKEN, 10.0)
