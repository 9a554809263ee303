"""Prompts are compared only where everything around them is equal."""

from typing import Any

from heterodyne.caching.semantic.fence import FencedPrompt, try_fence

SALT = bytes(32)


def fenced(*messages: dict[str, Any], salt: bytes = SALT, version: str = "m@1", **members: Any) -> FencedPrompt | None:
    body = {"model": "m", "messages": list(messages), **members}
    return try_fence(body, tenant_salt=salt, model_version=version, path="/v1/chat/completions")


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_the_last_question_is_outside_of_the_fence():
    one, other = fenced(user("how are you")), fenced(user("how do you do"))
    assert one is not None
    assert other is not None
    assert one.fence == other.fence
    assert (one.text, other.text) == ("how are you", "how do you do")


def test_everything_else_is_inside():
    question = user("and in winter?")
    fences = [
        fenced(question),
        fenced(user("is Rome warm?"), question),
        fenced(user("is Oslo warm?"), question),
        fenced({"role": "system", "content": "be brief"}, question),
        fenced(question, temperature=0),
        fenced(question, salt=b"x" * 32),
        fenced(question, version="m@2"),
        fenced({**question, "name": "ann"}),
    ]
    assert all(each is not None for each in fences)
    assert len({each.fence for each in fences if each is not None}) == len(fences)


def test_how_the_answer_is_delivered_is_not():
    assert fenced(user("hi"), stream=True, user="ann") == fenced(user("hi"))


def test_text_in_parts_is_text():
    found = fenced(user([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]))
    assert found is not None
    assert found.text == "a\nb"


def test_what_does_not_end_with_a_users_text_has_no_fence():
    assert fenced(user([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}])) is None
    assert fenced(user("a"), {"role": "assistant", "content": "b"}) is None
    assert fenced({"role": "tool", "content": "b"}) is None
    assert fenced(user("  ")) is None
    assert fenced() is None
