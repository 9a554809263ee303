"""TensorRT-LLM's context and generation servers, from its documentation: not run against the engine."""

from math import inf
from typing import Any

import msgspec

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.json_edit import put, without
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.ports.kv_transfer import HandedOver

PARAMS = "disaggregated_params"
CONTEXT = b'{"request_type":"context_only"}'
GENERATION = "generation_only"
LEFT_OUT = ("stream_options", "min_tokens", "max_completion_tokens")


class _Choice(msgspec.Struct):
    disaggregated_params: dict[str, Any] | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0


class _Prefilled(msgspec.Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None


_decode_prefilled = msgspec.json.Decoder(_Prefilled).decode


class TensorRtLlmTransfer:
    """The context server's answer says in its one choice what the generation server needs."""

    lease_s = inf

    def prefill(self, call: EngineRequest) -> EngineRequest:
        asked = {"stream": b"false", "max_tokens": b"1", PARAMS: CONTEXT}
        return EngineRequest(call.path, put(without(call.body, LEFT_OUT), asked))

    def read(self, body: bytes) -> HandedOver | None:
        try:
            prefilled = _decode_prefilled(body)
        except (ValueError, RecursionError) as error:
            raise EngineGarbage("The context server's answer has not the promised form.") from error
        params = prefilled.choices[0].disaggregated_params if prefilled.choices else None
        if not params or params.get("ctx_request_id") is None:
            raise EngineGarbage("The context server answered without handing its KV over.")
        tokens = prefilled.usage.prompt_tokens if prefilled.usage else 0
        members = msgspec.json.encode({**params, "request_type": GENERATION})
        return HandedOver(members, tokens=tokens, lease_s=None)

    def decode(self, call: EngineRequest, handed_over: HandedOver) -> EngineRequest:
        return EngineRequest(call.path, put(call.body, {PARAMS: handed_over.members}), call.not_carried)

    def release(self, call: EngineRequest, handed_over: HandedOver) -> None:
        """None is known: an abort after the prompt was computed does nothing, and `kv_transfer_timeout_ms` ends it."""
