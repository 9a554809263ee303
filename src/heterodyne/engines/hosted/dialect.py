"""What hosted providers with an API of their own have in common."""

import time
from collections.abc import Callable

from heterodyne.domain.engine_load import Capability, ServedModel
from heterodyne.domain.errors import EngineGarbage, EngineRefused, EngineUnavailable, HeterodyneError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.error_answer import CALLERS_STATUSES, OVERLOADED, context_exceeded, overloaded, refused
from heterodyne.engines.openai import OpenAIDialect

WallClock = Callable[[], float]


class HostedDialect(OpenAIDialect):
    """Its model list is its health page and no more: it has models by other names than they may be asked for by."""

    models_path: str | None = None
    operations = frozenset({Operation.CHAT})
    has_choices = False
    capabilities = frozenset({Capability.TOOLS, Capability.JSON_SCHEMA, Capability.VISION})

    def __init__(self, wall_clock: WallClock = time.time) -> None:
        self._wall_clock = wall_clock  # OpenAI's answers say when they were made; others do not

    def read_models(self, body: bytes) -> tuple[ServedModel, ...]:
        raise EngineGarbage("The provider's list has other names than its models may be asked for by.")

    def _told(self, request: Request, status: int, message: str, retry_after_s: int | None = None) -> HeterodyneError:
        """A refusal whose words are known: ours where it is about our account, the caller's where it is about the body.

        A rate limit keeps its status, so that clients wait as they would at the provider's own door.
        """
        if status in CALLERS_STATUSES and self._is_about_context(message):
            return context_exceeded(request, message)
        if status == 404:
            return EngineUnavailable("The provider does not know the model it was asked for; its operator has to look.")
        if status in OVERLOADED:
            return overloaded(retry_after_s)
        error = refused(status, message)
        if isinstance(error, EngineRefused):
            error.retry_after_s = retry_after_s
        return error


def counted(tokens: int) -> bytes:
    """A count as engines of our own tell it, which tell the tokens as well."""
    return b'{"count":%d}' % tokens


def no_account(what: str) -> HeterodyneError:
    """Something is wrong between the provider and us; no client can do anything about it."""
    return EngineUnavailable(f"The provider refuses the gateway's account ({what}); its operator has to look.")
