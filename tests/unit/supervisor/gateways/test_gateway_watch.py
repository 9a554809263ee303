"""What gateways hear of each other, from one report to the next."""

import msgspec
import pytest

from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.kv_seen import KvSeen, KvStoreSeen
from heterodyne.gateway.demand_tally import DemandSeen
from heterodyne.ports.fleet_reports import ReportCall
from heterodyne.supervisor.gateways import gateway_report
from heterodyne.supervisor.gateways.gateway_report import GatewayReport, ModelDemand
from heterodyne.supervisor.gateways.gateway_watch import KV_INTERVAL_S, MISSED_S, STALE_S, GatewayWatch
from tests.support.report_stores import MemoryReports

REPORT = GatewayReport(
    gateway="gateway-1:8080",
    term=3,
    workers={"w 1": {"m": ModelDemand(seen=DemandSeen(ended=7), in_flight=2)}},
    in_flight={ReplicaId("chat-0"): 2},
)

BAD_KV = msgspec.msgpack.encode(
    GatewayReport(
        gateway="x",
        kv=KvSeen(stores={"s": KvStoreSeen(byte_count=-1.0, pinned_bytes=0.0, blocks=0, files=0, file_bytes=0)}),
    )
)


class World:
    """Two gateways, a store and a clock."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.store = MemoryReports(lambda: self.now_s)
        self.one, self.other = (
            GatewayWatch(self.store, sender=name, clock=lambda: self.now_s) for name in ("one", "other")
        )
        self.other.compose = lambda: REPORT


async def test_a_report_is_heard_until_it_is_stale_and_its_gateway_missed_for_a_minute() -> None:
    world = World()
    await world.other.turn()
    await world.one.turn()
    assert world.one.heard() == {"other": REPORT}
    world.now_s += STALE_S + 0.1
    await world.one.turn()
    assert not world.one.heard()
    assert world.one.missed() == ("gateway-1:8080",)
    world.now_s += MISSED_S
    await world.one.turn()
    assert not world.one.missed()


async def test_a_report_that_has_not_changed_is_fresh_without_being_sent_again() -> None:
    world = World()
    for _ in range(5):
        await world.other.turn()
        await world.one.turn()
        world.now_s += STALE_S / 2
    assert world.one.heard() == {"other": REPORT}


async def test_what_a_gateway_knows_of_kv_is_heard_by_others_and_made_anew_now_and_then() -> None:
    world = World()
    assert world.one.kv_elsewhere() == ()
    seen = KvSeen(stores={"shared": KvStoreSeen(byte_count=5.0, pinned_bytes=0.0, blocks=1, files=0, file_bytes=0)})
    made: list[KvSeen] = []

    def make() -> KvSeen:
        made.append(seen)
        return seen

    world.other.kv = make
    for _ in range(4):
        await world.other.turn()
        await world.one.turn()
    assert (world.one.kv_elsewhere(), len(made)) == ((seen,), 1)
    world.now_s += KV_INTERVAL_S
    await world.other.turn()
    assert len(made) == 2


def test_a_report_that_is_too_large_leaves_out_what_is_only_looked_at() -> None:
    store = KvStoreSeen(byte_count=5.0, pinned_bytes=0.0, blocks=1, files=0, file_bytes=0)
    seen = KvSeen(stores={f"{number:04}" + "s" * 300: store for number in range(1000)})
    report = GatewayReport(gateway="one", in_flight={ReplicaId("chat-0"): 2}, kv=seen)
    heard = gateway_report.decode(gateway_report.encode(report))
    assert (heard.in_flight, heard.kv) == (report.in_flight, None)


async def test_a_store_that_is_away_is_told_and_costs_what_was_heard() -> None:
    world = World()
    assert world.one.apart_s() > STALE_S, "it has never answered"
    await world.other.turn()
    await world.one.turn()
    assert world.one.apart_s() == 0.0
    world.store.is_away = True
    world.now_s += STALE_S + 0.5
    await world.one.turn()
    assert world.one.apart_s() == pytest.approx(STALE_S + 0.5)
    assert not world.one.heard()


async def test_what_no_gateway_would_send_is_not_heard() -> None:
    world = World()
    for body in (
        b"\xc1",
        msgspec.msgpack.encode({"gateway": "x", "in_flight": {"chat-0": -1}}),
        BAD_KV,
        b"x" * (300 << 10),
    ):
        call = ReportCall(sender="x", gateway="x", version=1, body=body, known={})
        await world.store.exchange(call)
        await world.one.turn()
        assert not world.one.heard()
        await world.store.leave("x")


def test_a_report_is_bounded_by_its_least_busy_replicas() -> None:
    busy = {ReplicaId(f"r-{number}"): number for number in range(gateway_report.REPLICAS_MAX + 5)}
    told = gateway_report.decode(gateway_report.encode(GatewayReport(gateway="x", in_flight=busy)))
    assert len(told.in_flight) == gateway_report.REPLICAS_MAX
    assert min(told.in_flight.values()) == 5
