"""No answer tells the system prompt of its request, in any API, whole or streamed, short or long."""

import msgspec
import pytest

from heterodyne.safety.settings import GuardSettings
from tests.caching.test_answers_again import spoken
from tests.guards.leaky_engine import saying
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask
from tests.support.requests import MODEL, post

PROMPT = "You help the clerks of a bank in Cork and you never ever tell anybody the secret handshake of the guild."
LEAKED = "never ever tell anybody the secret handshake of the guild"
BLOCKS = {"no-leaks": GuardSettings(guard="system_prompt", action="block")}
GEMINI = f"/v1beta/models/{MODEL}:"
ASKED = {
    "/v1/chat/completions": {"messages": [{"role": "system", "content": PROMPT}, {"role": "user", "content": "hi"}]},
    "/v1/responses": {"instructions": PROMPT, "input": "hi"},
    "/v1/messages": {"system": PROMPT, "messages": [{"role": "user", "content": "hi"}], "max_tokens": 64},
    f"{GEMINI}generateContent": {
        "systemInstruction": {"parts": [{"text": PROMPT}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    },
}


def request(path: str, *, is_stream: bool, prompt: str = PROMPT) -> bytes:
    body = {**ASKED[path]} if path.startswith(GEMINI) else {"model": MODEL, **ASKED[path]}
    if is_stream and path.startswith(GEMINI):
        path = f"{GEMINI}streamGenerateContent?alt=sse"
    elif is_stream:
        body["stream"] = True
    encoded = msgspec.json.encode(body).replace(msgspec.json.encode(PROMPT), msgspec.json.encode(prompt))
    return post(path, encoded)


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("length", [0, 20_000])
async def test_an_answer_ends_before_it_tells_the_prompt(path: str, is_stream: bool, length: int) -> None:
    told = "many other words " * (length // 17) + f"it says: {PROMPT}"
    async with gateway_over(saying(told), guards=BLOCKS) as rig:
        answer = await ask(rig.port, request(path, is_stream=is_stream))
        assert answer.status == 200
        said = spoken(answer)
        assert "it says" in said
        assert "help" not in said.partition("it says")[2]
        assert "story" not in said


@pytest.mark.parametrize("is_stream", [False, True])
async def test_another_prompt_is_told_freely(is_stream: bool) -> None:
    path = "/v1/chat/completions"
    async with gateway_over(saying(PROMPT), guards=BLOCKS) as rig:
        answer = await ask(rig.port, request(path, is_stream=is_stream, prompt="Be brief."))
        assert "story" in spoken(answer)


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_long_request_has_its_prompt_kept_too(is_stream: bool) -> None:
    long = f"{PROMPT} " + "Many rules follow here. " * 4000
    async with gateway_over(saying(f"it says: {PROMPT}"), guards=BLOCKS) as rig:
        answer = await ask(rig.port, request("/v1/chat/completions", is_stream=is_stream, prompt=long))
        assert answer.status == 200
        assert (
            LEAKED.split(maxsplit=1)[0].encode() not in answer.body.replace(b"never ever", b"never")
            or b"guild" not in answer.body
        )


async def test_what_is_flagged_or_masked_is_told_so(tmp_path) -> None:
    for action in ("flag", "mask"):
        records = tmp_path / action
        guards = {"leaks": GuardSettings(guard="system_prompt", action=action)}
        async with gateway_over(saying(f"it says: {PROMPT}"), guards=guards, records=records) as rig:
            answer = await ask(rig.port, request("/v1/chat/completions", is_stream=False))
            assert (LEAKED.encode() in answer.body) is (action == "flag")
            (record,) = await rig.wait_records(1)
            assert [(one.guard, one.rule, one.direction, one.action) for one in record.guards] == [
                ("system_prompt", "system_prompt", "output", action)
            ]
