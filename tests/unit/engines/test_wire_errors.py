"""The wire's errors as errors of an engine: their codes, and the words that clients read."""

import pytest

from heterodyne.domain.errors import EngineError
from heterodyne.engines.wire_errors import KINDS, engine_error
from heterodyne.wire.errors import ConnectFailed, ConnectionBroken, ResponseInvalid, ResponseStalled, WireError


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (
            ConnectFailed("The {server} does not accept connections: ", "Connection refused"),
            "engine_unavailable",
            "The engine does not accept connections: Connection refused",
        ),
        (
            ConnectionBroken("The {server} closed its connection before the answer was complete."),
            "engine_broke",
            "The engine closed its connection before the answer was complete.",
        ),
        (
            ResponseStalled("No answer to ", "/{server} within 2 s."),
            "engine_stalled",
            "No answer to /{server} within 2 s.",
        ),
        (ResponseInvalid("The answer is too large."), "engine_garbage", "The answer is too large."),
    ],
)
def test_a_failure_of_the_wire_is_a_failure_of_the_engine(failure: WireError, code: str, words: str) -> None:
    error = engine_error(failure)
    assert (error.code, str(error)) == (code, words)


def test_every_failure_of_the_wire_has_its_meaning() -> None:
    assert set(KINDS) == set(WireError.__subclasses__())
    assert all(issubclass(kind, EngineError) for kind in KINDS.values())


def test_the_wire_itself_names_a_server() -> None:
    assert str(ConnectFailed("The {server} closed a new connection at once.")).startswith("The server closed")
