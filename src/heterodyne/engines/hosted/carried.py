"""What a provider has no words for: refused by its path where it would change the answer, else named beside it."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.path_notes import PathNotes
from heterodyne.engines.hosted.asked_chat import AskedFormat, Members

# Of OpenAI's API, and the value that asks for nothing beside null, false, zero and empty.
REFUSED: Final[Mapping[str, Any]] = {
    "logprobs": None,
    "top_logprobs": None,
    "logit_bias": None,
    "functions": None,
    "function_call": "none",
    "audio": None,
    "modalities": ["text"],
    "web_search_options": None,
    "moderation": None,
}
# Hints: an answer without them is still one to the question that was asked.
HINTS: Final = frozenset(
    {
        "metadata",
        "prediction",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "service_tier",
        "verbosity",
    }
)
KEPT_HERE: Final = frozenset({"store"})  # the gateway does it
NO_HINTS: Final[tuple[Any, ...]] = (None, False, "auto", "default", {}, "")


class NotTold(PathNotes):
    """Of one chat, what the provider was not told."""

    def note_hints(self, members: Members, names: Iterable[str]) -> None:
        for name in sorted(names):
            if name in members:
                self.note(name, is_set=msgspec.json.decode(members[name]) not in NO_HINTS)

    def note_description(self, wanted: AskedFormat | None) -> None:
        """Providers keep to a schema, and have no place for what it is for."""
        schema = None if wanted is None else wanted.json_schema
        self.note("response_format.json_schema.description", is_set=schema is not None and bool(schema.description))


def check_carried(members: Members, refused: Mapping[str, Any], provider: str) -> None:
    """Raise for the first member that asks for something the provider does not have."""
    for name, harmless in refused.items():
        value = msgspec.json.decode(members[name]) if name in members else None
        if value and value != harmless:
            raise InvalidField(f"{name}: {provider} has nothing like it; leave it out.", param=name)


def rest_of(members: Members, known: frozenset[str]) -> Members:
    """What is the provider's own: the dialect or an operator has let it pass, so it goes as it came."""
    return {name: value for name, value in members.items() if name not in known}
