"""What an attempt waits for before it is sent: an adapter on its replica, a large body in the words of its engine."""

from heterodyne.domain.errors import AdapterUnavailable, InvalidField
from heterodyne.gateway.attempt import NOT_YET, Attempt
from heterodyne.routing.health.outcome import Outcome
from tests.support.attempt_owners import RecordingOwner
from tests.support.request_paths import BODY, CALL, NOW_S, RequestPath, chat, replicas


def test_a_request_for_an_adapter_waits_until_the_replica_has_it() -> None:
    path = RequestPath(*replicas("a", adapters={"lora": "s3://lora"}))
    attempt = path.attempt(RecordingOwner(), chat(model="lora"))
    attempt.start()
    path.network.turn()
    assert (attempt.asked_at_s, path.network.connections) == (NOT_YET, {})
    path.clock.pass_s(2.0)
    path.adapters.waiting[0](None)
    path.network.turn()
    assert (attempt.asked_at_s, path.engine().written.endswith(CALL.body)) == (NOW_S + 2.0, True)
    for _ in range(2):
        attempt.end(Outcome.CANCELLED)
        assert path.adapters.uses == 0


def test_an_adapter_that_cannot_be_loaded_fails_it_unless_it_is_over() -> None:
    path, owner = RequestPath(*replicas("a", adapters={"lora": "s3://lora"})), RecordingOwner()
    failing, ended = (path.attempt(owner, chat(model="lora")) for _ in range(2))
    failing.start()
    ended.start()
    ended.end(Outcome.CANCELLED)
    for ready in path.adapters.waiting:
        ready(AdapterUnavailable("no"))
    assert owner.heard == [("failed", failing)]


def large(path: RequestPath, owner: RecordingOwner, **facts: object) -> Attempt:
    """One whose body is made beside the worker."""
    request = chat(is_large=True, **facts)
    attempt = path.attempt(owner, request, path.upstream.call(request, path.choice().target, b"salt"))
    with path.network.running():
        attempt.start()
    return attempt


def test_a_large_body_is_made_beside_the_worker_and_then_sent() -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    attempt = large(path, owner)
    path.clock.pass_s(0.5)
    path.do_jobs()
    assert path.engine().written.endswith(b'{"stream_options":{"include_usage":true},' + BODY[1:])
    assert (attempt.asked_at_s, owner.events) == (NOW_S + 0.5, []), "the replica is not blamed for what took us long"


def test_a_large_body_that_its_engine_has_no_words_for_is_not_sent() -> None:
    path, owner = RequestPath(*replicas("a", engine="tgi")), RecordingOwner()
    large(path, owner, choices=2)
    path.do_jobs()
    assert (owner.events, path.network.connections) == (["unsent"], {})
    assert isinstance(owner.error, InvalidField)


def test_a_large_body_is_not_made_for_an_attempt_that_is_over() -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    large(path, owner).end(Outcome.CANCELLED)
    assert path.upstream.offload.jobs == 0
    path.do_jobs()
    assert (owner.events, path.network.connections) == ([], {})
