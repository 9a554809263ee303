"""Whether a stream that broke off goes on elsewhere, and from which words."""

import msgspec
import pytest

from heterodyne.admission.event_tokens import EventTokens
from heterodyne.domain.errors import EngineBroke
from heterodyne.domain.fleet import ModelRule, PoolName
from heterodyne.gateway.continuation import CONTINUATIONS_MAX, Continuation
from heterodyne.gateway.continued_stream import ContinuedStream
from heterodyne.gateway.relay import StreamRelay
from heterodyne.routing.settings import RoutingSettings
from heterodyne.telemetry import metrics
from heterodyne.wire.message import chunk
from tests.support.attempt_owners import RecordingOwner
from tests.support.memory_network import MemoryClient
from tests.support.request_paths import CALL, NOW_S, STREAM_HEAD, RequestPath, chat, replicas, token

WORDS = (token("one"), token(" two"))


class BrokenStream:
    """A stream whose replica, `a`, broke off behind `events`."""

    def __init__(
        self,
        path: RequestPath,
        *events: bytes,
        may_continue: bool = True,
        is_audited: bool = False,
        event_tokens: EventTokens | None = None,
        **facts: object,
    ) -> None:
        self.path = path
        self.race = race = path.race(chat(**facts))
        self.continuation = Continuation(
            race, event_tokens or EventTokens(), may_continue=may_continue, is_audited=is_audited
        )
        self.owner = RecordingOwner(MemoryClient(path.clock), keep=self.continuation.kept)
        race.ask(self.owner, path.choice("a"), CALL, earns=True)
        self.relay = self.break_off(*events)

    def break_off(self, *events: bytes) -> StreamRelay:
        """The replica that was asked last sends these, and fails."""
        self.path.network.turn()
        [attempt] = self.race.attempts
        self.path.engine(attempt.wire.replica.id).feed(STREAM_HEAD, *events)
        relay = attempt.relay
        assert relay is not None
        self.race.win(attempt, self.path.clock())
        self.race.fail(attempt, EngineBroke("broke"))
        return relay

    def try_go_on(self) -> bool:
        partial = self.continuation.try_read(is_chunked=True)
        return partial is not None and self.continuation.try_go_on(self.owner, partial, self.relay)

    def asked(self, name: str) -> dict[str, object]:
        """What a replica was sent last, as JSON."""
        self.path.network.turn()
        return msgspec.json.decode(self.path.engine(name).written.rpartition(b"\r\n\r\n")[2], type=dict[str, object])


def test_another_replica_is_asked_to_go_on_from_the_words_that_were_sent() -> None:
    broken = BrokenStream(RequestPath(*replicas("a", "b", pool="continued")), *WORDS)
    assert broken.try_go_on()
    assert (broken.race.winner, metrics.continuations.cell(("m", "continued"))[0]) == (None, 1)
    asked = broken.asked("b")
    assert asked["messages"] == [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "one two"}]
    assert asked["continue_final_message"] is True


def test_what_goes_on_counts_what_came_before() -> None:
    broken = BrokenStream(RequestPath(*replicas("a", "b")), *WORDS)
    continuation = broken.continuation
    assert continuation.edit(None) is None
    broken.try_go_on()
    broken.path.network.turn()
    assert (continuation.count, continuation.events_before, continuation.tokens_before) == (1, 2, 2)
    assert continuation.bytes_before == sum(map(len, WORDS))
    assert isinstance(continuation.edit(None), ContinuedStream)


def test_tokens_before_are_as_many_as_the_pools_events_usually_hold() -> None:
    event_tokens = EventTokens()
    event_tokens.learn(PoolName("p"), events=12, tokens=30)
    partial = BrokenStream(RequestPath(*replicas("a", "b")), *WORDS, event_tokens=event_tokens).continuation.try_read(
        is_chunked=True
    )
    assert partial is not None
    assert (partial.delivered_text.tokens, partial.events) == (6, 2)


@pytest.mark.parametrize(
    "delta",
    [b'{"tool_calls":[{"index":0}]}', b'{"reasoning_content":"hm"}', b'{"refusal":"no"}'],
    ids=["a call of a tool", "hidden reasoning", "a refusal"],
)
def test_nothing_follows_what_words_cannot_take_up(delta: bytes) -> None:
    event = chunk(b'data: {"choices":[{"index":0,"delta":%b}]}\n\n' % delta)
    assert not BrokenStream(RequestPath(*replicas("a", "b")), token("one"), event).try_go_on()


def test_what_cannot_be_read_back_is_not_gone_on_from() -> None:
    broken = BrokenStream(RequestPath(*replicas("a", "b")), *WORDS)
    assert broken.continuation.kept is not None
    broken.continuation.kept.append(chunk(b"data: {\n\n"))
    assert not broken.try_go_on()


def test_only_what_was_kept_is_gone_on_from() -> None:
    never = BrokenStream(RequestPath(*replicas("a", "b")), *WORDS, may_continue=False)
    assert (never.continuation.kept, never.continuation.kept_bytes, never.try_go_on()) == (None, 0, False)


def test_nothing_goes_on_after_it_was_forgotten() -> None:
    broken = BrokenStream(RequestPath(*replicas("a", "b")), *WORDS)
    broken.continuation.forget()
    assert (broken.continuation.kept, broken.try_go_on()) == (None, False)


def test_an_answer_that_is_audited_is_kept_though_it_may_not_go_on() -> None:
    broken = BrokenStream(RequestPath(*replicas("a", "b")), *WORDS, is_audited=True)
    broken.continuation.forget()
    never = BrokenStream(RequestPath(*replicas("a", "b")), *WORDS, is_audited=True, may_continue=False)
    for one in (broken, never):
        assert (one.continuation.kept, one.continuation.kept_bytes, one.try_go_on()) == (list(WORDS), 0, False)


def test_forgetting_reaches_the_stream_that_is_under_way() -> None:
    path = RequestPath(*replicas("a"))
    race = path.race()
    continuation = Continuation(race, EventTokens(), may_continue=True, is_audited=False)
    kept = continuation.kept
    race.ask(RecordingOwner(MemoryClient(path.clock), keep=kept), path.choice(), CALL)
    path.network.turn()
    path.engine().feed(STREAM_HEAD, WORDS[0])
    race.win(race.attempts[0], path.clock())
    assert (kept, continuation.kept_bytes) == ([WORDS[0]], len(WORDS[0]))
    continuation.forget()
    path.engine().feed(WORDS[1])
    assert (kept, continuation.kept_bytes) == ([WORDS[0]], 0)


def test_an_answer_goes_on_so_often_and_no_more() -> None:
    broken = BrokenStream(RequestPath(*replicas(*"abcdef")), token("0"))
    for turn in range(CONTINUATIONS_MAX):
        assert broken.try_go_on()
        broken.relay = broken.break_off(token(str(turn + 1)))
    assert not broken.try_go_on()
    assert (broken.continuation.count, len(broken.race.tries)) == (CONTINUATIONS_MAX, CONTINUATIONS_MAX + 1)


def test_no_other_model_goes_on() -> None:
    path = RequestPath(*replicas("a"), *replicas("b", model="n"), rules={"m": ModelRule(fallbacks=("n",))})
    broken = BrokenStream(path, *WORDS)
    assert path.upstream.try_decide(broken.race.request, broken.race.routing_request, broken.race.failed) is not None
    assert not broken.try_go_on()


def test_a_replica_whose_engine_cannot_take_an_answer_up_is_passed_over() -> None:
    broken = BrokenStream(RequestPath(*replicas("a", "c"), *replicas("b", engine="openai")), *WORDS)
    assert broken.try_go_on()
    assert broken.asked("c")["continue_final_message"] is True
    assert not BrokenStream(RequestPath(*replicas("a"), *replicas("b", engine="openai")), *WORDS).try_go_on()


def test_nothing_goes_on_once_the_budget_for_retries_is_spent() -> None:
    path = RequestPath(*replicas("a", "b"), routing=RoutingSettings(retry_share=0.0, retry_reserve_tokens_per_s=0))
    broken = BrokenStream(path, *WORDS)
    assert not broken.try_go_on()
    assert (broken.continuation.count, broken.continuation.partial, broken.race.attempts) == (0, None, [])


def test_nothing_goes_on_after_the_deadline() -> None:
    broken = BrokenStream(RequestPath(*replicas("a", "b")), *WORDS, deadline_s=NOW_S + 1.0)
    broken.path.clock.pass_s(1.5)
    assert not broken.try_go_on()


def test_a_large_request_goes_on_with_a_body_that_is_made_beside_the_worker() -> None:
    broken = BrokenStream(RequestPath(*replicas("a", "b")), *WORDS, is_large=True)
    with broken.path.network.running():
        assert broken.try_go_on()
    broken.path.do_jobs()
    assert broken.asked("b")["continue_final_message"] is True
