"""The external scaler that KEDA asks, over gRPC: of each pool the count that the autoscaler wants.

With a target of one a replica, KEDA's HorizontalPodAutoscaler wants as many replicas as the metric says.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

import grpc

from heterodyne.domain.errors import UnknownName
from heterodyne.domain.fleet import PoolName
from heterodyne.fleet.kubernetes.keda.messages import (
    MessageInvalid,
    ScaledObject,
    is_active_response,
    metric_response,
    read_metrics_request,
    read_scaled_object,
)
from heterodyne.telemetry import log

SERVICE = "externalscaler.ExternalScaler"
METRIC = "heterodyne_replicas_wanted"
POOL = "pool"  # the trigger's metadata that names one
CALLS_MAX = 256  # at once; a stream of each ScaledObject is one
LOOK_S = 1.0  # between looks at whether a stream has something to tell
GRACE_S = 1.0

_log = log.get("fleet")

Wanted = Callable[[PoolName], int]  # raises UnknownName; LookupError: not known yet


async def serve_keda(host: str, port: int, wanted: Wanted, *, bound: Callable[[int], None] = lambda _: None) -> None:
    """Until cancelled; raises OSError where the address is taken."""
    server = grpc.aio.server(maximum_concurrent_rpcs=CALLS_MAX)
    server.add_generic_rpc_handlers((_handlers(KedaAnswers(wanted)),))
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        chosen = server.add_insecure_port(address)
    except RuntimeError as error:
        raise OSError(f"fleet.keda_port: {address} cannot be listened on: {error}") from error
    await server.start()
    _log.info("keda_listens", address=address)
    bound(chosen)
    try:
        await server.wait_for_termination()
    finally:
        await server.stop(GRACE_S)


class KedaAnswers:
    """One per server."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted

    async def is_active(self, data: bytes, context: grpc.aio.ServicerContext) -> bytes:
        """Whether there should be any replica at all."""
        return is_active_response(await self._count(read_scaled_object, data, context) > 0)

    async def stream_is_active(self, data: bytes, context: grpc.aio.ServicerContext) -> AsyncIterator[bytes]:
        """The same now, and whenever it changes, so that a pool wakes without waiting for KEDA's next question."""
        told: bool | None = None
        while True:
            is_active = await self._count(read_scaled_object, data, context) > 0
            if is_active != told:
                told = is_active
                yield is_active_response(is_active)
            await asyncio.sleep(LOOK_S)

    async def metric_spec(self, data: bytes, context: grpc.aio.ServicerContext) -> bytes:
        """The metric that there is, and how much of it one replica is for."""
        await self._count(read_scaled_object, data, context)
        return metric_response(METRIC, 1.0)

    async def metrics(self, data: bytes, context: grpc.aio.ServicerContext) -> bytes:
        """Its value."""
        return metric_response(METRIC, float(await self._count(read_metrics_request, data, context)))

    async def _count(
        self, read: Callable[[bytes], ScaledObject], data: bytes, context: grpc.aio.ServicerContext
    ) -> int:
        """Of the pool that is named; a call about none ends with the reason."""
        try:
            asked = read(data)
            return self._wanted(PoolName(asked.metadata.get(POOL, "")))
        except MessageInvalid as error:
            code, words = grpc.StatusCode.INVALID_ARGUMENT, str(error)
        except UnknownName as error:
            code = grpc.StatusCode.NOT_FOUND
            words = f"ScaledObject {asked.namespace}/{asked.name}: trigger metadata `{POOL}`: {error}"
        except LookupError as error:
            code, words = grpc.StatusCode.UNAVAILABLE, str(error)
        await context.abort(code, words)
        raise AssertionError("a call goes on after its end")


def _handlers(answers: KedaAnswers) -> grpc.GenericRpcHandler:
    one = grpc.unary_unary_rpc_method_handler
    return grpc.method_handlers_generic_handler(
        SERVICE,
        {
            "IsActive": one(answers.is_active),
            "StreamIsActive": grpc.unary_stream_rpc_method_handler(answers.stream_is_active),
            "GetMetricSpec": one(answers.metric_spec),
            "GetMetrics": one(answers.metrics),
        },
    )
