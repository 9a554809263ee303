"""What a request's record says in the books: every value under its own name."""

from pathlib import Path

from heterodyne.admission.callers import LOCAL
from heterodyne.books.encoding import decode_record
from heterodyne.books.flight_slots import FlightSlots
from heterodyne.books.spool import UsageSpool
from heterodyne.domain.operation import Operation
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.gateway.usage_recorder import UsageRecorder
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
