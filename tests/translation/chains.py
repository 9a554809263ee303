"""What stands between a client and the engine at the end: a gateway, and for another maker's API a second one.

The first gateway asks the second in that maker's words, as it would the maker. The second reads them as it does those
of the maker's own clients, so that the engine at the end gets an OpenAI chat whatever stands between. Converse has no
clients here: its engine is scripted itself.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from heterodyne.testing import behaviours
from tests.support.gateways import Rig, gateway_over
from tests.translation.ends import End
from tests.translation.ends.converse import ConverseEnd
from tests.translation.ends.openai_chat import ChatEnd

ENDS: dict[str, End] = {  # of engines that are asked at once
    "vllm": ChatEnd(),
    "azure-openai": ChatEnd("/openai/v1/chat/completions"),
    "bedrock-converse": ConverseEnd(),
}
OTHERS = ("anthropic", "bedrock", "gemini")
ENGINES = ("vllm", "azure-openai", *OTHERS, "bedrock-converse")
BREAKS = {"continues_streams": False}  # a stream that breaks is seen to


@asynccontextmanager
async def chained(engine: str) -> AsyncIterator[tuple[Rig, str]]:
    """The rig with the engine at the end, and where clients ask."""
    if engine in ENDS:
        async with gateway_over(behaviours.answer(), gateway=BREAKS, pool={"engine": engine}) as rig:
            yield rig, f"http://127.0.0.1:{rig.port}"
        return
    async with gateway_over(behaviours.answer(), gateway=BREAKS) as rig:
        pool: dict[str, Any] = {"engine": engine, "urls": (f"http://127.0.0.1:{rig.port}",)}
        async with gateway_over(gateway=BREAKS, pool=pool) as outer:
            yield rig, f"http://127.0.0.1:{outer.port}"


def end_of(engine: str) -> End:
    """What the engine at the end speaks."""
    return ENDS.get(engine, ENDS["vllm"])
