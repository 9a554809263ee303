"""llama.cpp's events become OpenAI's, one by one."""

from typing import Any

import msgspec
import pytest

from heterodyne.domain.errors import EngineGarbage
from heterodyne.domain.operation import Operation
from heterodyne.engines.llamacpp.stream import LlamaCppStream


def event(*choices: dict[str, Any], **members: Any) -> bytes:
    return msgspec.json.encode({"id": "c", "choices": list(choices), **members})


def usage(prompt: int, completion: int, cached: int = 0) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def token(text: str) -> dict[str, Any]:
    top = [{"token": text, "logprob": -0.1}, {"token": "?", "logprob": -3.0}]
    return {"token": text, "logprob": -0.1, "top_logprobs": top}


def decoded(events: tuple[bytes, ...]) -> list[Any]:
    return [msgspec.json.decode(data) for data in events]


def test_usage_of_all_choices_comes_once_and_right_before_the_end() -> None:
    edit = LlamaCppStream(Operation.CHAT, choices=2)
    assert edit(event(usage=usage(31, 2, 24))) == ()
    assert edit(event(usage=usage(31, 3, 26))) == ()
    counted, done = edit(b"[DONE]")
    assert done == b"[DONE]"
    assert msgspec.json.decode(counted) == {"id": "c", "choices": [], "usage": usage(31, 5, 25)}


def test_every_prompt_of_a_list_is_counted() -> None:
    edit = LlamaCppStream(Operation.COMPLETION, choices=1)
    for index in range(2):
        edit(event({"index": index, "text": "", "finish_reason": "length"}, usage=usage(4, 2)))
    counted, _ = edit(b"[DONE]")
    assert msgspec.json.decode(counted)["usage"] == usage(8, 4)


def test_a_stream_that_counts_nothing_ends_as_it_came() -> None:
    assert LlamaCppStream(Operation.CHAT, choices=2)(b"[DONE]") == (b"[DONE]",)


def test_the_usage_beside_a_last_piece_of_text_leaves_it() -> None:
    edit = LlamaCppStream(Operation.COMPLETION, choices=1)
    [piece] = decoded(edit(event({"index": 0, "text": "x", "finish_reason": "length"}, usage=usage(1, 1))))
    assert "usage" not in piece
    assert piece["choices"][0]["text"] == "x"


def test_text_log_probabilities_are_parallel_lists_with_offsets_into_each_choice() -> None:
    edit = LlamaCppStream(Operation.COMPLETION, choices=2)
    offsets = []
    for index, text in [(0, "ab"), (1, "xyz"), (0, "c"), (1, "w")]:
        [piece] = decoded(edit(event({"index": index, "text": text, "logprobs": {"content": [token(text)]}})))
        logprobs = piece["choices"][0]["logprobs"]
        assert logprobs["tokens"] == [text]
        assert logprobs["token_logprobs"] == [-0.1]
        assert logprobs["top_logprobs"] == [{text: -0.1, "?": -3.0}]
        offsets += logprobs["text_offset"]
    assert offsets == [0, 0, 2, 3]


def test_chat_log_probabilities_name_their_refusal() -> None:
    edit = LlamaCppStream(Operation.CHAT, choices=1)
    [piece] = decoded(edit(event({"index": 0, "delta": {"content": "x"}, "logprobs": {"content": [token("x")]}})))
    assert piece["choices"][0]["logprobs"] == {"content": [token("x")], "refusal": None}
    [bare] = decoded(edit(event({"index": 0, "delta": {}})))
    assert bare["choices"][0]["logprobs"] is None


def test_the_null_that_opens_the_stream_of_a_list_of_prompts_is_dropped() -> None:
    assert LlamaCppStream(Operation.COMPLETION, choices=1)(b"null") == ()


def test_an_error_event_passes_as_it_came() -> None:
    data = b'{"error":{"message":"no","code":500}}'
    assert LlamaCppStream(Operation.CHAT, choices=2)(data) == (data,)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"3", b'{"choices":3}', b'{"choices":[3]}'])
def test_an_event_of_another_form_is_garbage(data: bytes) -> None:
    with pytest.raises(EngineGarbage):
        LlamaCppStream(Operation.COMPLETION, choices=1)(data)
