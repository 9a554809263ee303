"""What a request's record says in the books: every value under its own name."""

from pathlib import Path

from heterodyne.admission.callers import LOCAL
from heterodyne.books.cost import killed_ending
from heterodyne.books.encoding import decode_open, decode_record
from heterodyne.books.flight_slots import FlightSlots
from heterodyne.books.slots_left import slots_left
from heterodyne.books.spool import UsageSpool
from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.price import Price
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.gateway.usage_recorder import UsageRecorder
from heterodyne.routing.forecast import forecast_on
from tests.support.replica_states import replica, router, routing_request
from tests.support.requests_copied import ended

ASKED = Request(id="req_1", operation=Operation.CHAT, model="chat", body=b"{}")
RECORD = RequestRecord(
    id="req_1",
    at=1.0,
    operation="chat",
    model="chat",
    status=502,
    reason="engine_broke",
    prompt_tokens=11,
    cached_tokens=12,
    completion_tokens=13,
    reasoning_tokens=14,
    is_estimated=True,
    queue_ms=15.0,
    ttft_ms=16.0,
    itl_ms=17.0,
    total_ms=18.0,
    predicted_ttft_ms=19.0,
    predicted_itl_ms=20.0,
    usd=0.000021,
    is_hosted_price=True,
    retries=22,
    is_hedged=True,
    continuations=23,
    replica_s=24.0,
    promise="kept",
)


def test_the_record_in_the_books_has_every_value_under_its_name(tmp_path: Path) -> None:
    slots = FlightSlots(tmp_path / "worker.1.slots", 4)
    spool = UsageSpool(tmp_path, "worker", "1", slots)
    keeper = UsageRecorder(slots, spool)
    here = router(replica("a"), replica("b"))
    slot = keeper.place(ASKED, routing_request(), LOCAL, here.forecast(routing_request(), "a", 0.0), at=5.0, slot=None)
    slot = keeper.place(ASKED, routing_request(), LOCAL, here.forecast(routing_request(), "b", 0.0), at=5.0, slot=slot)
    keeper.close(slot, ended(RECORD))
    booked = decode_record(spool._queue[0][1])
    assert (booked.id, booked.at, booked.replica, booked.project) == ("req_1", 5.0, "b", "local/local")
    assert booked.usd_micro == 21
    names = [name for name in RequestRecord.__struct_fields__ if hasattr(booked, name)]
    shared = [name for name in names if name not in ("at", "pool", "replica", "model", "tier", "key", "urgency")]
    assert [getattr(booked, name) for name in shared] == [getattr(RECORD, name) for name in shared]
    assert {"reason", "queue_ms", "predicted_itl_ms", "continuations", "replica_s", "promise"} <= set(shared)
    spool.close()


def test_a_request_that_is_killed_is_billed_as_was_forecast_with_what_the_cache_should_have(tmp_path: Path) -> None:
    """So much of a long prompt is cached there; once the answer has come so far, the bill is what was forecast."""
    price = Price(
        usd_per_million_prompt_tokens=100.0,
        usd_per_million_completion_tokens=200.0,
        usd_per_million_cached_tokens=10.0,
        long_prompt_tokens=900,
        long_usd_per_million_prompt_tokens=300.0,
        long_usd_per_million_completion_tokens=400.0,
    )
    file = tmp_path / "worker.1.slots"
    slots = FlightSlots(file, 4)
    keeper = UsageRecorder(slots, UsageSpool(tmp_path, "worker", "1", slots))
    here = router(replica("far", price=price))
    asked = routing_request(prompt_tokens=1000)
    forecast = forecast_on(here._states[ReplicaId("far")], asked, 800.0, 0.0)
    assert 0 < forecast.cached_tokens < 800
    slot = keeper.place(ASKED, asked, LOCAL, forecast, at=5.0, slot=None)
    slot.delivered = delivered = round(asked.output_tokens)
    (left,) = slots_left(file.read_bytes())
    flight = decode_open(left.encoded)
    killed = killed_ending(flight.terms, left.delivered)
    assert killed.is_hosted_price
    expected = price.usd(1000, delivered, 0.0, forecast.cached_tokens)
    assert expected is not None
    assert killed.usd_micro == round(expected * 1e6)
