"""Which answers may be taken up, and what the request then says."""

import msgspec
import pytest

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.continuation import GO_ON, continue_chat, continue_text
from heterodyne.ports.engine import DeliveredText

SAID = DeliveredText("Because of", 2)
MESSAGES = [{"role": "user", "content": "why?", "x": [1.50]}]


def chat(choices: int = 1, **fields: object) -> Request:
    body = msgspec.json.encode({"model": "m", "messages": MESSAGES, **fields})
    return Request(id="1", operation=Operation.CHAT, model="m", body=body, choices=choices, prompt_chars=4)


def text(prompt: object = "why?", **fields: object) -> Request:
    body = msgspec.json.encode({"model": "m", "prompt": prompt, **fields})
    return Request(id="1", operation=Operation.COMPLETION, model="m", body=body, prompt_chars=4)


def test_a_chat_is_told_to_go_on_with_its_last_message() -> None:
    request = chat(temperature=0.10, stop=["x"])
    continued = continue_chat(request, SAID, GO_ON)
    assert continued is not None
    assert msgspec.json.decode(continued.body) == {
        "model": "m",
        "messages": [*MESSAGES, {"role": "assistant", "content": "Because of"}],
        "temperature": 0.1,
        "stop": ["x"],
        "continue_final_message": True,
        "add_generation_prompt": False,
    }
    assert (continued.prompt_chars, continued.output_tokens_max) == (14, None)
    assert (continued.id, continued.model, continued.operation) == (request.id, request.model, request.operation)


def test_a_text_goes_on_behind_what_was_said() -> None:
    continued = continue_text(text(max_tokens=10, seed=3), DeliveredText(" because", 1), tokens_default=16)
    assert continued is not None
    assert msgspec.json.decode(continued.body) == {"model": "m", "prompt": "why? because", "max_tokens": 9, "seed": 3}
    assert continued.output_tokens_max == 9


def test_what_the_engine_would_write_unasked_is_a_limit_too() -> None:
    continued = continue_text(text(), SAID, tokens_default=16)
    assert continued is not None
    assert msgspec.json.decode(continued.body)["max_tokens"] == 14
    unlimited = continue_text(text(), SAID, tokens_default=None)
    assert unlimited is not None
    assert "max_tokens" not in msgspec.json.decode(unlimited.body)
    assert continue_text(text(), DeliveredText("x", 16), tokens_default=16) is None


def test_whichever_limit_was_given_is_made_smaller() -> None:
    for fields in ({"max_completion_tokens": 9}, {"max_tokens": 9}, {"max_completion_tokens": 9, "max_tokens": 99}):
        continued = continue_chat(chat(**fields), SAID, {})
        assert continued is not None
        body = msgspec.json.decode(continued.body)
        assert {name: body[name] for name in fields} == dict.fromkeys(fields, 7)
        assert continued.output_tokens_max == 7


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [{"type": "function"}]},
        {"tool_choice": "auto"},
        {"functions": [{}]},
        {"response_format": {"type": "json_object"}},
        {"logprobs": True},
        {"logprobs": 0},
        {"top_logprobs": 2},
        {"guided_json": {"type": "object"}},
        {"structured_outputs": {"regex": "a"}},
        {"grammar": "root ::= x"},
        {"echo": True},
        {"suffix": "x"},
        {"best_of": 2},
        {"min_tokens": 3},
        {"max_tokens": 2},
        {"max_tokens": 1},
    ],
)
def test_what_refers_to_the_answer_from_its_beginning_is_not_taken_up(fields: dict[str, object]) -> None:
    assert continue_chat(chat(**fields), SAID, GO_ON) is None
    assert continue_text(text(**fields), SAID, tokens_default=None) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": None},
        {"tools": []},
        {"tool_choice": "none"},
        {"response_format": {"type": "text"}},
        {"logprobs": False},
        {"logprobs": None},
        {"top_logprobs": 0},
        {"echo": False},
        {"suffix": ""},
        {"best_of": 1},
        {"min_tokens": 0},
        {"max_tokens": None},
    ],
)
def test_what_asks_for_nothing_forbids_nothing(fields: dict[str, object]) -> None:
    assert continue_chat(chat(**fields), SAID, GO_ON) is not None
    assert continue_text(text(**fields), SAID, tokens_default=None) is not None


@pytest.mark.parametrize("prompt", [[1, 2, 3], ["a", "b"], ["a"], [[1]], None])
def test_only_one_prompt_of_text_has_an_end_to_put_words_behind(prompt: object) -> None:
    assert continue_text(text(prompt), SAID, tokens_default=None) is None


def test_one_answer_alone_can_be_taken_up() -> None:
    assert continue_chat(chat(choices=2, n=2), SAID, GO_ON) is None


def test_a_conversation_the_client_itself_has_left_open_is_not_taken_up() -> None:
    opened = [*MESSAGES, {"role": "assistant", "content": "Well,"}]
    assert continue_chat(chat(messages=opened), SAID, GO_ON) is None
    assert continue_chat(chat(add_generation_prompt=False), SAID, GO_ON) is None


@pytest.mark.parametrize("words", ["", "Because ", "Because\n", " "])
def test_nothing_or_an_open_space_is_no_place_to_go_on_from(words: str) -> None:
    assert continue_chat(chat(), DeliveredText(words, 1), GO_ON) is None
    assert continue_text(text(), DeliveredText(words, 1), tokens_default=None) is None
