"""Who asks for a page that needs no key."""

from hashlib import sha256

import pytest

from heterodyne.admission.callers import LOCAL, STRANGER, CallerRing, is_operators
from heterodyne.admission.host_names import HostNames
from heterodyne.domain.errors import Unauthenticated
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.open_pages import page_caller
from tests.support.tenants import caller, tenants

TENANT = caller()
KEYED = CallerRing(tenants(key=TENANT), (sha256(b"ours").hexdigest(),))
KEYLESS = CallerRing(tenants(), is_keyless=True)
HERE, AFAR = "127.0.0.1", "10.0.0.7"


def who(
    peer: str, *, callers: CallerRing = KEYED, host: str = "localhost:8080", needs_key: bool = False, **headers: str
) -> Caller:
    named = HostNames(("lab.example",), has_keys=callers is KEYED)
    sent = {b"host": host.encode()} | {
        name.replace("_", "-").encode(): value.encode() for name, value in headers.items()
    }
    return page_caller(sent, peer, callers, named, 0.0, needs_key=needs_key)


@pytest.mark.parametrize("peer", [HERE, "::1", "::ffff:127.0.0.1", "127.8.8.8"])
def test_a_client_on_this_machine_needs_no_key(peer: str) -> None:
    assert who(peer) is LOCAL
    assert who(peer, host="lab.example") is LOCAL


@pytest.mark.parametrize("peer", [AFAR, "::ffff:10.0.0.7", "2001:db8::1", ""])
def test_a_client_from_elsewhere_without_a_key_is_a_stranger(peer: str) -> None:
    assert who(peer) is STRANGER
    assert who(peer, authorization="Bearer wrong") is STRANGER


@pytest.mark.parametrize("header", ["forwarded", "x_forwarded_for", "x_forwarded_host", "x_real_ip", "via"])
def test_a_proxy_on_this_machine_asks_for_strangers(header: str) -> None:
    assert who(HERE, **{header: "10.0.0.7"}) is STRANGER


@pytest.mark.parametrize("callers", [KEYED, KEYLESS], ids=["keyed", "keyless"])
def test_a_browser_on_this_machine_that_calls_us_by_another_name_is_a_stranger(callers: CallerRing) -> None:
    assert who(HERE, callers=callers, host="evil.example") is STRANGER


def test_a_key_says_whose_it_is() -> None:
    assert who(AFAR, authorization="Bearer key") == TENANT
    assert not is_operators(who(AFAR, authorization="Bearer key"))
    assert is_operators(who(AFAR, authorization="Bearer ours"))
    assert not is_operators(STRANGER)


def test_where_a_key_is_needed_this_machine_needs_one_too() -> None:
    for peer in (HERE, AFAR):
        with pytest.raises(Unauthenticated):
            who(peer, needs_key=True)
        assert who(peer, needs_key=True, authorization="Bearer key") == TENANT
