"""Prompts that mean the same share an answer, within a bound on wrong ones that is seen to be kept."""

import asyncio
from collections import Counter
from zlib import crc32

import pytest
from msgspec import structs

from heterodyne.caching.policy import CachePolicy
from heterodyne.caching.settings import CacheSettings
from heterodyne.testing.behaviours import chat_answer
from heterodyne.testing.scripted_engine import EngineCall
from tests.caching.test_answers_again import metered, outcome
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, ask, connected
from tests.support.requests import chat
from tests.support.tenants import bearer, caller, tenants

EMBED, JUDGE = "embed", "judge"
SHARE = 0.2
SERVES = CacheSettings(semantic="serve", embedding_model=EMBED, error_share_max=SHARE)
JUDGED = CacheSettings(semantic="serve", embedding_model=EMBED, judge_model=JUDGE, error_share_max=SHARE)
TOPICS = ("boil an egg", "tie a tie", "plant a tree", "bake some bread", "paint a wall", "learn to swim")
DISHES = [f"{verb} the {thing}" for verb in ("cook", "cut", "keep", "store", "serve") for thing in ("leek", "pear")]
WAYS = ("How do I {}?", "How can I {}?", "how do i {} please?")


async def embed(call: EngineCall) -> None:
    """Words as a vector: prompts with the same words are near."""
    vector = [0.0] * 64
    for word in str(call.json["input"]).lower().replace("?", "").split():
        vector[crc32(word.encode()) % 64] += 0.1 if len(word) < 4 else 1.0
    data = [{"object": "embedding", "index": 0, "embedding": vector}]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    call.whole(200, {"object": "list", "model": EMBED, "data": data, "usage": usage})


async def recipe(call: EngineCall) -> None:
    """What it says depends on the topic alone."""
    question = str(call.json["messages"])
    topic = next((one for one in (*TOPICS, *DISHES) if one in question), "nothing")
    call.whole(200, chat_answer(f"First you {topic}."))


def question(text: str, *headers: str, **fields: object) -> bytes:
    return chat(*headers, temperature=0, **({"messages": [{"role": "user", "content": text}]} | fields))


async def teach(rig: Rig, *headers: str) -> Counter[str]:
    """Ask everything in every way, one after another; what came of it, and how many were told something else."""
    told: Counter[str] = Counter()
    for ending in ("", "!", "!!"):
        for way in WAYS:
            for topic in (*TOPICS, *DISHES):
                answer = await ask(rig.port, question(way.format(topic) + ending, *headers))
                told[outcome(answer)] += 1
                told["wrong"] += topic not in answer.json["choices"][0]["message"]["content"]
    return told


async def test_prompts_that_mean_the_same_come_to_share_answers() -> None:
    async with gateway_over(recipe, beside={EMBED: embed}, caches={"near": SERVES}) as rig:
        told = await teach(rig)
        assert told["similar"] > 20
        assert told["wrong"] <= SHARE * (told["similar"] + told["miss"])
        assert len(rig.engine.calls) == told["miss"]
        served = await served_answer(rig)
        assert float(served.headers["x-heterodyne-cache-similarity"]) > 0.5
        assert served.json["id"] == f"chatcmpl-{served.headers['x-request-id']}"


async def served_answer(rig: Rig, tries: int = 200) -> Answer:
    for number in range(tries):
        answer = await ask(rig.port, question(f"how do I {TOPICS[0]}{'!' * number}"))
        if outcome(answer) == "similar":
            return answer
    raise AssertionError("nothing is served")


async def test_in_shadow_everything_is_asked_and_what_would_be_wrong_is_counted(tmp_path) -> None:
    shadow = CacheSettings(semantic="shadow", embedding_model=EMBED, error_share_max=SHARE)
    async with gateway_over(recipe, beside={EMBED: embed}, caches={"near": shadow}) as rig:
        before = await metered(rig, "semantic_cache_compared_total", "shadow")
        told = await teach(rig)
        assert (told["similar"], told["wrong"]) == (0, 0)
        assert await metered(rig, "semantic_cache_compared_total", "shadow") > before


async def test_a_policy_that_leaves_the_shadow_serves_what_it_has_learned_there() -> None:
    shadow = structs.replace(SERVES, semantic="shadow")
    async with gateway_over(recipe, beside={EMBED: embed}, caches={"near": shadow}) as rig:
        await teach(rig)
        cache = rig.gateway._answer_cache
        cache.configure(CachePolicy({"near": SERVES}), 1 << 20)
        await served_answer(rig, tries=20)
        cache.configure(CachePolicy({"near": shadow}), 1 << 20)
        with pytest.raises(AssertionError, match="nothing is served"):
            await served_answer(rig, tries=20)


async def test_a_number_a_date_or_a_negation_that_differs_is_asked() -> None:
    async with gateway_over(recipe, beside={EMBED: embed}, caches={"near": SERVES}) as rig:
        await teach(rig)
        for text in (
            "How do I boil an egg in 3 minutes?",
            "How do I not boil an egg?",
            "How do I boil an egg on Monday?",
        ):
            assert outcome(await ask(rig.port, question(text))) == "miss"


async def test_tenants_and_conversations_have_answers_of_their_own() -> None:
    two = tenants(one=caller("acme/one"), two=caller("acme/two"))
    rig_of = gateway_over(recipe, beside={EMBED: embed}, caches={"near": SERVES}, tenants=two, waits_ready=False)
    async with rig_of as rig:
        await rig.wait(lambda: rig.holds().replicas_takeable == 2)
        await teach(rig, bearer("one"))
        earlier = [{"role": "system", "content": "You are a pirate."}]
        for _ in range(10):
            text = {"role": "user", "content": f"How do I {TOPICS[0]}?"}
            other = await ask(rig.port, question("", bearer("two"), messages=[text]))
            assert outcome(other) in ("miss", "hit")
            again = await ask(rig.port, question("", bearer("one"), messages=[*earlier, text]))
            assert outcome(again) in ("miss", "hit")


@pytest.mark.parametrize("header", ["x-heterodyne-cache-match: exact", "cache-control: no-cache"])
async def test_a_request_may_insist_on_its_own_answer(header: str) -> None:
    async with gateway_over(recipe, beside={EMBED: embed}, caches={"near": SERVES}) as rig:
        await teach(rig)
        for number in range(20):
            answer = await ask(rig.port, question(f"how do I {TOPICS[0]}{'!' * number}", header))
            assert outcome(answer) == "miss"
        wrong = await ask(rig.port, question("hi", "x-heterodyne-cache-match: near"))
        assert wrong.error["param"] == "x-heterodyne-cache-match"


async def refusing(call: EngineCall) -> None:
    call.whole(500, {"error": {"message": "no"}})


async def garbage(call: EngineCall) -> None:
    call.whole(200, {"data": [{"embedding": ["x"]}]})


async def silent(call: EngineCall) -> None:
    await asyncio.sleep(30)


@pytest.mark.parametrize("behaviour", [refusing, garbage, silent])
async def test_without_an_embedding_a_replica_is_asked(behaviour) -> None:
    async with gateway_over(recipe, beside={EMBED: behaviour}, caches={"near": SERVES}) as rig:
        first, again = [await ask(rig.port, question(f"How do I {TOPICS[0]}?")) for _ in range(2)]
        assert (outcome(first), outcome(again)) == ("miss", "hit")


async def test_a_client_may_leave_while_its_prompt_is_embedded(tmp_path) -> None:
    records = tmp_path / "records"
    async with gateway_over(recipe, beside={EMBED: silent}, caches={"near": SERVES}, records=records) as rig:
        async with connected(rig.port) as client:
            await client.send(question("How do I boil an egg?"))
            await rig.wait(lambda: bool(rig.holds().exchanges))
        reasons = {record.reason for record in await rig.wait_records(2)}
        assert reasons == {"client_gone"}
        assert not rig.engine.calls


class Judged:
    """Answers in other words each time; the judge's word is set by the test."""

    def __init__(self) -> None:
        self.word = "yes"
        self.asked = 0

    async def answer(self, call: EngineCall) -> None:
        self.asked += 1
        topic = next(one for one in (*TOPICS, *DISHES) if one in str(call.json["messages"]))
        call.whole(200, chat_answer(f"{self.asked}. First you {topic}."))

    async def judge(self, call: EngineCall) -> None:
        assert "Answer A" in str(call.json["messages"])
        call.whole(200, chat_answer(self.word))


@pytest.mark.parametrize(("word", "serves"), [("Yes.", True), ("no", False), ("perhaps", False)])
async def test_a_judge_says_whether_other_words_tell_the_same(word: str, serves: bool) -> None:
    judged = Judged()
    judged.word = word
    beside = {EMBED: embed, JUDGE: judged.judge}
    async with gateway_over(judged.answer, beside=beside, caches={"near": JUDGED}) as rig:
        told = await teach(rig)
        assert told["similar"] > 20 if serves else told["similar"] <= SHARE * (told["similar"] + told["miss"])


async def test_judging_asks_for_no_judgement() -> None:
    judged = Judged()
    async with gateway_over(judged.answer, beside={EMBED: embed, JUDGE: judged.judge}, caches={"near": JUDGED}) as rig:
        before = await metered(rig, "semantic_cache_decisions_total", JUDGE)
        await teach_any(rig)
        assert await metered(rig, "semantic_cache_decisions_total", JUDGE) == before


async def teach_any(rig: Rig) -> None:
    for way in WAYS:
        await ask(rig.port, question(way.format(TOPICS[0])))
