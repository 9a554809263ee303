"""What a key may not ask for, it does not get: where the request says so, and where it says nothing."""

from heterodyne.domain.tenant import Scopes
from heterodyne.domain.urgency import Tier
from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask
from tests.support.requests import chat
from tests.support.tenants import bearer, caller, tenants

KEY = bearer("key")


async def test_an_answer_without_a_length_is_bounded_by_the_shortest_that_the_scopes_allow() -> None:
    scopes = (Scopes(output_tokens_max=50), Scopes(output_tokens_max=20))
    async with gateway_over(behaviours.answer(), tenants=tenants(key=caller(scopes=scopes))) as rig:
        assert (await ask(rig.port, chat(KEY))).status == 200
        assert rig.engine.calls[-1].json["max_tokens"] == 20
        assert rig.engine.calls[-1].json["messages"]
        assert (await ask(rig.port, chat(KEY, max_tokens=20))).status == 200
        refused = await ask(rig.port, chat(KEY, max_tokens=21))
        assert (refused.status, refused.error["code"], refused.error["param"]) == (403, "not_allowed", "max_tokens")
        assert len(rig.engine.calls) == 2


async def test_a_key_of_one_region_is_answered_there_or_not_at_all() -> None:
    callers = tenants(
        key=caller(scopes=(Scopes(regions=("eu",)),)), other=caller("acme/us", scopes=(Scopes(regions=("us",)),))
    )
    async with gateway_over(behaviours.answer(), tenants=callers, pool={"region": "eu"}) as rig:
        assert (await ask(rig.port, chat(KEY))).status == 200
        refused = await ask(rig.port, chat(bearer("other")))
        assert (refused.status, refused.error["code"]) == (503, "engine_unavailable")
        assert "in the regions of this key (us)" in refused.error["message"]
        assert len(rig.engine.calls) == 1


async def test_a_tier_may_be_given_shorter_contexts_than_others() -> None:
    callers = tenants(key=caller(tier=Tier.BRONZE), other=caller("acme/gold", tier=Tier.GOLD))
    admission = {"context_tokens_by_tier": {"bronze": 50}}
    async with gateway_over(behaviours.answer(), tenants=callers, admission=admission) as rig:
        assert (await ask(rig.port, chat(KEY, max_tokens=10))).status == 200
        refused = await ask(rig.port, chat(KEY, max_tokens=100))
        assert (refused.status, refused.error["code"]) == (403, "not_allowed")
        assert "at most 50 tokens of context" in refused.error["message"]
        assert (await ask(rig.port, chat(bearer("other"), max_tokens=100))).status == 200
