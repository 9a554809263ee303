"""Pure: people whom an issuer vouched for, in memory alone: a restart ends it, and so does time."""

from heterodyne.console.access.operators import Person

PEOPLE_MAX = 1000
WHOLE_S = 12 * 3600.0  # what an issuer has said of somebody may change


class KnownPeople:
    """By the digest that their sessions are opened with."""

    def __init__(self) -> None:
        self._people: dict[bytes, tuple[Person, float]] = {}

    def add(self, person: Person, now_s: float) -> None:
        """Somebody who signed in now; of too many the first goes."""
        assert person.digest is not None
        self._people.pop(person.digest, None)
        while len(self._people) >= PEOPLE_MAX:
            del self._people[next(iter(self._people))]
        self._people[person.digest] = person, now_s

    def try_find(self, digest: bytes, now_s: float) -> Person | None:
        """None: nobody was vouched for by this digest, or too long ago."""
        person, since_s = self._people.get(digest, (None, now_s))
        return person if now_s - since_s < WHOLE_S else None

    @property
    def digests(self) -> frozenset[bytes]:
        """Of all of them."""
        return frozenset(self._people)
