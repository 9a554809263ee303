"""A key that spends much more than it does: stolen, or in the hands of a program that runs away.

An hour that was found too dear counts as dear as it might have been by chance, so that it does not make the next one
usual; a level that lasts becomes usual within days.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final, final

from msgspec import Struct

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.safety.abuse import settings as defaults
from heterodyne.safety.abuse.finding import AbuseFinding
from heterodyne.safety.abuse.key_spending import KeySpending
from heterodyne.safety.abuse.settings import AbuseSettings
from heterodyne.safety.abuse.usual_spending import UsualHour, usual_hour

KEYS_MAX: Final = 10_000
RULE: Final = "cost"


class SavedSpending(Struct, frozen=True, array_like=True):
    """What a key has spent, to be known after a restart."""

    policy: str
    key: str
    hour: int
    hours: bytes


@final
class WatchedKey:
    """One key."""

    __slots__ = ("is_found", "spending", "usual", "usual_of")

    def __init__(self, spending: KeySpending) -> None:
        self.spending = spending
        self.usual: UsualHour | None = None  # None: too little is known
        self.usual_of = -1  # the hour that it was worked out in
        self.is_found = False  # too dear in this hour


class CostAnomaly:
    """What one policy knows."""

    def __init__(self, policy: str, settings: AbuseSettings, *, keys_max: int = KEYS_MAX) -> None:
        self._policy = policy
        self._keys_max = keys_max
        self._usd_min = defaults.USD_MIN if settings.usd_min is None else settings.usd_min
        self._factor_min = settings.factor_min or defaults.FACTOR_MIN
        self._false_alarms = settings.false_alarms_per_year or defaults.FALSE_ALARMS_PER_YEAR
        self._warm_up_hours = settings.warm_up_hours or defaults.WARM_UP_HOURS
        self._keys: OrderedDict[str, WatchedKey] = OrderedDict()  # the one heard of last is the last

    def __len__(self) -> int:
        return len(self._keys)

    def observe(self, sign: AbuseSign) -> list[AbuseFinding]:
        """Whether its key has spent too much in the hour that ends now."""
        if sign.usd <= 0:
            return []
        watched = self._watched(sign)
        spending = watched.spending
        kept = watched.usual.usd_max if watched.is_found and watched.usual is not None else None
        spending.add(sign.usd, sign.at, kept_usd_max=kept)
        if watched.usual_of != spending.hour:
            watched.usual_of, watched.is_found = spending.hour, False
            watched.usual = self._usual(spending)
        usual, spent = watched.usual, spending.last_hour_usd
        if usual is None or spent < self._usd_min or spent < self._factor_min * usual.usd or spent <= usual.usd_max:
            return []
        watched.is_found = True
        return [
            AbuseFinding(
                policy=self._policy,
                watch="cost",
                rule=RULE,
                key=sign.key,
                project=sign.project,
                at=sign.at,
                detail=f"${spent:.2f} in an hour that usually costs ${usual.usd:.2f} and by chance no more than "
                f"${usual.usd_max:.2f}",
            )
        ]

    def saved(self) -> Iterator[SavedSpending]:
        """What is worth keeping over a restart."""
        for key, watched in self._keys.items():
            yield SavedSpending(self._policy, key, watched.spending.hour, watched.spending.saved)

    def recall(self, saved: SavedSpending, at: float) -> None:
        """Go on from an earlier life."""
        if len(self._keys) < self._keys_max:
            self._keys[saved.key] = WatchedKey(KeySpending(at, saved.hours, saved.hour))

    def _watched(self, sign: AbuseSign) -> WatchedKey:
        watched = self._keys.get(sign.key)
        if watched is None:
            if len(self._keys) >= self._keys_max:
                self._keys.popitem(last=False)
            watched = self._keys[sign.key] = WatchedKey(KeySpending(sign.at))
        self._keys.move_to_end(sign.key)
        return watched

    def _usual(self, spending: KeySpending) -> UsualHour | None:
        every = spending.active_hours()
        if len(every) < self._warm_up_hours:
            return None
        return usual_hour(spending.similar_hours(), every, self._false_alarms)
