"""What a race may not conclude: that a whole answer is late, or that a replica failed what it never got."""

from heterodyne.admission.callers import LOCAL
from heterodyne.admission.event_tokens import EventTokens
from heterodyne.domain.errors import EngineBroke
from heterodyne.gateway.continuation import Continuation
from heterodyne.gateway.in_flight import InFlight
from heterodyne.gateway.race import NEVER, Race
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.settings import RoutingSettings
from tests.support.attempt_owners import RecordingOwner
from tests.support.memory_network import MemoryClient
from tests.support.replica_states import routing_request
from tests.support.request_paths import CALL, STREAM_HEAD, RequestPath, chat, replicas, token

HEDGES = RoutingSettings(hedge_share=1.0)
WHOLE = routing_request(streams=False)


def test_an_answer_that_comes_whole_is_not_late_because_its_first_token_would_be() -> None:
    path = known_path()
    race, owner = asking(path, WHOLE)
    path.clock.pass_s(60.0)
    race.check(owner, path.clock(), GatewaySettings(first_byte_timeout_s=600.0))
    assert (race.hedge_at_s, race.is_hedged) == (NEVER, False)


def test_how_long_whole_answers_take_says_nothing_of_first_tokens() -> None:
    path = known_path()
    for _ in range(40):
        race, _ = asking(path, WHOLE)
        path.clock.pass_s(10.0)
        race.win(race.attempts[0], path.clock())
        race.succeed(race.attempts[0], None, events=100)
    ratio = path.health.of("a").snapshot(path.clock()).ttft_ratio
    assert ratio is None or ratio < 2.0


def test_a_retry_where_nothing_is_known_has_no_rival_by_the_clock_of_the_first() -> None:
    path = RequestPath(*replicas("a", pool="known"), *replicas("b", "c", pool="new"), routing=HEDGES)
    path.learn_ttft("a")
    race, owner = asking(path, routing_request())
    assert race.hedge_at_s < NEVER
    race.fail(race.attempts[0], EngineBroke("gone"))
    assert race.try_retry(owner, is_free=False)
    path.network.turn()
    assert race.hedge_at_s == NEVER


def test_engines_that_cannot_take_a_large_answer_up_are_not_blamed_for_what_they_never_got() -> None:
    path = RequestPath(*replicas("a"), *replicas("b", "c", engine="openai"))
    client = MemoryClient(path.clock)
    exchange = path.exchange(InFlight(path.upstream.limit, [].append), client, chat(is_large=True))
    with path.network.running():
        exchange.start(path.choice("a"))
    path.do_jobs()
    path.engine("a").feed(STREAM_HEAD, token("one"))
    with path.network.running():
        path.engine("a").lose()
    path.do_jobs()
    assert not {Outcome.BROKE} & {*path.outcomes("b"), *path.outcomes("c")}
    assert b"engine_broke" in client.written


def test_what_is_kept_counts_while_nobody_has_gone_on_yet() -> None:
    path = RequestPath(*replicas("a", "b"))
    race = path.race()
    continuation = Continuation(race, EventTokens(), may_continue=True, is_audited=False)
    owner = RecordingOwner(MemoryClient(path.clock), keep=continuation.kept)
    race.ask(owner, path.choice(), CALL, earns=True)
    path.network.turn()
    path.engine().feed(STREAM_HEAD, token("one"))
    attempt = race.attempts[0]
    relay = attempt.relay
    race.win(attempt, path.clock())
    race.fail(attempt, EngineBroke("gone"))
    partial = continuation.try_read(is_chunked=True)
    assert partial is not None
    assert continuation.try_go_on(owner, partial, relay)
    path.network.turn()
    assert continuation.kept_bytes == len(token("one"))


def known_path() -> RequestPath:
    path = RequestPath(*replicas("a", "b"), routing=HEDGES)
    path.learn_ttft("a")
    return path


def asking(path: RequestPath, asked: RoutingRequest) -> tuple[Race, RecordingOwner]:
    race, owner = Race(path.upstream, chat(stream=asked.streams), asked, LOCAL, None), RecordingOwner()
    race.ask(owner, path.choice("a", asked), CALL, earns=True)
    path.network.turn()
    return race, owner
