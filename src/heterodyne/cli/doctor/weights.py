"""Where weights are kept, whether there is room and leave to write, and which models are here or can be fetched."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from msgspec import structs

from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.cli.doctor.folder import folder_finding
from heterodyne.cli.models.configured_models import ConfiguredModel, configured_models
from heterodyne.cli.output import bytes_in_words
from heterodyne.config.settings import Settings
from heterodyne.domain.errors import HeterodyneError
from heterodyne.registry.cache import cache_folder
from heterodyne.registry.weights import check

TOPIC = "weights"
PROBE_TIMEOUT_S = 10.0
AT_ONCE_MAX = 4  # pip is a process each


def weights(settings: Settings) -> Iterator[DoctorFinding]:
    """The folder, then each model that is started here."""
    yield folder_finding(
        TOPIC,
        "folder",
        cache_folder(settings.registry),
        elsewhere="set registry.cache_dir to a folder that can",
        when_little="make room, or set registry.cache_dir to a folder on another disk",
    )
    models = [model for model in configured_models(settings) if model.cached is not None]
    with ThreadPoolExecutor(AT_ONCE_MAX) as threads:
        yield from threads.map(lambda model: _model(model, settings), models)


def _model(model: ConfiguredModel, settings: Settings) -> DoctorFinding:
    name = f"{model.pool} ({model.model})"
    if model.cached:
        size = "" if model.size_bytes is None else f", {bytes_in_words(model.size_bytes)}"
        return DoctorFinding(topic=TOPIC, name=name, state=FindingState.GOOD, value=f"here{size}")
    pool = settings.pools[model.pool]
    assert pool.weights is not None  # else it would be neither here nor missing
    hasty = structs.replace(settings.registry, download_timeout_s=PROBE_TIMEOUT_S)
    try:
        check(pool.weights, pool.weights_sha256, hasty)
    except HeterodyneError as error:
        is_file = pool.weights.startswith("file:")
        advice = (
            "bring the file there, or correct the path" if is_file else f"then: heterodyne models pull {model.pool}"
        )
        value = f"not here, and cannot be fetched: {error.message}"
        return DoctorFinding(topic=TOPIC, name=name, state=FindingState.BLOCKER, value=value, advice=advice)
    if pool.weights.startswith("file:"):
        return DoctorFinding(
            topic=TOPIC, name=name, state=FindingState.GOOD, value="here; the first start reads its hash"
        )
    return DoctorFinding(
        topic=TOPIC,
        name=name,
        state=FindingState.NOTE,
        value="not fetched yet; the first start does it",
        advice=f"heterodyne models pull {model.pool}",
    )
