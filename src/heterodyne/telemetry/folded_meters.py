"""The numbers of processes that are gone, so that counters never go back."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from heterodyne.telemetry import log
from heterodyne.telemetry.exposition import FOLDED, merge, write_samples
from heterodyne.telemetry.meters import Meter, Sample, SharedCounter

Mark = tuple[int, int]  # a file as distinct from one that took its place

_log = log.get("telemetry")
_decode = msgspec.msgpack.Decoder(list[Sample]).decode


class FoldedMeters:
    """The counters of processes that are gone, kept in memory and left in a file as soon as the disk takes it.

    One per supervisor, which calls it from one thread at a time.
    """

    def __init__(self, run_dir: Path, meters: Iterable[Meter]) -> None:
        self._run_dir = run_dir
        self._lost = {meter.name for meter in meters if meter.kind == "gauge" or isinstance(meter, SharedCounter)}
        self._kept: list[Sample] = []
        self._gone: list[tuple[Path, Mark]] = []  # files that are in `_kept`, and the mark of each

    def fold(self, name: str) -> None:
        """A process is gone: its gauges, and what it saw others count, died with it."""
        gone = self._run_dir / f"{name}.meters"
        try:
            mark, samples = _mark(gone), _decode(gone.read_bytes())
        except FileNotFoundError:
            return
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("meters_not_folded", process=name, error=str(error))
            return
        if (gone, mark) in self._gone:
            return
        self._kept = list(merge([[one for one in samples if one.meter not in self._lost], self._kept]))
        self._gone.append((gone, mark))
        self.save()

    def save(self) -> None:
        """Leave what has no file, or none any more; until then the files of those that are gone stay if they can."""
        if not self._gone and (not self._kept or (self._run_dir / f"{FOLDED}.meters").exists()):
            return
        if not write_samples(self._run_dir, FOLDED, self._kept):
            return
        for path, mark in self._gone:
            try:
                if _mark(path) == mark:  # else its successor has left numbers of its own
                    path.unlink()
            except OSError as error:
                _log.debug("meters_not_removed", file=path.name, error=str(error))
        self._gone.clear()


def _mark(path: Path) -> Mark:
    stat = path.stat()
    return stat.st_ino, stat.st_mtime_ns
