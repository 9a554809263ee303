"""What a request's headers say of caching: the directives of HTTP's own Cache-Control, and for how long to keep."""

from math import inf
from typing import Final, final

from heterodyne.domain.cache_drop import TAG, TAGS_MAX
from heterodyne.domain.errors import InvalidField

CACHE_CONTROL: Final = b"cache-control"
TTL: Final = b"x-heterodyne-cache-ttl-s"
MATCH: Final = b"x-heterodyne-cache-match"
TAGS: Final = b"x-heterodyne-cache-tags"
MATCHES: Final = (b"exact", b"similar")
SECONDS_MAX: Final = 31_536_000


@final
class CacheControl:
    """Nothing that is not asked for."""

    __slots__ = ("age_max_s", "is_looked_up", "is_only_cached", "is_stored", "tags", "takes_similar", "ttl_s")

    def __init__(self) -> None:
        self.is_looked_up = True
        self.is_stored = True
        self.is_only_cached = False  # no replica is to be asked
        self.takes_similar = True  # the answer to a prompt that means the same will do
        self.age_max_s = inf  # of an answer that is given again
        self.ttl_s: float | None = None  # None: as the policy says
        self.tags: tuple[str, ...] = ()  # beside those of the policy


NONE: Final = CacheControl()


def read_cache_control(headers: dict[bytes, bytes]) -> CacheControl:
    """Raise, with the header's name, what cannot be understood; directives of others are passed over, as HTTP asks."""
    said, ttl, match, tags = headers.get(CACHE_CONTROL), headers.get(TTL), headers.get(MATCH), headers.get(TAGS)
    if said is None and ttl is None and match is None and tags is None:
        return NONE
    control = CacheControl()
    for directive in (said or b"").lower().split(b","):
        name, _, value = directive.strip().partition(b"=")
        if name == b"no-cache":
            control.is_looked_up = False
        elif name == b"no-store":
            control.is_stored = False
        elif name == b"only-if-cached":
            control.is_only_cached = True
        elif name == b"max-age":
            control.age_max_s = _seconds(CACHE_CONTROL, value.strip(b'"'), least=0)
    if ttl is not None:
        control.ttl_s = _seconds(TTL, ttl, least=1)
    if match is not None:
        if match not in MATCHES:
            raise InvalidField(f"{MATCH.decode()}: exact or similar is expected.", param=MATCH.decode())
        control.takes_similar = match == b"similar"
    if tags is not None:
        control.tags = _tags(tags.decode("latin-1"))
    return control


def _tags(said: str) -> tuple[str, ...]:
    tags = tuple(dict.fromkeys(word.strip() for word in said.split(",") if word.strip()))
    if len(tags) > TAGS_MAX or not all(map(TAG.fullmatch, tags)):
        raise InvalidField(
            f"{TAGS.decode()}: up to {TAGS_MAX} words of up to 64 visible characters are expected, with commas.",
            param=TAGS.decode(),
        )
    return tags


def _seconds(header: bytes, value: bytes, *, least: int) -> int:
    if not value.isdigit() or len(value) > 9 or int(value) < least:
        name = header.decode()
        what = "max-age is" if header == CACHE_CONTROL else "expected is"
        raise InvalidField(f"{name}: {what} a whole number of seconds from {least} to {SECONDS_MAX}.", param=name)
    return min(int(value), SECONDS_MAX)
