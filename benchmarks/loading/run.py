"""`make bench-loading`: how fast weights come from a disk and from an object store, beside what `dd` reads."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from benchmarks.loading.page import Loaded, render
from heterodyne.domain.artifact import ArtifactFile
from heterodyne.registry.blobs.checked_copy import copy_checked
from heterodyne.registry.blobs.object_store import ObjectBlobs
from heterodyne.registry.blobs.ranged_read import ReadTerms
from heterodyne.registry.files import hashes_of
from heterodyne.testing.object_store import BUCKET, ObjectStore, running_object_store

PAGE = Path(__file__).resolve().parents[2] / "docs" / "loading.md"
MEMORY = Path("/dev/shm")
CHUNK_BYTES = 16 << 20


def main() -> int:
    """Measure and write the page."""
    options = _options()
    with ExitStack() as stack:
        folder, memory = (
            Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place))) for place in (options.folder, MEMORY)
        )
        store = stack.enter_context(running_object_store(folder))
        blobs = ObjectBlobs(store.url, ReadTerms(readers=options.readers))
        files = [_made(store, number, options.mib << 20) for number in range(options.files)]
        ways = _ways(store, files, blobs, memory, options.readers)
        rates: dict[tuple[str, str], list[float]] = {way: [] for way in ways}
        for _ in range(options.rounds):
            for way, read in ways.items():
                _forget([path for path, _ in files])
                began_s = time.perf_counter()
                read()
                rates[way].append(sum(file.size_bytes for _, file in files) / (time.perf_counter() - began_s))
                shutil.rmtree(memory)
                memory.mkdir()
            print({way: f"{found[-1] / 1e6:.0f} MB/s" for way, found in rates.items()}, flush=True)
    loaded = [Loaded(place=place, how=how, rates=tuple(found)) for (place, how), found in rates.items()]
    page = render(loaded, files=options.files, file_bytes=options.mib << 20)
    print(page)
    if not options.no_page:
        PAGE.write_text(page)
    return 0


def _ways(
    store: ObjectStore, files: list[tuple[Path, ArtifactFile]], blobs: ObjectBlobs, memory: Path, readers: int
) -> dict[tuple[str, str], Callable[[], None]]:
    terms = ReadTerms(readers=readers)

    def disk_by_dd() -> None:
        for path, _ in files:
            _run("dd", f"if={path}", "of=/dev/null", f"bs={CHUNK_BYTES}")

    def disk_checked() -> None:
        for path, file in files:
            copy_checked(path, file, memory / file.path, lambda _: None, terms)

    def store_by_dd() -> None:
        for path, _ in files:
            url = f"{store.endpoint}/{path.relative_to(store.folder)}"
            signed = ["--user", ":".join(store.keys), "--aws-sigv4", "aws:amz:us-east-1:s3"]
            with subprocess.Popen(["curl", "-sSf", *signed, url], stdout=subprocess.PIPE) as curl:
                _run("dd", "of=/dev/null", "bs=1M", "iflag=fullblock", stdin=curl.stdout)

    def store_checked() -> None:
        for _, file in files:
            blobs.fetch(file, memory / file.path, lambda _: None)

    return {
        ("disk", "dd"): disk_by_dd,
        ("disk", "heterodyne"): disk_checked,
        ("object store", "dd"): store_by_dd,
        ("object store", "heterodyne"): store_checked,
    }


def _made(store: ObjectStore, number: int, size_bytes: int) -> tuple[Path, ArtifactFile]:
    """A file of random bytes, where the store has it."""
    path = store.folder / f"arriving-{number}"
    with path.open("wb") as file:
        for _ in range(0, size_bytes, CHUNK_BYTES):
            file.write(os.urandom(min(CHUNK_BYTES, size_bytes)))
        file.flush()
        os.fsync(file.fileno())
    described = ArtifactFile(f"weights-{number}.bin", path.stat().st_size, *hashes_of(path))
    target = store.folder / BUCKET / "heterodyne" / described.sha256[:2] / described.sha256
    target.parent.mkdir(parents=True)
    return path.rename(target), described


def _forget(paths: list[Path]) -> None:
    """The system has nothing of them in memory."""
    for path in paths:
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _run(*words: str, stdin: object = None) -> None:
    subprocess.run(words, check=True, stdin=stdin, stderr=subprocess.DEVNULL)  # type: ignore[call-overload]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--mib", type=int, default=512, help="of each file")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--readers", type=int, default=8, help="at once")
    parser.add_argument("--folder", type=Path, help="on the disk to be measured; absent, the system's temporary one")
    parser.add_argument("--no-page", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
