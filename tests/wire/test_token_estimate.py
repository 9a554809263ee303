"""What one tenant sends changes little of what another's prompts are taken for."""

from heterodyne.domain.tenant import Limits, Scopes
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask
from tests.support.requests import chat
from tests.support.tenants import bearer, caller, tenants

ODD, USUAL = bearer("odd"), bearer("usual")
LIMITS = Limits(tokens_per_minute=5000)
WORDS = [{"role": "user", "content": "some words that say nothing " * 100}]  # 2,800 characters, about 600 tokens


async def counts(call: EngineCall) -> None:
    """An engine that finds more tokens in a prompt than there are letters."""
    call.whole(200, behaviours.chat_answer(prompt_tokens=1210))


async def test_one_odd_request_does_not_have_other_tenants_refused() -> None:
    callers = tenants(odd=caller("acme/odd"), usual=caller("acme/usual", limits=LIMITS))
    async with gateway_over(counts, tenants=callers) as rig:
        odd = [{"role": "user", "content": "a"}]
        for _ in range(30):
            assert (await ask(rig.port, chat(ODD, messages=odd))).status == 200
        await ask(rig.port, b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n")  # what has ended is written down
        answer = await ask(rig.port, chat(USUAL, messages=WORDS, max_tokens=100))
        assert answer.status == 200, answer.body


async def test_a_tenant_that_was_refused_for_its_own_odd_requests_is_served_again() -> None:
    async def dense(call: EngineCall) -> None:
        call.whole(200, behaviours.chat_answer(prompt_tokens=len(call.body)))

    async with gateway_over(dense, tenants=tenants(usual=caller(scopes=(Scopes(context_tokens_max=800_000),)))) as rig:
        for _ in range(80):
            assert (await ask(rig.port, chat(USUAL, messages=WORDS, max_tokens=1))).status == 200
        await ask(rig.port, b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n")
        long = [{"role": "user", "content": "some words that say nothing " * 80_000}]  # 2.2 MB, about 500,000 tokens
        answers = [(await ask(rig.port, chat(USUAL, messages=long, max_tokens=1))).status for _ in range(20)]
        assert answers[0] == 403
        assert 200 in answers
