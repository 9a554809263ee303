"""Every issuer that callers may bring tokens of, and the tokens that were found good lately."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import TokenRefused
from heterodyne.domain.issued_token import IssuedToken, stand_in_of
from heterodyne.domain.name_patterns import NamePatterns
from heterodyne.domain.tenant import KeyId
from heterodyne.identity.claims import claim_at, ends_at
from heterodyne.identity.compact_token import CompactToken, read_token, short
from heterodyne.identity.discovery import IssuerPlace
from heterodyne.identity.issuer import Issuer
from heterodyne.identity.settings import IssuerSettings
from heterodyne.telemetry import metrics
from heterodyne.wire.connection_pool import ConnectionPool

SEEN_MAX: Final = 10_000  # tokens; the one that was checked first gives way
LOOK_S: Final = 1.0  # between looks at who has to be asked
NAMES_SHOWN: Final = 3
UNKNOWN: Final = "unknown"  # the issuer, for metrics: its name is whatever a client wrote


class TrustedIssuer:
    """An issuer, and what its tokens stand for here."""

    def __init__(self, name: str, settings: IssuerSettings, clock: Callable[[], float]) -> None:
        self.settings = settings
        self.issuer = Issuer(
            name,
            IssuerPlace(url=settings.issuer_url, tls_authorities=settings.tls_authorities),
            refresh_s=settings.refresh_s,
            kept_s=settings.keys_kept_h * 3600,
            clock=clock,
        )
        self._callers = NamePatterns(settings.callers)
        self._projects = NamePatterns({pattern: pattern for pattern in settings.projects})

    def issued(self, token: CompactToken, now_wall_s: float) -> IssuedToken:
        """Raises where it is not signed as it has to be, not for us, over, or stands for nobody."""
        settings = self.settings
        if token.algorithm not in settings.algorithms:
            raise TokenRefused(
                f"The token is signed by {short(token.algorithm)!r}, which is not taken here.", reason="bad_algorithm"
            )
        self.issuer.check(token)
        over_at = ends_at(token.claims, settings.audiences, now_wall_s, settings.leeway_s)
        return IssuedToken(stands_for=self._stands_for(token), ends_at=over_at)

    def _stands_for(self, token: CompactToken) -> KeyId:
        words = claim_at(token.claims, self.settings.claim)
        meant = self._callers.try_find(words)
        if meant is None:
            meant = next((word for word in words if "/" in word and self._projects.try_find((word,))), None)
        if meant is not None:
            return stand_in_of(meant)
        shown = ", ".join(map(short, words[:NAMES_SHOWN])) or "nothing"
        raise TokenRefused(
            f"The token stands for nobody here: its claim {'.'.join(self.settings.claim)} says {shown}.",
            reason="unknown_caller",
        )


class TokenIssuers:
    """One per worker; belongs to one event loop. Fills the port `TokenChecker`."""

    def __init__(self, pool: ConnectionPool, clock: Callable[[], float]) -> None:
        self._pool = pool
        self._clock = clock
        self._by_url: dict[str, TrustedIssuer] = {}
        self._seen: dict[bytes, IssuedToken] = {}  # by the digests of tokens
        self._wanted = asyncio.Event()
        self.on_withdrawn: Callable[[], None] = lambda: None  # keys of an issuer, or all of it, are good no longer

    def configure(self, issuers: Mapping[str, IssuerSettings]) -> None:
        """Trust these, and nobody else; of those that stay as they are the keys do, too."""
        by_name = {one.issuer.name: one for one in self._by_url.values()}
        known = {name: one for name, one in by_name.items() if issuers.get(name) == one.settings}
        if len(known) == len(by_name) == len(issuers):
            return
        self._by_url = {
            settings.issuer_url: known.get(name) or TrustedIssuer(name, settings, self._clock)
            for name, settings in issuers.items()
        }
        self._seen.clear()
        self._wanted.set()

    def check(self, token: bytes, digest: bytes, now_wall_s: float) -> IssuedToken:
        """What a token stands for. One that was found good is remembered until it ends."""
        seen = self._seen.get(digest)
        if seen is not None and now_wall_s < seen.ends_at:
            return seen
        name = UNKNOWN
        try:
            read = read_token(token)
            trusted = self._by_url.get(read.issuer)
            if trusted is None:
                raise TokenRefused(
                    f"The token's issuer {short(read.issuer)!r} is not trusted here.", reason="unknown_issuer"
                )
            name = trusted.issuer.name
            try:
                issued = trusted.issued(read, now_wall_s)
            finally:
                if trusted.issuer.is_due:
                    self._wanted.set()
        except TokenRefused as error:
            metrics.tokens_refused.add((name, error.reason))
            raise
        while len(self._seen) >= SEEN_MAX:
            del self._seen[next(iter(self._seen))]
        self._seen[digest] = issued
        return issued

    async def refresh(self) -> None:
        """Ask whoever has to be asked now, all at once."""
        due = [one.issuer for one in self._by_url.values() if one.issuer.is_due]
        if any(await asyncio.gather(*(issuer.refresh(self._pool) for issuer in due))):
            self._seen.clear()
            self.on_withdrawn()

    async def run(self) -> None:
        """Until cancelled. One that is slow does not keep the others waiting for longer than an answer may take."""
        try:
            while True:
                self._wanted.clear()
                await self.refresh()
                with suppress(TimeoutError):
                    async with deadline(LOOK_S):
                        await self._wanted.wait()
        finally:
            await self.close()

    async def close(self) -> None:
        """No connection is left."""
        await self._pool.close()
