"""Hypothesis strategies: conversations in no API's words, and what a model says to them."""

import json

from hypothesis import strategies as st

from tests.support.hosted_chats import SCHEMA, objects, texts
from tests.translation.meant import Asked, Called, Part, Said, Tool, Turn, Wanted

NAMES = ("weather", "now", "search")
KINDS = ("image/png", "image/jpeg", "image/webp", "image/gif")
ADDRESS = "https://example.org/a.png?b=c&d=%20"
TOKENS_MAX = 10_000

counts = st.integers(1, TOKENS_MAX)
pictures = st.builds("data:{};base64,{}".format, st.sampled_from(KINDS), st.sampled_from(("aGVsbG8=", "aGk=", "+/+/")))
parts = st.builds(lambda text: Part(text=text), texts) | st.builds(lambda picture: Part(picture=picture), pictures)
user_turns = st.builds(lambda shown: Turn(role="user", parts=tuple(shown)), st.lists(parts, min_size=1, max_size=3))
addresses = st.just(Turn(role="user", parts=(Part(picture=ADDRESS),)))
results = texts | st.builds(json.dumps, objects)
maybe_text = st.just("") | texts


@st.composite
def _model_turns(draw: st.DrawFn, first: int) -> list[Turn]:
    """What the model thought, said and called, and the results of its calls."""
    calls = draw(_calls(first))
    text = draw(texts if not calls else maybe_text)
    said = Turn(
        role="assistant",
        parts=(Part(text=text),) if text else (),
        thoughts=draw(maybe_text),
        calls=calls,
    )
    return [said, *(Turn(role="tool", call_id=one.id, tool=one.name, parts=(_result(draw(results)),)) for one in calls)]


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    """Everything that some API has a word for."""
    turns: list[Turn] = []
    calls = 0
    for _ in range(draw(st.integers(0, 2))):
        said = draw(_model_turns(calls))
        calls += len(said) - 1
        turns += [draw(user_turns), *said]
    turns.append(draw(user_turns | addresses))
    tools = tuple(draw(_tool(name)) for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=2)))
    described = st.builds(lambda description: Wanted(schema=SCHEMA, description=description), maybe_text)
    return Asked(
        turns=tuple(turns),
        system=draw(maybe_text),
        max_tokens=draw(counts),
        tools=tools,
        choice=draw(st.sampled_from(("", "required", tools[0].name))) if tools else "",
        wanted=draw(st.none() | described),
        stops=tuple(draw(st.lists(texts, max_size=3, unique=True))),
        effort=draw(st.sampled_from(("", "low", "medium", "high"))),
    )


@st.composite
def said(draw: st.DrawFn) -> Said:
    """An answer, with all that an API may tell of it."""
    calls = draw(_calls(0))
    prompt, completion = draw(counts), draw(counts)
    finish = "tool_calls" if calls else draw(st.sampled_from(("stop", "length", "content_filter")))
    return Said(
        text=draw(maybe_text if calls else texts),
        thoughts=draw(maybe_text),
        calls=calls,
        finish=finish,
        stop_text=draw(st.none() | texts) if finish == "stop" else None,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=draw(st.integers(0, prompt)),
        reasoning_tokens=draw(st.integers(0, completion - 1)),
    )


@st.composite
def _calls(draw: st.DrawFn, first: int) -> tuple[Called, ...]:
    arguments = draw(st.lists(objects, max_size=3))
    return tuple(
        Called(id=f"call_{first + number}", name=draw(st.sampled_from(NAMES)), arguments=one)
        for number, one in enumerate(arguments)
    )


@st.composite
def _tool(draw: st.DrawFn, name: str) -> Tool:
    return Tool(name=name, description=draw(texts), schema=SCHEMA, is_strict=draw(st.sampled_from((None, True))))


def _result(text: str) -> Part:
    return Part(text=text)
