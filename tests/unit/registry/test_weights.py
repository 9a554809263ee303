"""Weights are fetched once, checked on every start, and fetched again when they are no longer what they were."""

import hashlib
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.ports.weights import Progress
from heterodyne.registry import weights
from heterodyne.registry.cache import WeightCache, cache_folder
from heterodyne.registry.settings import FetchTerms, RegistrySettings
from heterodyne.registry.sources.catalogue import SOURCES

BODY = b"GGUF and the rest"
SHA256 = hashlib.sha256(BODY).hexdigest()


def quiet(*_: Any) -> None:
    pass


class FakeSource:
    """Brings BODY, and counts how often."""

    scheme = "fake"
    fetches = 0
    entered: threading.Event
    gate: threading.Event

    def __init__(self, terms: FetchTerms) -> None:
        pass

    def fetch(self, reference: str, into: Path, progress: Progress) -> Path:
        FakeSource.fetches += 1
        FakeSource.entered.set()
        assert FakeSource.gate.wait(10)
        (into / "x.gguf").write_bytes(BODY)
        return into / "x.gguf"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RegistrySettings:
    FakeSource.fetches = 0
    FakeSource.entered, FakeSource.gate = threading.Event(), threading.Event()
    FakeSource.gate.set()
    monkeypatch.setitem(SOURCES, "fake", FakeSource)
    return RegistrySettings(cache_dir=str(tmp_path / "cache"))


def obtain(settings: RegistrySettings, sha256: str | None = SHA256, **words: Any) -> Path:
    return weights.obtain("fake:x", sha256, settings, quiet, **words)


def test_the_second_start_fetches_nothing(settings: RegistrySettings) -> None:
    first, second = obtain(settings), obtain(settings)
    assert first == second
    assert first.read_bytes() == BODY
    assert FakeSource.fetches == 1


def test_the_cache_lists_what_it_holds(settings: RegistrySettings) -> None:
    obtain(settings)
    (one,) = weights.cached(settings)
    assert (one.uri, one.sha256, one.size_bytes) == ("fake:x", SHA256, len(BODY))


def test_a_truncated_cached_file_is_fetched_again(settings: RegistrySettings) -> None:
    obtain(settings).write_bytes(BODY[:3])
    assert obtain(settings).read_bytes() == BODY
    assert FakeSource.fetches == 2


def test_a_touched_but_unchanged_file_is_kept(settings: RegistrySettings) -> None:
    os.utime(obtain(settings), (1, 1))
    obtain(settings)
    assert FakeSource.fetches == 1


def test_a_changed_file_of_the_same_size_is_noticed_by_its_time(settings: RegistrySettings) -> None:
    path = obtain(settings)
    path.write_bytes(BODY.upper())
    os.utime(path, (1, 1))
    assert obtain(settings).read_bytes() == BODY


def test_verify_notices_what_size_and_time_hide(settings: RegistrySettings) -> None:
    path = obtain(settings)
    times = path.stat()
    path.write_bytes(BODY.upper())
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert obtain(settings).read_bytes() == BODY.upper()
    assert obtain(settings, verify=True).read_bytes() == BODY


def test_a_wrong_hash_names_both_and_keeps_nothing(settings: RegistrySettings) -> None:
    with pytest.raises(WeightsCorrupt) as caught:
        obtain(settings, "0" * 64)
    assert SHA256 in str(caught.value)
    assert "0" * 64 in str(caught.value)
    assert weights.cached(settings) == ()


def test_a_newly_declared_hash_is_held_against_the_cache(settings: RegistrySettings) -> None:
    obtain(settings, None)
    with pytest.raises(WeightsCorrupt):
        obtain(settings, "0" * 64)


def test_two_at_once_fetch_once(settings: RegistrySettings) -> None:
    FakeSource.gate.clear()
    waiting = threading.Event()
    paths: list[Path] = []
    first = threading.Thread(target=lambda: paths.append(obtain(settings)))
    first.start()
    assert FakeSource.entered.wait(10)
    second = threading.Thread(
        target=lambda: paths.append(weights.obtain("fake:x", SHA256, settings, lambda *_: waiting.set()))
    )
    second.start()
    assert waiting.wait(10)
    FakeSource.gate.set()
    first.join(10)
    second.join(10)
    assert len(paths) == 2
    assert FakeSource.fetches == 1


def test_a_cache_folder_that_cannot_be_made_is_named(tmp_path: Path, settings: RegistrySettings) -> None:
    (tmp_path / "file").write_bytes(b"")
    broken = RegistrySettings(cache_dir=str(tmp_path / "file" / "cache"))
    with pytest.raises(WeightsUnavailable, match="cannot keep them in"):
        obtain(broken)


def test_a_local_file_is_served_in_place_and_its_hash_remembered(tmp_path: Path, settings: RegistrySettings) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(BODY)
    for _ in range(2):
        assert weights.obtain(f"file:{mine}", SHA256, settings, quiet) == mine
    (one,) = WeightCache(cache_folder(settings)).list()
    assert one.served == str(mine)


def test_a_relative_path_means_the_folder_it_is_asked_from(
    tmp_path: Path, settings: RegistrySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.gguf").write_bytes(BODY)
        monkeypatch.chdir(tmp_path / folder)
        assert weights.obtain("file:x.gguf", None, settings, quiet) == tmp_path / folder / "x.gguf"


def test_a_local_file_with_another_hash_is_refused_and_left_alone(tmp_path: Path, settings: RegistrySettings) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"other")
    with pytest.raises(WeightsCorrupt):
        weights.obtain(f"file:{mine}", SHA256, settings, quiet)
    assert mine.read_bytes() == b"other"


def test_a_folder_with_several_models_asks_for_one(tmp_path: Path, settings: RegistrySettings) -> None:
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).write_bytes(BODY)
    with pytest.raises(WeightsUnavailable, match="holds 2 GGUF files"):
        weights.obtain(f"file:{tmp_path}", None, settings, quiet)


def test_the_default_folder_follows_the_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder(RegistrySettings(), {"XDG_CACHE_HOME": "/c"}) == Path("/c/heterodyne/weights")
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_folder(RegistrySettings(), {}) == tmp_path / ".cache/heterodyne/weights"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_folder(RegistrySettings(), {}) == tmp_path / "Library/Caches/heterodyne/weights"


def shards(folder: Path, *bodies: bytes, count: int | None = None) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = [folder / f"big-{number:05d}-of-{count or len(bodies):05d}.gguf" for number in range(1, len(bodies) + 1)]
    for path, body in zip(paths, bodies, strict=True):
        path.write_bytes(body)
    return paths


@pytest.mark.parametrize("names_folder", [True, False], ids=["folder", "first shard"])
def test_every_shard_of_a_gguf_is_hashed(tmp_path: Path, settings: RegistrySettings, names_folder: bool) -> None:
    first, second, _ = shards(tmp_path / "big", b"GGUF one", b"GGUF two", b"GGUF three")
    uri = f"file:{first.parent if names_folder else first}"
    declared = hashlib.sha256(b"GGUF oneGGUF twoGGUF three").hexdigest()
    assert weights.obtain(uri, declared, settings, quiet) == first
    (kept,) = weights.cached(settings)
    assert (kept.sha256, len(kept.files)) == (declared, 3)
    times = second.stat()
    second.write_bytes(b"GGUF bad")
    with pytest.raises(WeightsCorrupt, match=r"big-00001-of-00003\.gguf and the 2 after it"):
        weights.obtain(uri, declared, settings, quiet)
    os.utime(second, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(WeightsCorrupt):
        weights.obtain(uri, declared, settings, quiet, verify=True)


def test_a_replaced_shard_is_noticed_where_no_hash_is_declared(tmp_path: Path, settings: RegistrySettings) -> None:
    first, second = shards(tmp_path / "big", b"GGUF one", b"GGUF two")
    weights.obtain(f"file:{first}", None, settings, quiet)
    (before,) = weights.cached(settings)
    second.write_bytes(b"GGUF bad")
    os.utime(second, (1, 1))
    weights.obtain(f"file:{first}", None, settings, quiet)
    (after,) = weights.cached(settings)
    assert before.sha256 != after.sha256


def test_a_cache_that_vouched_for_the_first_shard_alone_is_not_believed(
    tmp_path: Path, settings: RegistrySettings
) -> None:
    first, _ = shards(tmp_path / "big", b"GGUF one", b"GGUF two")
    entry = WeightCache(cache_folder(settings)).entry(f"file:{first}")
    with entry.locked(lambda: None):
        entry.keep(f"file:{first}", (first,), first, (first,))
    assert entry.try_served(None, verify=False) is None
    weights.obtain(f"file:{first}", None, settings, quiet)
    assert entry.try_served(None, verify=False) == first


def test_a_shard_that_is_missing_or_not_the_first_is_said(tmp_path: Path, settings: RegistrySettings) -> None:
    first, second = shards(tmp_path / "big", b"GGUF one", b"GGUF two", count=3)
    with pytest.raises(WeightsUnavailable, match=r"first of 3 files, and big-00003-of-00003\.gguf is not beside it"):
        weights.obtain(f"file:{first}", None, settings, quiet)
    with pytest.raises(WeightsUnavailable, match="is number 2 of 3 files; name the first"):
        weights.obtain(f"file:{second}", None, settings, quiet)


def test_shards_beside_another_model_are_ambiguous(tmp_path: Path, settings: RegistrySettings) -> None:
    first, _ = shards(tmp_path / "big", b"GGUF one", b"GGUF two")
    (first.parent / "other.gguf").write_bytes(BODY)
    with pytest.raises(WeightsUnavailable, match="holds 3 GGUF files"):
        weights.obtain(f"file:{first.parent}", None, settings, quiet)


def test_an_addresss_signature_is_in_no_name_and_no_manifest_of_the_cache(settings: RegistrySettings) -> None:
    weights.obtain("fake:https://u:s3cret@h/x.gguf?sig=s3cret", None, settings, quiet)
    (kept,) = weights.cached(settings)
    assert kept.uri == "fake:https://***@h/x.gguf?sig=***"
    assert not [path for path in cache_folder(settings).rglob("*") if "s3cret" in path.name]
