"""Which of an endpoint's models is meant, and how long a context it takes."""

from collections.abc import Callable, Collection

from heterodyne.bench.endpoint import Endpoint
from heterodyne.bench.failure import ExchangeFailed, Failure
from heterodyne.bench.models import Model, served_models
from heterodyne.domain.errors import EngineRefused, EngineUnavailable

NOBODY_THERE = frozenset({Failure.REFUSED, Failure.UNREACHABLE, Failure.TIMEOUT, Failure.CLOSED})


async def served_model(
    endpoint: Endpoint, *, asked: str | None, names: Collection[str], timeout_s: float, clock: Callable[[], float]
) -> Model:
    """The model asked for by its name there, else the only one, else the one that bears one of `names`."""
    where = f"{endpoint.host}:{endpoint.port}"
    try:
        models = await served_models(endpoint, timeout_s=timeout_s, clock=clock)
    except ExchangeFailed as failed:
        if failed.failure in NOBODY_THERE:
            raise EngineUnavailable(f"{where}: {failed.detail}; is the engine up, and the URL right?") from failed
        if asked is None:
            raise EngineRefused(
                f"{where}: no list of models ({failed.detail}); name the model with --engine-model", status=404
            ) from failed
        return Model(asked)
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
