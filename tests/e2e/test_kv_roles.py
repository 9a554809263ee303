"""A model with replicas for prompts, for answers, and for both: each request goes where its first token is soonest."""

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.emulator.faults import Faults
from heterodyne.emulator.server import EmulatorServer
from heterodyne.routing.explanation.question import Question
from tests.support.emulators import order
from tests.support.gateways import gateway_over
from tests.support.kv_splits import MODEL, SIDE, SLOW
from tests.support.raw_client import connected
from tests.support.requests import chat

LONG = "the sea is wide and deep and blue and cold, " * 250
EXCHANGING = SIDE | {"kv_transfer": "dynamo"}


async def test_all_possibilities_are_compared_told_and_used() -> None:
    async with EmulatorServer(order()) as prompts, EmulatorServer(order()) as answers, EmulatorServer(order()) as whole:
        quick = EXCHANGING | {"urls": (prompts.url,), "role": "prefill", "hardware": "h100-sxm"}
        slow = EXCHANGING | {"hardware": "l4"}
        async with gateway_over(
            pool=quick,
            rivals={"answers": (answers, slow | {"role": "decode"}), "whole": (whole, slow)},
            model={"kv": "auto", "slo_ttft_ms": 500.0},
        ) as rig:
            await rig.wait(lambda: rig.gateway.takeable() == 3)
            for server in (answers, whole):
                server.engine.set_faults(Faults(slowdown=SLOW))

            async def ask(content: str, tokens: int = 5) -> str:
                async with connected(rig.port) as client:
                    asked = chat(
                        model=MODEL, messages=[{"role": "user", "content": content}], max_tokens=tokens, stream=True
                    )
                    answer = await client.ask(asked)
                assert (answer.status, answer.events[-1]) == (200, b"[DONE]")
                return answer.headers["x-heterodyne-pool"]

            explained = rig.gateway.explainer.explain(Question(model=MODEL, prompt=LONG))
            told = {(one.origin, one.source, one.replica) for one in explained.origins}
            assert (KvOrigin.PREFILL, "pool-0", "answers-0") in told
            assert (KvOrigin.PREFILL, "pool-0", "whole-0") in told
            assert (None, "", "whole-0") in told
            assert "compute on pool-0, answer on" in explained.conclusion
            reasons = {one.replica: one.reason for one in explained.candidates}
            assert reasons["pool-0"] == "computes prompts for others and answers nobody"
            for number in range(6):  # one in a hundred is computed all the same
                await ask(f"{number} {LONG}")
            assert answers.engine.kv.reads + whole.engine.kv.reads >= 4
            assert await ask("hi") in ("answers", "whole")
            short = rig.gateway.explainer.explain(Question(model=MODEL, prompt="what is wide? " * 80))
            assert ("answers-0", None) in {(one.replica, one.origin) for one in short.origins}
            await rig.wait_empty()
            assert prompts.engine.kv.pinned == 0
