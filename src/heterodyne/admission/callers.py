"""Pure: whose key an Authorization header carries. Every key that does not open is refused alike, after equal work."""

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from hmac import compare_digest
from typing import Final

from msgspec import structs

from heterodyne.admission.certificates import CertificateRules
from heterodyne.domain.errors import StoreUnavailable, TokenRefused, Unauthenticated
from heterodyne.domain.tenant import Caller, KeyId, OrganisationId, ProjectId, Scopes, TenantSnapshot
from heterodyne.domain.urgency import Tier
from heterodyne.ports.token_issuers import TokenChecker

BEARER: Final = b"Bearer "
ISSUED: Final = b"hd-"  # how every secret that was issued begins
BEARER_ISSUED: Final = BEARER + ISSUED
TOKEN: Final = b"eyJ"  # how tokens of other issuers begin: `{"` in their writing, in the first of three parts
TOKEN_DOTS: Final = 2


def _own(key: str, project: str, salt: bytes, scopes: tuple[Scopes, ...] = ()) -> Caller:
    """One that no tenant is: without limits, at the tier that keys have where nothing else is said."""
    return Caller(
        key=KeyId(key),
        project=ProjectId(project),
        organisation=OrganisationId(project.partition("/")[0]),
        salt=salt,
        tier=Tier.SILVER,
        weight=1.0,
        scopes=scopes,
        levels=(),
    )


# Whoever asks a gateway without keys.
LOCAL: Final = _own("local", "local/local", b"local")
# An operator who tries something out; the key is the supervisor's own, and new at every start.
CONSOLE: Final = _own("console", "console/playground", b"console/playground")
# Policies that ask a model for its judgement; no request from outside has this key.
JUDGE: Final = _own("guards-judge", "guards/judge", b"guards/judge")
# Who asks for an open page, brings no key and is not on this machine.
STRANGER: Final = _own("stranger", "stranger/stranger", b"stranger", (Scopes(models=()),))

# Whoever a proxy let in that asks us for an endpoint, where the proxy knows its callers and we do not.
PROXY: Final = _own("proxy", "proxy/proxy", b"proxy")

STATIC: Final = "static_"  # how the ids of keys in the settings begin
FOREVER: Final = float("inf")
NO_CONTEXTS: Final[Mapping[str, int]] = {}
NO_PRICES: Final[Mapping[str, float]] = {}
UNKNOWN_KEY: Final = (
    bytes(32),
    -FOREVER,
    LOCAL,
)  # what an unknown key is compared with; no secret has this digest, at no time

Held = tuple[bytes, float, Caller]  # the digest of a secret, when it stops working, whose it is


def is_operators(caller: Caller) -> bool:
    """Whether whoever runs the gateway asks: on its machine, with a key of the settings, or in the console."""
    return caller.key in (LOCAL.key, CONSOLE.key) or caller.key.startswith(STATIC)


class CallerRing:
    """The callers of one snapshot, and those whose digests are in the settings."""

    __slots__ = (
        "_by_id",
        "_held",
        "_local",
        "_projects",
        "_tokens",
        "_unreadable",
        "certificates",
        "is_keyless",
        "version",
    )

    def __init__(
        self,
        snapshot: TenantSnapshot,
        static_digests: tuple[str, ...] = (),
        *,
        is_keyless: bool = False,
        context_tokens_by_tier: Mapping[str, int] = NO_CONTEXTS,
        batch_price_by_tier: Mapping[str, float] = NO_PRICES,
        console_digest: str = "",
        certificates: CertificateRules | None = None,
        tokens: TokenChecker | None = None,
    ) -> None:
        """Keyless, whoever brings no key of ours is `local`; that it is for loopback alone is checked at start-up.
        `console_digest` is of the key that the console's playground asks with; empty: there is none.
        `certificates` say which keys those of clients stand for; None: clients are not asked for any.
        `tokens` knows other issuers that are trusted; None: there are none."""
        of_tier = partial(_of_tier, contexts=context_tokens_by_tier, prices=batch_price_by_tier)
        self._held = _held(snapshot.callers, static_digests, of_tier)
        if console_digest:
            digest = bytes.fromhex(console_digest)
            self._held[digest] = (digest, FOREVER, CONSOLE)
        self._by_id: dict[str, tuple[float, Caller]] | None = None  # made when it is first needed
        self._projects = tuple(map(of_tier, snapshot.projects))
        self._tokens = tokens
        self._unreadable = frozenset(snapshot.unreadable)
        self._local = of_tier(LOCAL)
        self.certificates = certificates
        self.is_keyless = is_keyless
        self.version = snapshot.version

    def check(self, authorization: bytes | None, now_wall_s: float) -> Caller:
        """Who asks; raises for a key that was never issued or is over, and where one is needed and missing."""
        if authorization is None:
            return self._without_key()
        if not self._held and self._tokens is None and not authorization.startswith(BEARER_ISSUED):
            return self._without_key()
        if authorization.startswith(BEARER):
            secret = authorization[7:].strip()
        else:
            scheme, _, secret = authorization.partition(b" ")
            secret = secret.strip()
            if scheme.lower() != b"bearer":
                return self._without_key()
        if not secret:
            return self._without_key()
        digest = sha256(secret).digest()
        held, ends_at, caller = self._held.get(digest, UNKNOWN_KEY)
        # The look-up takes a time that depends on the digest alone, which nobody can steer; an unknown key is compared
        # as a known one is, and both questions are always asked.
        if compare_digest(held, digest) & (now_wall_s < ends_at):
            return caller
        if self._tokens is not None and secret.startswith(TOKEN) and secret.count(b".") == TOKEN_DOTS:
            return self._of_token(self._tokens, secret, digest, now_wall_s)
        if self.is_keyless and not secret.startswith(ISSUED):
            return self._local  # clients that insist on a key send anything; one that was ours and is not is refused
        if self._unreadable and digest.hex() in self._unreadable:
            raise StoreUnavailable(
                "What is stored of this API key cannot be read by this gateway; its operator has to mend it."
            )
        raise Unauthenticated("The API key is not valid.")

    def of_key(self, key: str, now_wall_s: float) -> Caller:
        """Whose it is, by its id: for work that was asked for with it before; raises where it is over."""
        if self._by_id is None:
            self._by_id = {caller.key: (ends_at, caller) for _, ends_at, caller in self._held.values()}
            self._by_id.update((caller.key, (FOREVER, caller)) for caller in self._projects)
        if key == self._local.key and self.is_keyless:
            return self._local
        if key == JUDGE.key:
            return JUDGE
        ends_at, caller = self._by_id.get(key, (-FOREVER, LOCAL))
        if now_wall_s < ends_at:
            return caller
        raise Unauthenticated("The API key that this was asked for with is no longer valid.")

    def salt_of(self, digest: str) -> bytes:
        """What prompts under the key with this SHA-256, in hexadecimal, are hashed with; empty: without a key."""
        if not digest:
            return LOCAL.salt
        known = bytes.fromhex(digest)
        return self._held[known][2].salt if known in self._held else known

    def __repr__(self) -> str:
        return f"CallerRing(version={self.version}, keys={len(self._held)})"

    def _of_token(self, tokens: TokenChecker, secret: bytes, digest: bytes, now_wall_s: float) -> Caller:
        """Whoever a token of another issuer stands for, until it ends."""
        issued = tokens.check(secret, digest, now_wall_s)
        try:
            caller = self.of_key(issued.stands_for, now_wall_s)
        except Unauthenticated as error:
            raise TokenRefused(
                f"The token stands for {issued.stands_for!r}, which is no key or project here now.",
                reason="unknown_caller",
            ) from error
        ends_at = issued.ends_at if caller.expires_at is None else min(issued.ends_at, caller.expires_at)
        return structs.replace(caller, expires_at=ends_at)

    def _without_key(self) -> Caller:
        if self.is_keyless:
            return self._local
        raise Unauthenticated("An API key is required: send `Authorization: Bearer <key>`.")


def _held(
    callers: Mapping[str, Caller], static_digests: tuple[str, ...], of_tier: Callable[[Caller], Caller]
) -> dict[bytes, Held]:
    """By digest; where both know a key, what the tenants say of it holds."""
    held: dict[bytes, Held] = {}
    for hexadecimal in static_digests:
        digest = bytes.fromhex(hexadecimal)
        held[digest] = (digest, FOREVER, of_tier(_static(digest)))
    for hexadecimal, caller in callers.items():
        digest = bytes.fromhex(hexadecimal)
        ends_at = FOREVER if caller.expires_at is None else caller.expires_at
        held[digest] = (digest, ends_at, of_tier(caller))
    return held


def _of_tier(caller: Caller, *, contexts: Mapping[str, int], prices: Mapping[str, float]) -> Caller:
    """What its tier may ask for is one scope more; what it pays for batch work is its tier's, too."""
    price = prices.get(caller.tier)
    if price is not None:
        caller = structs.replace(caller, batch_price=price)
    longest = contexts.get(caller.tier)
    if longest is None:
        return caller
    return structs.replace(caller, scopes=(*caller.scopes, Scopes(context_tokens_max=longest)))


def _static(digest: bytes) -> Caller:
    """A key of the settings: no limits, no scopes, and a salt of its own."""
    return _own(f"{STATIC}{digest.hex()[:8]}", "static/static", digest)
