"""Asks the server under test which models it serves."""

from collections.abc import Callable

import msgspec
from msgspec import Struct

from heterodyne.bench.client import Client
from heterodyne.bench.endpoint import Endpoint
from heterodyne.bench.failure import BenchFailure, ExchangeFailed
from heterodyne.bench.response_reader import WholeResponseReader


class EndpointModel(Struct, frozen=True):
    """One entry of `/v1/models`."""

    id: str
    max_model_len: int | None = None  # vLLM and SGLang say so, and so do we


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
