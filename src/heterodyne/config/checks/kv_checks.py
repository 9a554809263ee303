"""Checks of KV events: engines that publish them, endpoints that are possible, and ZeroMQ to read them with."""

import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.served_models import field_of_every_pool
from heterodyne.config.settings import Settings
from heterodyne.domain.kv_event import KvPublisher
from heterodyne.fleet.kv_publishers import kv_publishers
from heterodyne.fleet.settings import PoolSettings

PUBLISHERS = ("vllm", "sglang")
FIELDS = ("kv_events", "kv_events_replay")
ENDPOINT = re.compile(r"tcp://(?:\{host\}|[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})")
PORT_MAX = 65_535


def kv_events_can_be_read(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """They come over ZeroMQ, which is not part of the base install."""
    for name, pool in settings.pools.items():
        if pool.kv_events and find_spec("zmq") is None:
            yield SettingProblem(
                path=dotted(POOLS, name, "kv_events"),
                message="needs ZeroMQ, which is not installed; pip install 'heterodyne[kv-events]'",
            )


def kv_events_come_from_an_engine_that_publishes_them(
    settings: Settings, _: Mapping[str, str]
) -> Iterator[SettingProblem]:
    """Of the engines here, two do; of the others the gateway keeps its own account."""
    for name, pool in settings.pools.items():
        if pool.kv_events and pool.engine not in PUBLISHERS:
            yield SettingProblem(
                path=dotted(POOLS, name, "kv_events"),
                message=f'"{pool.engine}" publishes none that could be read; leave it out, '
                f"or set engine to {' or '.join(PUBLISHERS)} where that is what runs",
                rests_on=(dotted(POOLS, name, "engine"),),
            )
        elif pool.kv_events_replay and not pool.kv_events:
            yield SettingProblem(
                path=dotted(POOLS, name, "kv_events_replay"),
                message=f"without events there are none to lose; set {dotted(POOLS, name, 'kv_events')}, too",
                rests_on=(dotted(POOLS, name, "kv_events"),),
            )


def kv_endpoints_can_be_reached(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """One for all replicas of a pool or one for each, and ports that exist up to the last rank."""
    for name, pool in settings.pools.items():
        for field in FIELDS:
            for place, complaint in _complaints(pool, getattr(pool, field)):
                yield SettingProblem(
                    path=dotted(POOLS, name, field) + place,
                    message=complaint,
                    rests_on=(dotted(POOLS, name, "kv_events_ranks"), dotted(POOLS, name, "urls")),
                )


def no_two_publishers_are_at_one_endpoint(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Replicas on one host, ranks of a replica, and its replay all have ports of their own."""
    taken: dict[str, str] = {}
    for name, pool in settings.pools.items():
        for index, publishers in enumerate(_publishers(pool)):
            for rank, publisher in enumerate(publishers):
                ends = dict(zip(FIELDS, (publisher.endpoint, publisher.replay), strict=True))
                for field, endpoint in ends.items():
                    who = f"{dotted(POOLS, name, field)} of replica {index}" + (f", rank {rank}" if rank else "")
                    if endpoint is not None and taken.setdefault(endpoint, who) != who:
                        yield SettingProblem(
                            path=dotted(POOLS, name, field),
                            message=f"{who} would be at {endpoint}, where {taken[endpoint]} is; "
                            "publish at different ports, and list one endpoint for each of urls",
                            rests_on=field_of_every_pool(settings, *FIELDS, "kv_events_ranks", "urls"),
                        )


def _publishers(pool: PoolSettings) -> list[tuple[KvPublisher, ...]]:
    """Of every replica; none where other checks find a problem."""
    if any(True for field in FIELDS for _ in _complaints(pool, getattr(pool, field))):
        return []
    try:
        return [kv_publishers(pool, index) for index in range(len(pool.urls))]
    except ValueError:
        return []  # a URL that is none


def _complaints(pool: PoolSettings, endpoints: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if len(endpoints) > 1 and len(endpoints) != len(pool.urls):
        yield "", f"{len(endpoints)} endpoints for {len(pool.urls)} urls; give one for all, or one for each"
    for index, endpoint in enumerate(endpoints):
        complaint = _complaint(endpoint, pool.kv_events_ranks)
        if complaint is not None:
            yield f"[{index}]", complaint


def _complaint(endpoint: str, ranks: int) -> str | None:
    found = ENDPOINT.fullmatch(endpoint)
    if found is None:
        return "expected tcp://{host}:PORT, or tcp://HOST:PORT; a publisher at * is reached by the name of its host"
    last = int(found[1]) + ranks - 1
    if not 1 <= int(found[1]) <= last <= PORT_MAX:
        return f"a port is 1 to {PORT_MAX}" + (f", and rank {ranks - 1} would be at {last}" if ranks > 1 else "")
    return None
