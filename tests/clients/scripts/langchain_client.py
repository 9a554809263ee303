"""LangChain over three APIs: an answer, a stream, a tool, vectors. Prints what it got, as JSON."""

import json
import os

from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

URL = os.environ["GATEWAY_URL"]


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


def tried(model: object) -> list[object]:
    called = model.bind_tools([weather]).invoke("What is the weather?").tool_calls[0]
    streamed = "".join(str(piece.text) for piece in model.stream("Say hello."))
    return [model.invoke("Say hello.").text, streamed, called["name"], called["args"]]


print(
    json.dumps(
        {
            "openai": tried(ChatOpenAI(base_url=f"{URL}/v1", api_key="none", model="gpt-5")),
            "responses": tried(ChatOpenAI(base_url=f"{URL}/v1", api_key="none", model="gpt-5", use_responses_api=True)),
            "anthropic": tried(ChatAnthropic(base_url=URL, api_key="none", model="claude-sonnet-4-5")),
            "google": tried(ChatGoogleGenerativeAI(base_url=URL, api_key="none", model="gemini-2.5-flash")),
            "vectors": OpenAIEmbeddings(
                base_url=f"{URL}/v1", api_key="none", model="text-embedding-3-small", check_embedding_ctx_length=False
            ).embed_documents(["one", "two"]),
        }
    )
)
