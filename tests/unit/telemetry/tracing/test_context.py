"""Trace context as clients send it and engines are told."""

from random import Random

import pytest

from heterodyne.telemetry.tracing.context import STATE_BYTES_MAX, Trace, begin, hop

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def begun(*, is_sampled: bool = False, **headers: str) -> Trace:
    encoded = {name.encode(): value.encode() for name, value in headers.items()}
    return begin(encoded, Random(1).getrandbits, lambda _: is_sampled)


@pytest.mark.parametrize(("flags", "is_sampled"), [("00", False), ("01", True), ("02", False), ("03", True)])
def test_a_clients_trace_goes_on_and_its_wish_is_kept(flags: str, is_sampled: bool) -> None:
    trace = begun(traceparent=f"00-{TRACE}-{PARENT}-{flags}", is_sampled=not is_sampled)
    assert (trace.name, f"{trace.parent_id:016x}", trace.is_sampled) == (TRACE, PARENT, is_sampled)
    assert trace.span_id not in (0, trace.parent_id)


@pytest.mark.parametrize(
    "traceparent",
    [
        "",
        "00",
        f"00-{TRACE}-{PARENT}",
        f"00-{TRACE}-{PARENT}-1",
        f"00-{TRACE}-{PARENT}-01-more",
        f"00-{TRACE}-{PARENT}-01 ",
        f"00-{TRACE}-{PARENT}-01\n",
        f"00-{TRACE.upper()}-{PARENT}-01",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00_{TRACE}_{PARENT}_01",
        f"ff-{TRACE}-{PARENT}-01",
        f"0-{TRACE}-{PARENT}-01",
        "x" * 55,
    ],
)
def test_what_cannot_be_read_begins_a_new_trace(traceparent: str) -> None:
    trace = begun(traceparent=traceparent, tracestate="a=b", is_sampled=True)
    assert (trace.parent_id, trace.state, trace.is_sampled) == (0, "", True)
    assert trace.name != TRACE


@pytest.mark.parametrize("more", ["", "-", "-what.comes.later"])
def test_a_later_version_is_read_as_far_as_it_is_known(more: str) -> None:
    assert begun(traceparent=f"cc-{TRACE}-{PARENT}-01{more}").name == TRACE


def test_an_engine_is_told_of_the_attempt_and_not_of_the_client() -> None:
    trace = begun(traceparent=f"00-{TRACE}-{PARENT}-01", tracestate="vendor=1,other=2")
    one = hop(trace, Random(2).getrandbits)
    assert one.lines.decode() == f"traceparent: 00-{TRACE}-{one.span_id:016x}-01\r\ntracestate: vendor=1,other=2\r\n"
    assert one.span_id not in (trace.span_id, trace.parent_id)


def test_an_engine_is_told_when_the_trace_is_not_sampled() -> None:
    trace = begun()
    assert hop(trace, Random(2).getrandbits).lines.endswith(b"-00\r\n")
    assert len(trace.name) == 32


@pytest.mark.parametrize("state", ["a=b\r\nx: y", "a=\x7f", "a=é", "x" * (STATE_BYTES_MAX + 1), " "])
def test_a_state_that_is_no_header_stops_here(state: str) -> None:
    assert begun(traceparent=f"00-{TRACE}-{PARENT}-01", tracestate=state).state == ""


def test_an_id_is_never_zero() -> None:
    trace = begin({}, lambda _: 0, lambda _: False)
    assert (trace.trace_id, trace.span_id) == (1, 1)
