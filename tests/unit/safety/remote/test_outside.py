"""What an outside guard is asked, and what its answers mean: findings or a failure, whatever they are."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.safety.remote.asked_texts import AskedTexts, texts_of_answer, texts_of_request
from heterodyne.safety.remote.judge import read_judgement
from heterodyne.safety.remote.judged import RemoteFinding
from heterodyne.safety.remote.look_failed import LookFailed
from heterodyne.safety.remote.outside import outside_question, read_outside

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["findings", "rule", "score", "where", "x"]), inner)
    ),
    max_leaves=20,
)
ALMOST = st.fixed_dictionaries(
    {"findings": st.lists(st.fixed_dictionaries({"rule": JSON, "score": JSON, "where": JSON}))}
)


def test_the_question_has_every_text_and_its_place() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "one"}, {"role": "tool", "content": "two"}]}
    asked = outside_question("input", "acme/chat", "m", texts_of_request(msgspec.json.encode(body)))
    assert msgspec.json.decode(asked) == {
        "direction": "input",
        "project": "acme/chat",
        "model": "m",
        "texts": [{"where": "messages[0].content", "text": "one"}, {"where": "messages[1].content", "text": "two"}],
    }


def test_an_answers_own_names_are_no_texts_of_it() -> None:
    answer = {"id": "chatcmpl-1", "choices": [{"message": {"role": "assistant", "content": "hi"}}], "usage": {"a": "b"}}
    texts = msgspec.json.decode(texts_of_answer(msgspec.json.encode(answer)).json)
    assert texts == [{"where": "choices[0].message.content", "text": "hi"}]


def test_token_ids_are_noticed() -> None:
    assert texts_of_request(b'{"prompt": [1, 2]}') == AskedTexts(b"[]", True)


def test_findings_are_read() -> None:
    body = b'{"findings": [{"rule": "hate", "score": 0.5, "where": "messages[0].content"}, {"rule": "S1", "score": 1}]}'
    assert read_outside(200, body) == (
        RemoteFinding(rule="hate", score=0.5, where="messages[0].content"),
        RemoteFinding(rule="S1", score=1.0),
    )
    assert read_outside(200, b'{"findings": []}') == ()


def test_a_place_that_is_none_is_left_out() -> None:
    for where in ("<script>", "x" * 201, ""):
        body = msgspec.json.encode({"findings": [{"rule": "hate", "score": 1, "where": where}]})
        assert read_outside(200, body) == (RemoteFinding(rule="hate", score=1.0),)


@pytest.mark.parametrize(("status", "body"), [
    (500, b'{"findings": []}'), (204, b""), (200, b""), (200, b"{}"), (200, b"[]"), (200, b"\xff"),
    (200, b'{"findings": null}'), (200, b'{"findings": [{"rule": "x", "score": 1.1}]}'),
    (200, b'{"findings": [{"rule": "", "score": 1}]}'), (200, b'{"findings": [{"rule": "two words", "score": 1}]}'),
    (200, b'{"findings": [{"rule": "x\\n", "score": 1}]}'), (200, b'{"findings": [{"score": 1}]}'),
    (200, b"[" * 100_000),
])  # fmt: skip
def test_anything_else_is_a_failure(status: int, body: bytes) -> None:
    assert isinstance(read_outside(status, body), LookFailed)


def test_more_findings_than_anybody_reads_are_a_failure() -> None:
    body = msgspec.json.encode({"findings": [{"rule": "x", "score": 1}] * 257})
    assert isinstance(read_outside(200, body), LookFailed)


@given(status=st.sampled_from([200, 200, 500]), body=st.binary() | (JSON | ALMOST).map(msgspec.json.encode))
def test_whatever_is_answered_is_findings_or_a_failure(status: int, body: bytes) -> None:
    heard = read_outside(status, body)
    if isinstance(heard, LookFailed):
        return
    assert all(0 <= one.score <= 1 and 0 < len(one.rule) <= 64 and len(one.where) <= 200 for one in heard)


@given(body=st.binary() | JSON.map(msgspec.json.encode))
def test_whatever_a_judges_engine_answers_is_findings_or_a_failure(body: bytes) -> None:
    assert isinstance(read_judgement(200, body), tuple)


@given(said=st.text())
def test_whatever_a_judge_says_is_findings_or_a_failure(said: str) -> None:
    body = msgspec.json.encode({"choices": [{"message": {"content": said}}]})
    heard = read_judgement(200, body)
    assert isinstance(heard, LookFailed) or all(0 < len(one.rule) <= 64 for one in heard)
