"""What a failed HTTP exchange with an engine means: the wire's errors as errors of an engine."""

from heterodyne.domain.errors import EngineBroke, EngineError, EngineGarbage, EngineStalled, EngineUnavailable
from heterodyne.wire.errors import ConnectFailed, ConnectionBroken, ResponseInvalid, ResponseStalled, WireError

KINDS: dict[type[WireError], type[EngineError]] = {
    ConnectFailed: EngineUnavailable,
    ConnectionBroken: EngineBroke,
    ResponseStalled: EngineStalled,
    ResponseInvalid: EngineGarbage,
}


def engine_error(error: WireError) -> EngineError:
    """The same failure with a code and a status, in words about the engine."""
    return KINDS[type(error)](error.describe("engine"))
