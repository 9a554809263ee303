"""A real Envoy before scripted engines, with our endpoint picker beside it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
from grpc_health.v1 import health_pb2

from heterodyne.testing.scripted_engine import Behaviour, ScriptedEngine
from tests.support import envoy
from tests.support.envoy import Envoy
from tests.support.gateways import Rig, gateway_over


@asynccontextmanager
async def envoy_over(
    *engines: ScriptedEngine | Behaviour,
    listeners: Sequence[Mapping[str, Any]] | None = None,
    clusters: Sequence[Mapping[str, Any]] = (),
    picker: dict[str, Any] | None = None,
    **gateway: Any,
) -> AsyncIterator[tuple[Rig, Envoy]]:
    """Both listen inside the block, and every replica has been looked at."""
    async with gateway_over(*engines, picker=picker or {}, **gateway) as rig:
        doors = listeners or [envoy.listener("duplex", [envoy.lua(envoy.HINTS), envoy.ext_proc()])]
        upstreams = [
            envoy.destination_cluster(),
            envoy.static_cluster("picker", [rig.gateway.endpoint_picker_port], is_http2=True),
            *clusters,
        ]
        async with envoy.running_envoy(doors, upstreams) as running:
            yield rig, running


async def health(port: int, service: str) -> str:
    """What the picker's health service says of one of its names."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        answer = await check(health_pb2.HealthCheckRequest(service=service), timeout=10.0)
        return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))
