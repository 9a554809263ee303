"""Prefill first, then decode: what vLLM's NIXL connector and TensorRT-LLM's context server are asked, as bytes."""

from typing import get_args

import msgspec
import pytest

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.kv_transfer.catalogue import FILES, IMPLICIT, PAIRED, SEQUENTIAL
from heterodyne.engines.kv_transfer.nixl import NixlTransfer
from heterodyne.engines.kv_transfer.tensorrt_llm import TensorRtLlmTransfer
from heterodyne.fleet.kv_settings import KvTransferName
from heterodyne.ports.engine_request import EngineRequest

PARAMS = (
    b'{"do_remote_prefill":true,"do_remote_decode":false,"remote_block_ids":[[1,2]],"remote_engine_id":"e",'
    b'"remote_request_id":"r","remote_host":"h","remote_port":5600,"tp_size":1,"remote_num_tokens":300}'
)
CALL = EngineRequest(
    "/v1/chat/completions",
    b'{"model":"m","messages":[{"role":"user","content":"a"}],"stream":true,"stream_options":{"include_usage":true},'
    b'"max_completion_tokens":50,"min_tokens":9,"logprobs":true,"top_logprobs":2}',
    ("x",),
)


def test_every_word_of_the_settings_has_one_shape() -> None:
    assert sorted([*SEQUENTIAL, *PAIRED, *FILES, *IMPLICIT]) == sorted(get_args(KvTransferName))


def test_nixl_has_the_prompt_computed_for_one_token_without_a_stream() -> None:
    call = NixlTransfer().prefill(CALL)
    assert call.path == CALL.path
    assert call.body == (
        b'{"model":"m","messages":[{"role":"user","content":"a"}],"stream":false,"max_tokens":1,'
        b'"kv_transfer_params":{"do_remote_decode":true,"do_remote_prefill":false}}'
    )


def test_nixl_gives_the_answers_params_to_decode_unchanged_and_keeps_the_rest_of_the_call() -> None:
    handed = NixlTransfer().read(b'{"choices":[],"kv_transfer_params":' + PARAMS + b"}")
    assert handed is not None
    call = NixlTransfer().decode(CALL, handed)
    body = msgspec.json.decode(call.body)
    assert body.pop("kv_transfer_params") == msgspec.json.decode(PARAMS)
    assert body == msgspec.json.decode(CALL.body)
    assert (handed.tokens, call.not_carried) == (300, ("x",))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b'{"choices":[{"text":"hello"}]}',
        b'{"kv_transfer_params":null}',
        b'{"kv_transfer_params":{"do_remote_prefill":false}}',
        b'{"kv_transfer_params":' + PARAMS.replace(b"[[1,2]]", b"7") + b"}",
        b'{"kv_transfer_params":' + PARAMS.replace(b'"h"', b"null") + b"}",
        b'{"kv_transfer_params":' + PARAMS[:-30],
    ],
)
def test_a_good_answer_that_hands_nothing_over_is_a_failure(answer: bytes) -> None:
    with pytest.raises(EngineGarbage):
        NixlTransfer().read(answer)


@pytest.mark.parametrize("blocks", [b"[]", b"[[]]"])
def test_a_prompt_shorter_than_a_block_is_nobodys_failure(blocks: bytes) -> None:
    answer = b'{"kv_transfer_params":' + PARAMS.replace(b"[[1,2]]", blocks) + b"}"
    assert NixlTransfer().read(answer) is None


def test_tensorrt_llm_is_asked_for_the_context_and_then_for_the_rest() -> None:
    transfer = TensorRtLlmTransfer()
    asked = msgspec.json.decode(transfer.prefill(CALL).body)
    assert (asked["disaggregated_params"], asked["max_tokens"]) == ({"request_type": "context_only"}, 1)
    params = {"request_type": "context_only", "first_gen_tokens": [7], "ctx_request_id": 3, "encoded_opaque_state": "x"}
    answer = msgspec.json.encode({"choices": [{"disaggregated_params": params}], "usage": {"prompt_tokens": 11}})
    handed = transfer.read(answer)
    assert handed is not None
    told = msgspec.json.decode(transfer.decode(CALL, handed).body)["disaggregated_params"]
    assert (told, handed.tokens) == ({**params, "request_type": "generation_only"}, 11)
    for nothing in (b'{"choices":[]}', b'{"choices":[{}]}', b"x"):
        with pytest.raises(EngineGarbage):
            transfer.read(nothing)


def test_sglang_tells_both_sides_the_same_place() -> None:
    body = PAIRED["sglang"].pair(EngineRequest("/v1/completions", b'{"model":"m"}'), "h", 8998, 2**63 - 1).body
    assert body == b'{"model":"m","bootstrap_host":"h","bootstrap_port":8998,"bootstrap_room":9223372036854775807}'
