"""Pure: the spans of one request, made of its facts after it has ended.

chat {model}                        the request, as its client saw it
├── decide                          from the complete request to the first ask, or to the queue
├── wait                            in the queue
├── chat {model}                    each attempt on a replica
│   └── connect
└── chat {model}                    the one that answered
    ├── connect
    ├── first token, then stream    of a stream
    └── answer                      of anything else
"""

from msgspec import structs

from heterodyne.telemetry.tracing.attributes import (
    operation_name,
    request_attributes,
    try_attributes,
    try_error,
    wait_attributes,
)
from heterodyne.telemetry.tracing.context import RandomBits, new_id
from heterodyne.telemetry.tracing.facts import RequestFacts, TryFacts
from heterodyne.telemetry.tracing.role import AttemptRole, gone_on_from, role_of
from heterodyne.telemetry.tracing.sampling import is_error
from heterodyne.telemetry.tracing.span import Event, Span, SpanKind

WAIT_MIN_S = 0.001  # a request that has limits, or a queue that is empty, is not called waiting


def spans_of(facts: RequestFacts, bits: RandomBits) -> tuple[Span, ...]:
    """The whole request first; every other span lies within its parent."""
    tries = sorted(facts.tries, key=lambda one: one.asked_at_s)
    root = _root(facts, tries)
    spans = [root, *(_within(span, root) for span in _before(facts, tries, bits))]
    for number, one in enumerate(tries):
        attempt = _within(_attempt(facts, tries, number, bits), root)
        spans += (attempt, *(_within(part, attempt) for part in _parts(facts, one, bits)))
    return tuple(spans)


def _root(facts: RequestFacts, tries: list[TryFacts]) -> Span:
    trace, record = facts.trace, facts.record
    return Span(
        name=_name(facts),
        kind=SpanKind.SERVER,
        trace_id=trace.trace_id,
        span_id=trace.span_id,
        parent_id=trace.parent_id,
        is_parent_remote=trace.parent_id != 0,
        state=trace.state,
        start_ns=_ns(facts, facts.arrived_at_s),
        end_ns=_ns(facts, facts.ended_at_s),
        attributes=request_attributes(facts),
        events=tuple(_turn(facts, tries, number) for number in range(1, len(tries))),
        error=record.reason if is_error(record.status, record.reason) else "",
    )


def _name(facts: RequestFacts) -> str:
    if not facts.operation:
        return f"{facts.method} {facts.route}".strip()
    return f"{operation_name(facts.operation)} {facts.record.asked_model or facts.record.model}".strip()


def _turn(facts: RequestFacts, tries: list[TryFacts], number: int) -> Event:
    """That another replica was asked, and why."""
    one = tries[number]
    return Event(
        name=role_of(tries, number),
        at_ns=_ns(facts, one.asked_at_s),
        attributes={
            "heterodyne.replica": one.replica.id,
            "heterodyne.from_replica": gone_on_from(tries, number).replica.id,
        },
    )


def _before(facts: RequestFacts, tries: list[TryFacts], bits: RandomBits) -> list[Span]:
    """What was done before a replica was asked."""
    has_waited = facts.waited_s >= WAIT_MIN_S
    if not has_waited and not tries:
        return []
    decided_at_s = facts.wait_began_at_s if has_waited else tries[0].asked_at_s
    spans = [_child(facts, bits, "decide", facts.trace.span_id, (facts.arrived_at_s, decided_at_s))]
    if has_waited:
        ended_at_s = facts.wait_began_at_s + facts.waited_s
        wait = _child(facts, bits, "wait", facts.trace.span_id, (facts.wait_began_at_s, ended_at_s))
        spans.append(structs.replace(wait, attributes=wait_attributes(facts)))
    return spans


def _attempt(facts: RequestFacts, tries: list[TryFacts], number: int, bits: RandomBits) -> Span:
    one, role = tries[number], role_of(tries, number)
    return structs.replace(
        _child(facts, bits, _name(facts), facts.trace.span_id, (one.asked_at_s, one.ended_at_s)),
        kind=SpanKind.CLIENT,
        span_id=one.span_id,
        attributes=try_attributes(facts, one, role),
        links=(gone_on_from(tries, number).span_id,) if role is AttemptRole.CONTINUATION else (),
        error=try_error(one),
    )


def _parts(facts: RequestFacts, one: TryFacts, bits: RandomBits) -> list[Span]:
    if not one.sent_at_s:
        return []
    spans = [_child(facts, bits, "connect", one.span_id, (one.asked_at_s, one.sent_at_s))]
    if not one.first_at_s:
        return spans
    if not facts.record.stream:
        return [*spans, _child(facts, bits, "answer", one.span_id, (one.sent_at_s, one.ended_at_s))]
    return [
        *spans,
        _child(facts, bits, "first token", one.span_id, (one.sent_at_s, one.first_at_s)),
        _child(facts, bits, "stream", one.span_id, (one.first_at_s, one.ended_at_s)),
    ]


def _child(facts: RequestFacts, bits: RandomBits, name: str, parent_id: int, between: tuple[float, float]) -> Span:
    start_s, end_s = between
    return Span(
        name=name,
        trace_id=facts.trace.trace_id,
        span_id=new_id(bits),
        parent_id=parent_id,
        state=facts.trace.state,
        start_ns=_ns(facts, start_s),
        end_ns=_ns(facts, end_s),
    )


def _within(span: Span, parent: Span) -> Span:
    """Different hands note the moments: a child may seem to end a microsecond after its parent."""
    start_ns = min(max(span.start_ns, parent.start_ns), parent.end_ns)
    end_ns = max(start_ns, min(span.end_ns, parent.end_ns))
    if start_ns == span.start_ns and end_ns == span.end_ns:
        return span
    return structs.replace(span, start_ns=start_ns, end_ns=end_ns)


def _ns(facts: RequestFacts, at_s: float) -> int:
    return facts.epoch_ns + round(at_s * 1e9)
