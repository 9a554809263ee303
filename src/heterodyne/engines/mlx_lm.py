"""MLX-LM's `mlx_lm.server` on Apple silicon: OpenAI's API in a small server without metrics.

It takes a null for a value of the wrong type, and older ones (before 0.32) then close the connection without a word.
"""

import msgspec

from heterodyne.domain.engine_load import Capability
from heterodyne.domain.errors import InvalidField
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.continuation import continue_text
from heterodyne.engines.json_edit import without_nulls
from heterodyne.engines.openai import OwnEngineDialect
from heterodyne.ports.engine import DeliveredText
from heterodyne.ports.engine_request import EngineRequest


class _Logprobs(msgspec.Struct):
    logprobs: bool | int | None = None


_decode_logprobs = msgspec.json.Decoder(_Logprobs).decode


class MlxLmDialect(OwnEngineDialect):
    """Its model list is what the machine has downloaded, and a request for any of them loads it: give the pool an
    `engine_model`. It answers 404 for whatever goes wrong while it loads or tokenizes."""

    name = "mlx-lm"
    health_path = "/health"
    client_fields: frozenset[str] = client_fields.MLX_LM
    operations = frozenset({Operation.CHAT, Operation.COMPLETION})
    has_choices = False
    capabilities = frozenset({Capability.TOOLS})

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        call = super().call(request, replica)
        call.body = body = without_nulls(call.body)
        if request.operation is Operation.COMPLETION and body.find(b'"logprobs"') >= 0:
            asked = _decode_logprobs(body).logprobs
            if asked is not None and not isinstance(asked, bool):
                raise InvalidField(
                    "logprobs: the engine of this model has none for text completions.", param="logprobs"
                )
        return call

    def continuation(self, request: Request, delivered_text: DeliveredText) -> Request | None:
        """Its chat template always opens a new message; plain text goes on behind the prompt."""
        if request.output_tokens_max is None:
            return None
        return continue_text(request, delivered_text, tokens_default=None)

    def is_ready(self, status: int, body: bytes) -> bool:
        return status == 200
