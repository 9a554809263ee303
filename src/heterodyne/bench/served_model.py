"""Which of an endpoint's models is meant, and how long a context it takes."""

from collections.abc import Callable, Collection

from heterodyne.bench.endpoint import Endpoint
from heterodyne.bench.failure import BenchFailure, ExchangeFailed
from heterodyne.bench.models import EndpointModel, served_models
from heterodyne.domain.errors import EngineRefused, EngineUnavailable

UNREACHABLE_FAILURES = frozenset(
    {BenchFailure.REFUSED, BenchFailure.UNREACHABLE, BenchFailure.TIMEOUT, BenchFailure.CLOSED}
)


async def served_model(
    endpoint: Endpoint, *, asked: str | None, names: Collection[str], timeout_s: float, clock: Callable[[], float]
) -> EndpointModel:
    """The model asked for by its name there, else the only one, else the one that bears one of `names`."""
    where = f"{endpoint.host}:{endpoint.port}"
    try:
        models = await served_models(endpoint, timeout_s=timeout_s, clock=clock)
    except ExchangeFailed as failed:
        if failed.failure in UNREACHABLE_FAILURES:
            raise EngineUnavailable(f"{where}: {failed.detail}; is the engine up, and the URL right?") from failed
        if asked is None:
            raise EngineRefused(
                f"{where}: no list of models ({failed.detail}); name the model with --engine-model", status=404
            ) from failed
        return EndpointModel(asked)
    listed = ", ".join(model.id for model in models)
    if asked is not None:
        found = [model for model in models if model.id == asked]
        if not found:
            raise EngineRefused(f'{where}: serves no model "{asked}"; it has {listed}', status=404)
        return found[0]
    known = {name.lower() for name in names}
    alike = [model for model in models if model.id.lower() in known] or models
    if len(alike) != 1:
        raise EngineRefused(f"{where}: serves {listed}; say which one with --engine-model", status=404)
    return alike[0]
