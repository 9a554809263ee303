"""What an operator may ask, and how a question that is none is refused."""

import msgspec
import pytest

from heterodyne.domain.errors import InvalidField, UnknownName
from heterodyne.routing.explanation.question import Question


def read(body: bytes) -> Question:
    return msgspec.json.decode(body, type=Question)


def test_a_model_is_enough() -> None:
    question = read(b'{"model": "m"}')
    assert (question.urgency, question.policy, question.prompt_tokens) == ("interactive", "", None)


def test_everything_can_be_said() -> None:
    question = read(
        b'{"model":"m","policy":"cost","slo_ttft_ms":500,"slo_itl_ms":50,"class":"batch","session":"s",'
        b'"prompt":"hi","output_tokens":9}'
    )
    assert (question.urgency, question.slo_ttft_ms, question.prompt) == ("batch", 500.0, "hi")


def test_names_that_are_none_bring_the_nearest() -> None:
    with pytest.raises(UnknownName, match='did you mean "cost"'):
        read(b'{"model": "m", "policy": "csot"}')
    with pytest.raises(UnknownName, match='did you mean "batch"'):
        read(b'{"model": "m", "class": "bach"}')


def test_a_prompt_has_one_length() -> None:
    with pytest.raises(InvalidField, match="either"):
        read(b'{"model": "m", "prompt": "x", "prompt_tokens": 3}')


@pytest.mark.parametrize(
    "body",
    [
        b'{"policy": "cost"}',
        b'{"model": "m", "slo_ttft_ms": 0}',
        b'{"model": "m", "prompt_tokens": 0}',
        b'{"model": "m", "output_tokens": 100000000}',
        b'{"model": "m", "api_key_sha256": "secret"}',
        b'{"model": "m", "slo_tpot_ms": 5}',
    ],
)
def test_what_cannot_be_is_refused(body: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(body)
