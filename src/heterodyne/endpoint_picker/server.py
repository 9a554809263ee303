"""The gRPC port: Envoy's external processor service and gRPC's own health service."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import DeadlineExceeded, HeterodyneError, InternalError, PortInUse, RequestTooSlow
from heterodyne.endpoint_picker.call import Call
from heterodyne.endpoint_picker.credentials import server_credentials
from heterodyne.endpoint_picker.messages import ProcessingRequest, ProcessingResponse
from heterodyne.endpoint_picker.picker import EndpointPicker
from heterodyne.endpoint_picker.protocol import POOL_METADATA
from heterodyne.endpoint_picker.settings import EndpointPickerSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.telemetry import log

_log = log.get("endpoint_picker")

SERVICE: Final = "envoy.service.ext_proc.v3.ExternalProcessor"
HEALTH_SERVICE: Final = "grpc.health.v1.Health"
LIVENESS: Final = "liveness"
READINESS: Final = ("", "readiness", "inference-extension", SERVICE)
MESSAGE_MARGIN_BYTES: Final = 1 << 20  # of headers and metadata beside a body
STOP_S: Final = 1.0


class PickerServer:
    """Opens, answers, closes. One per worker."""

    def __init__(
        self,
        settings: EndpointPickerSettings,
        gateway: Callable[[], GatewaySettings],
        picker: EndpointPicker,
        *,
        clock: Callable[[], float],
        is_draining: Callable[[], bool],
        reuse_port: bool,
    ) -> None:
        self._settings = settings
        self._gateway = gateway
        self._picker = picker
        self._clock = clock
        self._is_draining = is_draining
        self._server = grpc.aio.server(
            options=(
                ("grpc.so_reuseport", int(reuse_port)),
                ("grpc.max_receive_message_length", settings.body_bytes_max + MESSAGE_MARGIN_BYTES),
                ("grpc.max_send_message_length", settings.body_bytes_max + MESSAGE_MARGIN_BYTES),
                ("grpc.max_concurrent_streams", settings.streams_max),
            ),
            maximum_concurrent_rpcs=settings.streams_max,
        )
        self._server.add_generic_rpc_handlers((self._processor(), self._health()))
        self.port = 0

    async def open(self) -> None:
        """Listen; afterwards `port` is the real one."""
        settings = self._settings
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        address = f"{host}:{settings.port}"
        try:
            if settings.tls_certificate is None:
                self.port = self._server.add_insecure_port(address)
            else:
                credentials = await asyncio.to_thread(server_credentials, settings.tls_files)
                self.port = self._server.add_secure_port(address, credentials)
        except RuntimeError as error:
            raise PortInUse(f"endpoint_picker.port: cannot listen on {address}: {error}") from error
        await self._server.start()
        _log.info("endpoint_picker_listens", address=f"{host}:{self.port}")

    async def close(self) -> None:
        """End what is left."""
        await self._server.stop(STOP_S)

    def _processor(self) -> Any:
        method = grpc.stream_stream_rpc_method_handler(
            self._process,
            request_deserializer=ProcessingRequest.FromString,
            response_serializer=ProcessingResponse.SerializeToString,
        )
        return grpc.method_handlers_generic_handler(SERVICE, {"Process": method})

    def _health(self) -> Any:
        method = grpc.unary_unary_rpc_method_handler(
            self._check,
            request_deserializer=health_pb2.HealthCheckRequest.FromString,
            response_serializer=health_pb2.HealthCheckResponse.SerializeToString,
        )
        return grpc.method_handlers_generic_handler(HEALTH_SERVICE, {"Check": method})

    async def _check(self, request: Any, context: Any) -> Any:
        if request.service == LIVENESS:
            return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)
        if request.service not in READINESS:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"no service {request.service[:100]!r}")
        status = "NOT_SERVING" if self._is_draining() else "SERVING"
        return health_pb2.HealthCheckResponse(status=status)

    async def _process(self, _: Any, context: Any) -> None:
        metadata = dict(context.invocation_metadata() or ())
        gateway = self._gateway()
        call = Call(self._picker, str(metadata.get(POOL_METADATA, "")), gateway.bodies_bytes_max)
        try:
            while not call.is_over:
                message = await self._read(call, context, gateway)
                if message is None:
                    return
                for reply in await self._taken(call, message):
                    await context.write(reply)
        finally:
            call.end()

    async def _taken(self, call: Call, message: Any) -> list[Any]:
        try:
            async with deadline(self._left_s(call)):
                return await call.take(message)
        except TimeoutError:
            return [call.late(DeadlineExceeded("The deadline passed before a replica had room."))]
        except Exception as error:  # noqa: BLE001  # the root of a request: our mistake must not leave a client waiting
            _log.error("pick_failed", exc_info=error)
            return [call.late(InternalError("An internal error; the log has the details."))]

    async def _read(self, call: Call, context: Any, gateway: GatewaySettings) -> Any:
        """The next message; None: there is none, or what is left of the call is not waited for."""
        try:
            async with deadline(gateway.body_timeout_s if call.is_receiving else self._left_s(call)):
                message = await context.read()
        except TimeoutError:
            error: HeterodyneError = DeadlineExceeded("The deadline passed before the answer was complete.")
            if call.is_receiving:
                error = RequestTooSlow("The body did not arrive in time.")
            await context.write(call.late(error))
            return None
        return None if message is grpc.aio.EOF else message

    def _left_s(self, call: Call) -> float:
        until_s = call.deadline_s
        return self._gateway().body_timeout_s if until_s is None else max(until_s - self._clock(), 0.0)
