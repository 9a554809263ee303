"""Errors of a replica."""

from heterodyne.domain.errors.base import EngineError, Turn


class EngineUnavailable(EngineError):
    """No replica of the model accepts work now."""

    code = "engine_unavailable"
    status = 503


class EnginesFull(EngineUnavailable):
    """Every replica of the model that could take the request holds as many as it may."""

    code = "engines_full"


class EngineOverloaded(EngineUnavailable):
    """A replica, or the provider that it is of, has too much to do now and says so."""

    code = "engine_overloaded"


class EngineStalled(EngineError):
    """A replica sent nothing for longer than it may."""

    code = "engine_stalled"
    status = 504


class EngineBroke(EngineError):
    """A replica closed its connection in the middle of an answer."""

    code = "engine_broke"


class EngineGarbage(EngineError):
    """A replica sent bytes that are not the protocol it promised."""

    code = "engine_garbage"


class AdapterUnavailable(EngineError):
    """A replica could not be given the LoRA adapter; the message has the engine's words. It says nothing else of it."""

    code = "adapter_unavailable"
    status = 503
    turn = Turn.OPERATOR


class EngineRefused(EngineError):
    """A replica answered with an error of its own; the status is the replica's."""

    code = "engine_refused"
    retryable = False

    def __init__(self, message: str, *, status: int, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message, param=param)
        self.status = status
        self.engine_code = code
