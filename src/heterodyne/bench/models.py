"""Asks the server under test which models it serves, and finds the one that is meant."""

from collections.abc import Callable, Collection

import msgspec
from msgspec import Struct

from heterodyne.bench.client import Client
from heterodyne.bench.endpoint import Endpoint
from heterodyne.bench.failure import BenchFailure, ExchangeFailed
from heterodyne.bench.response_reader import WholeResponseReader
from heterodyne.domain.errors import EngineRefused, EngineUnavailable

UNREACHABLE_FAILURES = frozenset(
    {BenchFailure.REFUSED, BenchFailure.UNREACHABLE, BenchFailure.TIMEOUT, BenchFailure.CLOSED}
)


class EndpointModel(Struct, frozen=True):
    """One entry of `/v1/models`."""

    id: str
    max_model_len: int | None = None  # vLLM, SGLang and Heterodyne send it


class EndpointModelList(Struct, frozen=True):
    """The answer of `/v1/models`."""

    data: tuple[EndpointModel, ...]


async def first_model(endpoint: Endpoint, *, timeout_s: float, clock: Callable[[], float]) -> str:
    """The first model of the list; raises ExchangeFailed."""
    models = await served_models(endpoint, timeout_s=timeout_s, clock=clock)
    return models[0].id


async def served_models(
    endpoint: Endpoint, *, timeout_s: float, clock: Callable[[], float]
) -> tuple[EndpointModel, ...]:
    """The whole list, at least one; raises ExchangeFailed."""
    client, answer = Client(endpoint, clock=clock), WholeResponseReader()
    try:
        await client.exchange(endpoint.get("/models"), answer, timeout_s=timeout_s)
    finally:
        client.close()
    try:
        models = msgspec.json.decode(answer.body, type=EndpointModelList).data
    except msgspec.DecodeError as error:
        raise ExchangeFailed(BenchFailure.GARBAGE, f"/models: {error}") from error
    if not models:
        raise ExchangeFailed(BenchFailure.GARBAGE, "/models: the list is empty")
    return models


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
