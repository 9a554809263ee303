"""Conversations cut to fit: which turns stay."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.shortened import SHARE_MIN, next_share, shortened

SYSTEM = {"role": "system", "content": "s"}
CALL = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "x"}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def left(messages: list[dict[str, Any]], share: float) -> list[dict[str, Any]]:
    body = msgspec.json.encode({"model": "m", "messages": messages, "top_p": 0.5})
    cut = msgspec.json.decode(shortened(body, share))
    assert (cut["model"], cut["top_p"]) == ("m", 0.5)
    found: list[dict[str, Any]] = cut["messages"]
    return found


def test_the_oldest_turns_are_left_out_and_instructions_stay() -> None:
    turns = [SYSTEM, *[user(str(number)) for number in range(9)]]
    assert left(turns, 0.5) == [SYSTEM, *turns[-3:]]


def test_a_result_goes_with_its_call() -> None:
    turns = [user("a" * 200), CALL, RESULT, RESULT, user("b"), user("c")]
    assert left(turns, 0.8) == turns[1:], "the call is still there"
    assert left(turns, 0.3) == turns[4:], "results without their call would be refused"


@pytest.mark.parametrize("turns", [[user("a")], [SYSTEM, user("a" * 99)], [SYSTEM, SYSTEM]])
def test_what_cannot_be_cut_is_the_same_bytes(turns: list[dict[str, Any]]) -> None:
    body = msgspec.json.encode({"messages": turns})
    assert shortened(body, 0.01) is body


@given(st.lists(st.sampled_from([SYSTEM, CALL, RESULT, user("a"), user("b" * 50)]), min_size=1), st.floats(0, 1))
def test_what_is_left_is_an_end_of_it(turns: list[dict[str, Any]], share: float) -> None:
    kept = left(turns, share)
    first = next((place for place, turn in enumerate(turns) if turn["role"] != "system"), len(turns))
    assert kept[:first] == turns[:first]
    assert kept[-1] == turns[-1]
    rest = kept[first:]
    assert rest == turns[len(turns) - len(rest) :]


def asked(share: float | None, output_tokens_max: int | None = None) -> Request:
    return Request(
        id="r", operation=Operation.CHAT, model="m", body=b"", kept_share=share, output_tokens_max=output_tokens_max
    )


def test_how_much_is_tried_next() -> None:
    assert next_share(asked(None), 900, 100) is None
    assert next_share(asked(1.0), 1000, 500) == pytest.approx(0.45)
    assert next_share(asked(1.0, output_tokens_max=100), 1000, 500) == pytest.approx(0.36)
    assert next_share(asked(1.0), 10, None) == next_share(asked(1.0), 10, 500) == pytest.approx(0.7)
    assert next_share(asked(0.5), 1000, 500) == pytest.approx(0.35)
    assert next_share(asked(SHARE_MIN / 2), 1000, 500) is None
