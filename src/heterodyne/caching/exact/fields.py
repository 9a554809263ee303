"""Which members of a request's body matter to an exact cache. Everything that is not named here changes the answer."""

from typing import Final

# They say how an answer is delivered, to whom it is booked or where it is kept, not what it says.
IGNORED: Final = frozenset(
    {
        "stream",
        "stream_options",
        "user",
        "safety_identifier",
        "metadata",
        "store",
        "service_tier",
        "prompt_cache_key",
        "prompt_cache_retention",
    }
)

# With them an answer depends on something that is not in the body: a conversation kept elsewhere, or the world today.
OUTSIDE: Final = frozenset({"previous_response_id", "conversation", "background", "web_search_options"})

# Tools that the client runs itself; others (search, code, files) are run beside the model and see the world.
CLIENT_TOOLS: Final = frozenset({"function", "custom"})
