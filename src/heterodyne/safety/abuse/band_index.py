"""Locality-sensitive hashing: finds signatures like one among many without comparing it with each.

A signature is cut into bands of three numbers; two that agree in one whole band are worth comparing. With twenty-four
bands, texts with half of their words in common meet 96 times in a hundred, texts with a tenth of them twice.
"""

from typing import Final

from heterodyne.safety.abuse.minhash import SIGNATURE_BYTES

BANDS: Final = 24
BAND_BYTES: Final = SIGNATURE_BYTES // BANDS
BUCKET_MAX: Final = 4  # entries that share a band; the oldest goes, and may still be found by another band

_STARTS: Final = tuple(range(0, SIGNATURE_BYTES, BAND_BYTES))


class BandIndex:
    """Ids of signatures by their bands. Whoever adds takes out again; it holds at most `BANDS` places for each."""

    __slots__ = ("_buckets",)

    def __init__(self) -> None:
        self._buckets: dict[int, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def add(self, id_: int, signature: bytes) -> None:
        """Find it from now on."""
        buckets = self._buckets
        for band in _bands(signature):
            held = buckets.get(band)
            buckets[band] = (id_,) if held is None else (*held[-BUCKET_MAX + 1 :], id_)

    def remove(self, id_: int, signature: bytes) -> None:
        """Find it no more."""
        buckets = self._buckets
        for band in _bands(signature):
            held = buckets.get(band)
            if held is None or id_ not in held:
                continue  # pushed out by newer ones
            rest = tuple(one for one in held if one != id_)
            if rest:
                buckets[band] = rest
            else:
                del buckets[band]

    def near(self, signature: bytes) -> set[int]:
        """Those that share a band with it."""
        buckets = self._buckets
        found: set[int] = set()
        for band in _bands(signature):
            held = buckets.get(band)
            if held is not None:
                found.update(held)
        return found


def _bands(signature: bytes) -> list[int]:
    """A key for each band, which its place is part of: 64 bits of a hash."""
    return [hash((start, signature[start : start + BAND_BYTES])) for start in _STARTS]
