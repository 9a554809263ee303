"""One issuer: its keys as it told them last, and when they have to be asked for again."""

from collections.abc import Callable
from typing import Final

from heterodyne.domain.errors import IssuerUnavailable
from heterodyne.identity.compact_token import CompactToken
from heterodyne.identity.discovery import Discovered, IssuerPlace, IssuerSilent, discover, fetch_document
from heterodyne.identity.key_set import KeySet, read_key_set
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.trouble import Trouble
from heterodyne.wire.connection_pool import ConnectionPool

PAUSE_S: Final = 10.0  # at least, between two times that it is asked
NEVER_S: Final = float("-inf")

_log = log.get("identity")


class Issuer:
    """Belongs to one event loop; only `refresh` asks anybody."""

    def __init__(
        self, name: str, place: IssuerPlace, *, refresh_s: float, kept_s: float, clock: Callable[[], float]
    ) -> None:
        self.name = name
        self.place = place
        self.keys = KeySet()
        self.documents: Discovered | None = None  # None: it never answered
        self._refresh_s, self._kept_s = refresh_s, kept_s
        self._clock = clock
        self._asked_s = self._told_s = NEVER_S
        self._is_asking = False
        self._wants_keys = False  # whether a token names one that we have not seen
        self._trouble = Trouble(_log, "issuer_silent", issuer=name)

    @property
    def is_due(self) -> bool:
        """Whether its keys are old, or too few, and it was not asked just now."""
        now_s = self._clock()
        is_old = now_s - self._told_s >= self._refresh_s
        return not self._is_asking and (is_old or self._wants_keys) and now_s - self._asked_s >= PAUSE_S

    def check(self, token: CompactToken) -> None:
        """Raises TokenRefused where it did not sign this, IssuerUnavailable where nobody can say before it answers."""
        if self._clock() - self._told_s > self._kept_s:
            raise IssuerUnavailable(
                f"The keys of the issuer {self.name!r} are not known here, as it could not be asked.",
                retry_after_s=1,
            )
        if not self.keys.knows(token) and token.key_id is not None:
            self.want_keys()
            if self._is_asking or self.is_due:
                raise IssuerUnavailable(
                    f"The token is signed with a new key, which the issuer {self.name!r} is being asked for.",
                    retry_after_s=1,
                )
        self.keys.check(token)

    def want_keys(self) -> None:
        """A token names a key that we have not seen: ask soon."""
        self._wants_keys = True

    async def refresh(self, pool: ConnectionPool) -> bool:
        """Ask it; whether keys that were good are none any more. Where it does not answer, what it told last goes on
        to hold."""
        self._is_asking, self._asked_s, self._wants_keys = True, self._clock(), False
        before = self.keys
        try:
            documents = await discover(pool, self.place)
            body = await fetch_document(pool, self.place, documents.jwks_uri)
            self.keys, self.documents = _read(body), documents
        except IssuerSilent as error:
            metrics.issuer_fetches.add((self.name, "failed"))
            self._trouble.failed(error)
            return False
        finally:
            self._is_asking = False
        self._told_s = self._clock()
        metrics.issuer_fetches.add((self.name, "told"))
        self._trouble.worked()
        return not self.keys.has_all_of(before)


def _read(body: bytes) -> KeySet:
    try:
        return read_key_set(body)
    except ValueError as error:
        raise IssuerSilent(str(error)) from error
