"""Pure: how many wrong keys may be tried at the admin port, by signing in or as a bearer.

Counted are keys, not requests: a program that goes on with a key that was replaced guesses nothing, and must not lock
out other people on the same machine. An address that has tried too many waits, and no key of it is looked at, not even
a right one; keys from other addresses are. Where very many addresses guess together, each may be wrong once.
"""

from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil

from heterodyne.console.errors import TooManySignIns

WINDOW_S = 300.0
KEYS_OF_ADDRESS_MAX = 10
KEYS_MAX = 200  # of all addresses together
ADDRESSES_MAX = 1000
IPV6_BITS = 64  # of an address: the rest is its owner's to choose


class KeyLimit:
    """One per admin port."""

    def __init__(self) -> None:
        self._wrong = 0  # keys of all addresses, in the window that began then
        self._began_s = float("-inf")
        self._by_address: dict[str, _WrongKeys] = {}  # the one seen first comes first

    def check(self, address: str, now_s: float) -> None:
        """Raise where nothing more may be tried from there for now."""
        known = self._by_address.get(_owner(address))
        if known is None or not (wrong := known.count_at(now_s)):
            return
        is_crowd = now_s - self._began_s < WINDOW_S and self._wrong >= KEYS_MAX
        if wrong >= KEYS_OF_ADDRESS_MAX or is_crowd:
            wait_s = max(1, ceil(known.began_s + WINDOW_S - now_s))
            raise TooManySignIns(f"Too many wrong keys; try again in {wait_s} s.", retry_after_s=wait_s)

    def note_wrong(self, address: str, key: str, now_s: float) -> None:
        """A wrong key; of very many addresses the one seen first is forgotten."""
        owner = _owner(address)
        if owner not in self._by_address and len(self._by_address) >= ADDRESSES_MAX:
            del self._by_address[next(iter(self._by_address))]
        if not self._by_address.setdefault(owner, _WrongKeys()).try_add(key, now_s):
            return
        if now_s - self._began_s >= WINDOW_S:
            self._began_s, self._wrong = now_s, 0
        self._wrong += 1


class _WrongKeys:
    """Those of one address, as digests, in one window of time."""

    __slots__ = ("_digests", "began_s")

    def __init__(self) -> None:
        self.began_s = float("-inf")
        self._digests: set[bytes] = set()

    def count_at(self, now_s: float) -> int:
        return len(self._digests) if now_s - self.began_s < WINDOW_S else 0

    def try_add(self, key: str, now_s: float) -> bool:
        """Whether it is another one than before."""
        if now_s - self.began_s >= WINDOW_S:
            self.began_s, self._digests = now_s, set()
        digest = sha256(key.encode("utf-8", "surrogatepass")).digest()
        if digest in self._digests or len(self._digests) >= KEYS_OF_ADDRESS_MAX:
            return False
        self._digests.add(digest)
        return True


def _owner(address: str) -> str:
    """Of IPv6 the network: the owner of one address mostly has all the others of it."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ip_network((found, IPV6_BITS), strict=False))
    return address
