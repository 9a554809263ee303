"""LlamaIndex: an answer, a stream, a tool, vectors. Prints what it got, as JSON."""

import json
import os

from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike

URL = os.environ["GATEWAY_URL"]


def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


llm = OpenAILike(
    api_base=f"{URL}/v1", api_key="none", model="gpt-5", is_chat_model=True, is_function_calling_model=True
)
asked = [ChatMessage(role="user", content="Say hello.")]
streamed = "".join(piece.delta or "" for piece in llm.stream_chat(asked))
called = llm.predict_and_call([FunctionTool.from_defaults(weather)], user_msg="What is the weather?")
vectors = OpenAILikeEmbedding(api_base=f"{URL}/v1", api_key="none", model_name="text-embedding-3-small")
print(
    json.dumps(
        {
            "chat": [llm.chat(asked).message.content, streamed, str(called)],
            "vectors": vectors.get_text_embedding_batch(["one", "two"]),
        }
    )
)
