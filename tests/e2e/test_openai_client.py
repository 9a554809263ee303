"""What a user of OpenAI's own client sees, against the embedded models."""

import asyncio
import json
from typing import Any

import jsonschema
import openai
import pydantic
import pytest
from openai import OpenAI

CHAT = "smollm2-135m"
EMBED = "all-minilm-l6-v2"
HELLO = [{"role": "user", "content": "Say hello."}]
FIXED: dict[str, Any] = {"model": CHAT, "temperature": 0, "max_tokens": 4}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]
WEATHER = [{"role": "user", "content": "What is the weather in Paris?"}]


def chat(client: OpenAI, **fields: Any) -> Any:
    return client.chat.completions.create(**{**FIXED, "messages": HELLO, **fields})


@pytest.fixture(scope="module")
def hello(client: OpenAI) -> Any:
    """The answer that greedy decoding always gives."""
    return chat(client)


# Chat


def test_a_question_gets_an_answer_with_everything_the_client_types_promise(hello: Any) -> None:
    answer = hello
    assert answer.object == "chat.completion"
    assert answer.model == CHAT
    [choice] = answer.choices
    assert choice.message.role == "assistant"
    assert choice.message.content
    assert choice.finish_reason == "length"
    assert answer.usage.completion_tokens == 4
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + 4


def test_the_same_seed_gives_the_same_answer(client: OpenAI) -> None:
    first, second = (chat(client, temperature=0.9, seed=7).choices[0].message.content for _ in range(2))
    assert first == second


def test_content_in_parts_is_read_like_one_text(client: OpenAI, hello: Any) -> None:
    parts = [{"type": "text", "text": "Say hello."}]
    in_parts = chat(client, messages=[{"role": "user", "content": parts}])
    assert in_parts.choices[0].message.content == hello.choices[0].message.content


def test_a_system_message_is_read(client: OpenAI, hello: Any) -> None:
    answer = chat(client, messages=[{"role": "system", "content": "Be a pirate."}, *HELLO], max_tokens=1)
    assert answer.usage.prompt_tokens < hello.usage.prompt_tokens, "the template's own system message is longer"


def test_several_choices_are_numbered(client: OpenAI) -> None:
    answer = chat(client, n=2, max_tokens=3)
    assert [choice.index for choice in answer.choices] == [0, 1]
    assert all(choice.message.content for choice in answer.choices)
    assert answer.usage.completion_tokens == 6, "of both together"


def test_a_stop_sequence_ends_the_answer_before_it(client: OpenAI, hello: Any) -> None:
    stop = hello.choices[0].message.content.split()[1]
    answer = chat(client, stop=[stop]).choices[0]
    assert answer.finish_reason == "stop"
    assert stop not in answer.message.content


def test_log_probabilities_come_with_their_runners_up(client: OpenAI) -> None:
    [choice] = chat(client, max_tokens=2, logprobs=True, top_logprobs=3).choices
    assert len(choice.logprobs.content) == 2
    assert all(len(token.top_logprobs) == 3 and token.logprob <= 0 for token in choice.logprobs.content)
    assert "".join(token.token for token in choice.logprobs.content) == choice.message.content


def test_either_name_bounds_the_output(client: OpenAI) -> None:
    fields = {"model": CHAT, "messages": HELLO}
    assert client.chat.completions.create(**fields, max_completion_tokens=2).usage.completion_tokens == 2
    assert client.chat.completions.create(**fields, max_tokens=3).usage.completion_tokens == 3


def test_fields_only_the_engine_knows_reach_it(client: OpenAI, hello: Any) -> None:
    greedy = chat(client, temperature=2, extra_body={"top_k": 1}).choices[0].message.content
    assert greedy == hello.choices[0].message.content


# Streams


def test_chunks_joined_equal_the_whole_answer(client: OpenAI, hello: Any) -> None:
    chunks = list(chat(client, stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == hello.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-1].choices[0].finish_reason == "length"
    assert not [chunk for chunk in chunks if chunk.usage], "nobody asked for usage"


def test_usage_comes_last_and_once_when_asked_for(client: OpenAI) -> None:
    *chunks, last = chat(client, stream=True, stream_options={"include_usage": True})
    assert last.choices == []
    assert last.usage.completion_tokens == 4
    assert not [chunk for chunk in chunks if chunk.usage]


def test_the_usage_of_several_streamed_choices_is_their_sum(client: OpenAI) -> None:
    *chunks, last = chat(client, stream=True, n=2, max_tokens=3, stream_options={"include_usage": True})
    assert (last.usage.completion_tokens, last.choices) == (6, [])
    assert not [chunk for chunk in chunks if chunk.usage]
    texts = {0: "", 1: ""}
    for chunk in chunks:
        texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert texts[0] == texts[1] != ""


def test_streamed_log_probabilities_have_the_same_form_as_whole_ones(client: OpenAI) -> None:
    tokens = [
        token
        for chunk in chat(client, stream=True, max_tokens=2, logprobs=True, top_logprobs=1)
        for choice in chunk.choices
        for token in (choice.logprobs.content if choice.logprobs else [])
    ]
    [choice] = chat(client, max_tokens=2, logprobs=True, top_logprobs=1).choices
    assert [token.token for token in tokens] == [token.token for token in choice.logprobs.content]


def test_the_asynchronous_client_streams_many_answers_at_once(async_client: Any) -> None:
    async def ask() -> list[str]:
        async with async_client() as client, asyncio.TaskGroup() as group:
            tasks = [group.create_task(streamed(client)) for _ in range(3)]
        return [task.result() for task in tasks]

    async def streamed(client: openai.AsyncOpenAI) -> str:
        stream = await client.chat.completions.create(**{**FIXED, "messages": HELLO, "stream": True})
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    answers = asyncio.run(ask())
    assert len(answers) == 3
    assert all(answers)


def test_the_asynchronous_client_gets_whole_answers(async_client: Any) -> None:
    async def ask() -> Any:
        async with async_client() as client:
            return await client.chat.completions.create(**{**FIXED, "messages": HELLO})

    assert asyncio.run(ask()).choices[0].message.content


# Tools and structure


def test_a_required_tool_is_called_with_valid_arguments_and_its_result_is_read(client: OpenAI) -> None:
    [choice] = chat(client, messages=WEATHER, tools=TOOLS, tool_choice="required", max_tokens=48).choices
    [call] = choice.message.tool_calls
    assert choice.finish_reason == "tool_calls"
    assert call.function.name == "get_weather"
    assert "city" in json.loads(call.function.arguments)
    result = {"role": "tool", "tool_call_id": call.id, "content": "Sunny, 24 degrees."}
    answer = chat(client, messages=[*WEATHER, choice.message, result])
    assert answer.choices[0].message.content


def test_a_streamed_tool_call_is_whole_once_joined(client: OpenAI) -> None:
    name, arguments = "", ""
    for chunk in chat(client, messages=WEATHER, tools=TOOLS, tool_choice="required", max_tokens=48, stream=True):
        for call in chunk.choices[0].delta.tool_calls or ():
            name += call.function.name or ""
            arguments += call.function.arguments
    assert name == "get_weather"
    assert "city" in json.loads(arguments)


def test_an_answer_keeps_to_the_schema_it_was_given(client: OpenAI) -> None:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema, "strict": True}}
    messages = [{"role": "user", "content": 'Reply with {"ok":true}'}]
    answer = chat(client, messages=messages, response_format=wanted, max_tokens=24)
    jsonschema.validate(json.loads(answer.choices[0].message.content), schema)


def test_the_parse_helper_of_the_client_returns_its_model(client: OpenAI) -> None:
    class Verdict(pydantic.BaseModel):
        ok: bool

    messages: Any = [{"role": "user", "content": 'Reply with {"ok":true}'}]
    answer = client.chat.completions.parse(**{**FIXED, "max_tokens": 24}, messages=messages, response_format=Verdict)
    assert isinstance(answer.choices[0].message.parsed, Verdict)


# Text completions


def test_a_text_is_continued(client: OpenAI) -> None:
    answer = client.completions.create(**FIXED, prompt="Once upon a")
    assert answer.object == "text_completion"
    assert answer.choices[0].text
    assert answer.usage.completion_tokens == 4


def test_each_prompt_of_a_list_gets_its_text(client: OpenAI) -> None:
    fields: dict[str, Any] = {**FIXED, "max_tokens": 2, "prompt": ["One, two,", "The sun"]}
    answer = client.completions.create(**fields)
    assert [choice.index for choice in answer.choices] == [0, 1]
    assert answer.usage.completion_tokens == 4
    streamed = {0: "", 1: ""}
    for chunk in client.completions.create(**fields, stream=True):
        streamed[chunk.choices[0].index] += chunk.choices[0].text
    assert streamed == {choice.index: choice.text for choice in answer.choices}


def test_streamed_texts_join_and_count_like_whole_ones(client: OpenAI) -> None:
    fields: dict[str, Any] = {**FIXED, "prompt": "Once upon a", "max_tokens": 3, "logprobs": 2}
    whole = client.completions.create(**fields)
    *chunks, last = client.completions.create(**fields, stream=True, stream_options={"include_usage": True})
    assert last.choices == []
    assert last.usage.completion_tokens == 3
    assert "".join(chunk.choices[0].text for chunk in chunks) == whole.choices[0].text
    streamed = [chunk.choices[0].logprobs for chunk in chunks if chunk.choices[0].logprobs]
    in_whole = whole.choices[0].logprobs
    assert [token for part in streamed for token in part.tokens] == in_whole.tokens
    assert [offset for part in streamed for offset in part.text_offset] == in_whole.text_offset
    assert [len(top) for top in in_whole.top_logprobs] == [2, 2, 2]


# Embeddings


def similarity(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_similar_texts_are_closer_than_unrelated_ones(client: OpenAI) -> None:
    texts = ["A cat sits on the mat.", "A kitten rests on a rug.", "Interest rates rose again."]
    answer = client.embeddings.create(model=EMBED, input=texts)
    cat, kitten, rates = (one.embedding for one in answer.data)
    assert {len(one.embedding) for one in answer.data} == {384}
    assert [one.index for one in answer.data] == [0, 1, 2]
    assert similarity(cat, kitten) > similarity(cat, rates) + 0.2
    assert answer.usage.prompt_tokens == answer.usage.total_tokens > 0


def test_vectors_as_numbers_equal_vectors_as_base64(client: OpenAI) -> None:
    as_base64 = client.embeddings.create(model=EMBED, input="hello").data[0].embedding
    as_numbers = client.embeddings.create(model=EMBED, input="hello", encoding_format="float").data[0].embedding
    assert as_base64 == pytest.approx(as_numbers, abs=1e-6)


def test_only_the_vector_length_the_model_has_can_be_asked_for(client: OpenAI) -> None:
    assert len(client.embeddings.create(model=EMBED, input="hello", dimensions=384).data[0].embedding) == 384
    with pytest.raises(openai.BadRequestError, match="384") as caught:
        client.embeddings.create(model=EMBED, input="hello", dimensions=100)
    assert caught.value.param == "dimensions"


# Models and refusals


def test_models_are_listed_and_found_by_name(client: OpenAI) -> None:
    assert {model.id for model in client.models.list()} == {CHAT, EMBED}
    assert client.models.retrieve(CHAT).id == CHAT


def test_an_unknown_model_is_not_found_and_the_known_ones_are_named(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match=CHAT) as caught:
        chat(client, model="gpt-9")
    assert caught.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError, match=CHAT):
        client.models.retrieve("gpt-9")


def test_a_prompt_over_the_context_is_refused_with_both_numbers(client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        chat(client, messages=[{"role": "user", "content": "word " * 3000}])
    assert caught.value.code == "context_length_exceeded"
    numbers = [int(word) for word in caught.value.message.replace(";", " ").split() if word.isdigit()]
    assert 2048 in numbers
    assert 3000 < max(numbers) < 3100


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
        ({"messages": [{"role": "robot", "content": "hi"}]}, "messages[0].role"),
        ({"messages": []}, "messages"),
        ({"temperature": "hot"}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named_by_its_path(client: OpenAI, fields: dict[str, Any], param: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        chat(client, **fields)
    assert caught.value.param == param


def test_an_image_for_a_model_without_eyes_is_the_callers_mistake(client: OpenAI) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    with pytest.raises(openai.BadRequestError, match="image input is not supported"):
        chat(client, messages=[{"role": "user", "content": [image]}])
