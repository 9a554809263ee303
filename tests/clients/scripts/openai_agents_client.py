"""OpenAI's Agents SDK: a loop with a tool, by the Responses API and by chat. Prints what it came to, as JSON."""

import asyncio
import json
import os

from agents import Agent, Runner, function_tool, set_default_openai_api, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


async def tried() -> dict[str, str]:
    set_default_openai_client(AsyncOpenAI(base_url=f"{os.environ['GATEWAY_URL']}/v1", api_key="none"))
    set_tracing_disabled(True)
    agent = Agent(name="Weather", instructions="Be brief.", model="gpt-5", tools=[weather])
    found = {}
    for api in ("responses", "chat_completions"):
        set_default_openai_api(api)
        found[api] = (await Runner.run(agent, "What is the weather?")).final_output
        streamed = Runner.run_streamed(agent, "What is the weather?")
        async for _ in streamed.stream_events():
            pass
        found[f"{api}, streamed"] = streamed.final_output
    return found


print(json.dumps(asyncio.run(tried())))
