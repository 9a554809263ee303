"""What a gateway's controller makes of HTTPRoutes and InferencePools, in small: an Envoy with a picker before engines.

Pods have loopback addresses of their own, so that each listens on the very ports that its InferencePool names.
"""

import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from heterodyne.assembly.gateway import running_gateway
from heterodyne.config.load import load
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from tests.support import envoy
from tests.support.envoy import Envoy
from tests.support.gateways import Rig

MODEL = "conformance-fake-model"
POLICIES = "type.googleapis.com/envoy.extensions.load_balancing_policies"
SETTINGS = """
[gateway]
port = 0
[endpoint_picker]
listens = true
port = 0
access = "proxy"
heeds_conformance_headers = true
manifests = "{folder}"
[telemetry]
records = "off"
log_level = "error"
"""
POOL = """
[pools.{name}]
model = "{model}"
inference_pool = "{key}"
"""


class InferenceGateway:
    """Its ports by the name of a Gateway, and the addresses of each pool's pods."""

    def __init__(self, rig: Rig, proxy: Envoy, pods: Mapping[str, Sequence[str]]) -> None:
        self.rig = rig
        self.ports = proxy.ports
        self.pods = pods  # by the name of an InferencePool


def documents(text: bytes) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(text) if one is not None]


@asynccontextmanager
async def inference_gateway(
    base: Sequence[Mapping[str, Any]],
    routes: Sequence[Mapping[str, Any]],
    folder: Path,
    *,
    pickers_away: Sequence[str] = (),
) -> AsyncIterator[InferenceGateway]:
    """Over the InferencePools that the routes lead to; `pickers_away` are those whose pickers do not answer."""
    named = {ref["name"] for route in routes for rule in route["spec"]["rules"] for ref in rule["backendRefs"]}
    pools = [one for one in base if one["kind"] == "InferencePool" and one["metadata"]["name"] in named]
    pods = {pool["metadata"]["name"]: [_address() for _ in range(3)] for pool in pools}
    (folder / "base.yaml").write_text(yaml.safe_dump_all(base), encoding="utf-8")
    (folder / "pods.yaml").write_text(
        yaml.safe_dump_all([_pod(pool, one) for pool in pools for one in pods[pool["metadata"]["name"]]]),
        encoding="utf-8",
    )
    file = folder / "heterodyne.toml"
    keys = {pool["metadata"]["name"]: f"{pool['metadata']['namespace']}/{pool['metadata']['name']}" for pool in pools}
    sections = (POOL.format(name=name, model=MODEL, key=key) for name, key in keys.items())
    file.write_text(SETTINGS.format(folder=folder) + "".join(sections), encoding="utf-8")
    settings = load(file, {}, {})
    async with AsyncExitStack() as stack:
        for pool in pools:
            for address in pods[pool["metadata"]["name"]]:
                for port in pool["spec"]["targetPorts"]:
                    engine = ScriptedEngine(behaviours.answer(), model=MODEL, host=address, port=port["number"])
                    await stack.enter_async_context(engine)
        gateway = await stack.enter_async_context(
            running_gateway(settings, remote_replicas(settings), rules=model_rules(settings))
        )
        rig = Rig(gateway, (), None)
        wanted = len(remote_replicas(settings))
        await rig.wait(lambda: rig.holds().replicas_takeable == wanted)
        clusters = [_cluster(pool, pods[pool["metadata"]["name"]]) for pool in pools]
        picker = envoy.static_cluster("picker", [gateway.endpoint_picker_port], is_http2=True)
        away = envoy.static_cluster("away", [9], is_http2=True)
        doors = [_listener(name, routes, keys, pickers_away) for name in _gateways(routes)]
        proxy = await stack.enter_async_context(envoy.running_envoy(doors, [*clusters, picker, away]))
        yield InferenceGateway(rig, proxy, pods)
        await rig.wait_empty()


def _address() -> str:
    return f"127.{random.randint(1, 254)}.{random.randint(1, 254)}.{random.randint(1, 254)}"


def _pod(pool: Mapping[str, Any], address: str) -> dict[str, Any]:
    labels = pool["spec"]["selector"]["matchLabels"]
    metadata = {"name": f"pod-{address}", "namespace": pool["metadata"]["namespace"], "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": {"podIP": address, "phase": "Running"}}


def _cluster(pool: Mapping[str, Any], addresses: Sequence[str]) -> dict[str, Any]:
    """Its endpoints and no others; without word from a picker they take turns."""
    turns = {"name": "round_robin", "typed_config": {"@type": f"{POLICIES}.round_robin.v3.RoundRobin"}}
    override = {
        "@type": f"{POLICIES}.override_host.v3.OverrideHost",
        "override_host_sources": [{"header": "x-gateway-destination-endpoint"}],
        "fallback_policy": {"policies": [{"typed_extension_config": turns}]},
    }
    ports = [one["number"] for one in pool["spec"]["targetPorts"]]
    endpoints = [
        {"endpoint": {"address": {"socket_address": {"address": address, "port_value": port}}}}
        for address in addresses
        for port in ports
    ]
    return {
        "name": pool["metadata"]["name"],
        "type": "STATIC",
        "connect_timeout": "2s",
        "load_assignment": {"cluster_name": pool["metadata"]["name"], "endpoints": [{"lb_endpoints": endpoints}]},
        "load_balancing_policy": {
            "policies": [{"typed_extension_config": {"name": "override_host", "typed_config": override}}]
        },
    }


def _gateways(routes: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(ref["name"] for route in routes for ref in route["spec"]["parentRefs"]))


def _listener(
    gateway: str, routes: Sequence[Mapping[str, Any]], keys: Mapping[str, str], away: Sequence[str]
) -> dict[str, Any]:
    """Every rule of the routes that are this Gateway's; host names are told apart as HTTP does."""
    rules = [
        _rule(rule, match, keys, away, route["spec"].get("hostnames", []))
        for route in routes
        if gateway in {ref["name"] for ref in route["spec"]["parentRefs"]}
        for rule in route["spec"]["rules"]
        for match in rule["matches"]
    ]
    return envoy.listener(gateway, [envoy.ext_proc()], rules)


def _rule(
    rule: Mapping[str, Any],
    match: Mapping[str, Any],
    keys: Mapping[str, str],
    away: Sequence[str],
    hosts: Sequence[str],
) -> dict[str, Any]:
    matched: dict[str, Any] = {"prefix": match["path"]["value"]}
    if hosts:
        matched["headers"] = [{"name": ":authority", "string_match": {"exact": hosts[0]}}]
    clusters = [
        {
            "name": ref["name"],
            "weight": ref.get("weight", 1),
            "typed_per_filter_config": {"envoy.filters.http.ext_proc": _asks(ref["name"], keys, away)},
        }
        for ref in rule["backendRefs"]
    ]
    return {"match": matched, "route": {"weighted_clusters": {"clusters": clusters}}}


def _asks(pool: str, keys: Mapping[str, str], away: Sequence[str]) -> dict[str, Any]:
    """The picker of the pool, told which pool it is asked for."""
    overrides: dict[str, Any] = {"grpc_initial_metadata": [{"key": "x-heterodyne-inference-pool", "value": keys[pool]}]}
    if pool in away:
        # Envoy goes on without a picker while it holds the request; what is streamed away it cannot forward.
        mode = {"request_body_mode": envoy.BUFFERED, "response_body_mode": "NONE", "response_header_mode": "SEND"}
        overrides = {
            "grpc_service": {"envoy_grpc": {"cluster_name": "away"}},
            "failure_mode_allow": True,
            "processing_mode": {**mode, "request_trailer_mode": "SKIP", "response_trailer_mode": "SKIP"},
        }
    return {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute",
        "overrides": overrides,
    }
