"""vLLM's `NixlConnector`, and Dynamo's workers, which speak the same: the decode replica pulls over NIXL.

A lease that has expired is not told by the decode replica: it answers 200, and was seen to answer another text. Who
sends it a hand-over has to look at the time.
"""

from typing import Any

import msgspec

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.json_edit import put
from heterodyne.engines.one_token import one_token_call
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.ports.kv_transfer import HandedOver

LEASE_S = 30.0  # of an engine that was started with none of its own; a longer one is not made use of
PARAMS = "kv_transfer_params"
# What a decode replica needs to find the blocks; the rest is the engines' own business.
BLOCKS = "remote_block_ids"
NEEDED = ("remote_engine_id", "remote_host", "remote_port")


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0


class _Prefilled(msgspec.Struct):
    kv_transfer_params: dict[str, Any] | None = None
    usage: _Usage | None = None


_decode_prefilled = msgspec.json.Decoder(_Prefilled).decode


class NixlTransfer:
    """When the blocks' lease ends is told by a clock that only their own engine has, so it is counted from the call."""

    lease_s = LEASE_S

    def prefill(self, call: EngineRequest) -> EngineRequest:
        return one_token_call(call, {PARAMS: b'{"do_remote_decode":true,"do_remote_prefill":false}'})

    def read(self, body: bytes) -> HandedOver | None:
        try:
            prefilled = _decode_prefilled(body)
        except (ValueError, RecursionError) as error:
            raise EngineGarbage("The prefill replica's answer has not the promised form.") from error
        params = prefilled.kv_transfer_params
        if not params or not params.get("do_remote_prefill"):
            raise EngineGarbage("The prefill replica answered without handing its KV over.")
        blocks = params.get(BLOCKS)
        missing = [name for name in NEEDED if not params.get(name)]
        if missing or not isinstance(blocks, list):
            missing = missing or [BLOCKS]
            raise EngineGarbage(f"The prefill replica's hand-over lacks {', '.join(missing)}.")
        if not any(group != [] for group in blocks):
            return None  # the prompt is shorter than a block
        tokens = params.get("remote_num_tokens") or (prefilled.usage.prompt_tokens if prefilled.usage else 0)
        members = msgspec.json.encode(params)
        return HandedOver(members, tokens=tokens if isinstance(tokens, int) else 0, lease_s=LEASE_S)

    def decode(self, call: EngineRequest, handed_over: HandedOver) -> EngineRequest:
        return EngineRequest(call.path, put(call.body, {PARAMS: handed_over.members}), call.not_carried)

    def release(self, call: EngineRequest, handed_over: HandedOver) -> EngineRequest:
        """A prefill replica lets go when a decode replica tells it so, which it does once it has read; nobody else can
        tell it, as an abort of a call that has ended is ignored."""
        return one_token_call(call, {PARAMS: handed_over.members})
