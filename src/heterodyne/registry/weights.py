"""From a weight URI to a file an engine can load. Blocking: call it before the event loop, or in a thread."""

from pathlib import Path

from heterodyne.domain.errors import WeightsCorrupt
from heterodyne.domain.url_secrets import without_secrets
from heterodyne.ports.weights import Progress
from heterodyne.registry.cache import CacheEntry, Manifest, WeightCache, cache_folder
from heterodyne.registry.fetched_weights import FetchedWeights, inspect
from heterodyne.registry.files import sha256_of
from heterodyne.registry.settings import RegistrySettings, fetch_terms
from heterodyne.registry.sources.catalogue import SOURCES
from heterodyne.registry.sources.file import FileSource, local_path
from heterodyne.registry.uri import parse


def obtain(
    uri: str, sha256: str | None, settings: RegistrySettings, progress: Progress, *, verify: bool = False
) -> Path:
    """The weights of `uri` as a local file: from the cache, else fetched; `verify` hashes cached files in full."""
    source_uri, uri = parse(uri, SOURCES), absolute(uri)
    entry = WeightCache(cache_folder(settings)).entry(uri)
    served = entry.try_served(sha256, verify=verify)
    if served is not None:
        return served
    with entry.locked(lambda: progress(f"{without_secrets(uri)} (another process is fetching it)", 0, None)):
        # Another process may have fetched while this one waited.
        served = entry.try_served(sha256, verify=verify)
        if served is not None:
            return served
        entry.discard_content()
        source = SOURCES[source_uri.scheme](fetch_terms(sha256, settings))
        entry.arriving.mkdir(exist_ok=True)
        arrived = source.fetch(source_uri.reference, entry.arriving, progress)
        return _keep(uri, sha256, entry, arrived)


def obtain_source(uri: str, sha256: str | None, settings: RegistrySettings, progress: Progress) -> Path:
    """The same as it came, not as an engine would have it: a GGUF file, or the folder of a model in SafeTensors."""
    obtain(uri, sha256, settings, progress)
    entry = WeightCache(cache_folder(settings)).entry(absolute(uri))
    source = entry.try_source()
    assert source is not None, "it has just been obtained"
    return source.parent if source.suffix == ".safetensors" else source


def check(uri: str, sha256: str | None, settings: RegistrySettings) -> None:
    """Raise `WeightsUnavailable` where weights that are not here yet could not be fetched now."""
    source_uri = parse(uri, SOURCES)
    SOURCES[source_uri.scheme](fetch_terms(sha256, settings)).check(source_uri.reference)


def absolute(uri: str) -> str:
    """The URI under which weights are kept: a relative path means another file in another folder."""
    source_uri = parse(uri, SOURCES)
    if source_uri.scheme != FileSource.scheme:
        return uri
    return f"{FileSource.scheme}:{local_path(source_uri.reference)}"


def cached(settings: RegistrySettings) -> tuple[Manifest, ...]:
    """What the cache holds."""
    return WeightCache(cache_folder(settings)).list()


def _keep(uri: str, sha256: str | None, entry: CacheEntry, arrived: Path) -> Path:
    weight_files = inspect(arrived).weight_files
    if sha256 is not None and (actual := sha256_of(*weight_files)) != sha256:
        entry.discard_arrived()
        others = f" and the {len(weight_files) - 1} after it" if len(weight_files) > 1 else ""
        raise WeightsCorrupt(f"{uri}: the SHA-256 of {weight_files[0].name}{others} is {actual}, expected {sha256}")
    arrival = inspect(entry.settle(arrived))
    return entry.keep(uri, arrival.weight_files, _loadable(arrival, entry), arrival.files)


def _loadable(arrival: FetchedWeights, entry: CacheEntry) -> Path:
    """The weight file, or the GGUF it converts to, kept in the cache even for a model that lies elsewhere."""
    if arrival.bert_folder is None:
        return arrival.weight_file
    from heterodyne.registry.conversion.bert_gguf import convert  # noqa: PLC0415 - numpy and gguf load only to convert

    target = entry.content / f"{arrival.bert_folder.name}.f16.gguf"
    convert(arrival.bert_folder, target)
    return target
