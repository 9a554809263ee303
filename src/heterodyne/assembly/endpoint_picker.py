"""Builds the endpoint picker of one worker, on what its gateway decides by; needs the extra `endpoint-picker`."""

import os
import random

from msgspec import Struct

from heterodyne.admission.controller import AdmissionController
from heterodyne.assembly.request_path import RequestPath
from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import PoolName
from heterodyne.endpoint_picker.forwarded import ForwardedReader
from heterodyne.endpoint_picker.pick_gate import PickGate
from heterodyne.endpoint_picker.picker import EndpointPicker
from heterodyne.endpoint_picker.rules import PickerRules
from heterodyne.endpoint_picker.server import PickerServer
from heterodyne.gateway.lease_client import LeaseClient
from heterodyne.gateway.request_handler import RequestHandler
from heterodyne.gateway.request_ids import RequestIds
from heterodyne.supervisor.workers.live_gateway import LiveGateway

chance = random.Random().random  # noqa: S311 - spreads refusals, keeps no secret


class OpenPicker(Struct, frozen=True, kw_only=True, eq=False):
    """What its worker runs."""

    server: PickerServer
    gate: PickGate


def build_picker(
    gateway: LiveGateway,
    path: RequestPath,
    lease_client: LeaseClient,
    handler: RequestHandler,
) -> OpenPicker:
    """The same router, health, limits and records; a queue of its own."""
    upstream, request_log, settings = path.upstream, path.request_log, gateway.settings
    wall_clock = path.identity.wall_clock
    controller = AdmissionController(
        upstream.selector, upstream.router, upstream.limit, lease_client.book, settings.admission, chance=chance
    )
    gate = PickGate(controller, lease_client, upstream, path.gate.in_flight, request_log, wall_clock=wall_clock)
    rules = LiveRules(gateway)
    reader = ForwardedReader(
        handler,
        request_log,
        rules.now,
        next_id=RequestIds(os.urandom(6).hex()).next,
        clock=upstream.clock,
        wall_clock=wall_clock,
    )
    picker = EndpointPicker(reader, gate, upstream, request_log, rules.now, wall_clock=wall_clock)
    server = PickerServer(
        settings.endpoint_picker,
        lambda: handler.settings,
        picker,
        clock=upstream.clock,
        is_draining=lambda: upstream.limit.is_draining,
        reuse_port=handler.run_dir is not None,  # others listen there, too
    )
    return OpenPicker(server=server, gate=gate)


class LiveRules:
    """What holds now, made anew when the gateway takes other settings."""

    def __init__(self, gateway: LiveGateway) -> None:
        self._gateway = gateway
        self._made_of = gateway.settings
        self._rules = rules_of(gateway.settings)

    def now(self) -> PickerRules:
        """The same object until there are other settings."""
        if self._gateway.settings is not self._made_of:
            self._made_of = self._gateway.settings
            self._rules = rules_of(self._made_of)
        return self._rules


def rules_of(settings: Settings) -> PickerRules:
    """What the settings say to an endpoint picker."""
    of_manifests = {PoolName(name): pool for name, pool in settings.pools.items() if pool.inference_pool is not None}
    return PickerRules(
        settings=settings.endpoint_picker,
        inference_pools={name: pool.inference_pool or "" for name, pool in of_manifests.items()},
        models=frozenset(pool.model for pool in of_manifests.values()),
    )
