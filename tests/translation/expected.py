"""What each cell of the matrix shows: all of it the same, or what is named in its place, and why."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from tests.translation.chains import ENGINES
from tests.translation.clients import CLIENTS
from tests.translation.meant import Asked
from tests.translation.scenarios import OPENAI_CLIENTS, SCENARIOS

COLUMNS = (*SCENARIOS, "error", "cancel")
SAME = "same"
CLAUDE = ("anthropic", "bedrock")
CONVERSE = "bedrock-converse"

Cell = tuple[str, str, str]  # client, engine, scenario


class Loss(Struct, frozen=True, kw_only=True):
    """One thing that is not carried: as the header names it, why, and a request without it."""

    path: str
    why: str
    without: Callable[[Asked], Asked]


class Refusal(Struct, frozen=True, kw_only=True):
    """One thing that is refused with 400 and its path."""

    path: str
    why: str


def _no_thoughts(asked: Asked) -> Asked:
    return replace(asked, turns=tuple(replace(turn, thoughts="") for turn in asked.turns))


def _no_description(asked: Asked) -> Asked:
    return replace(asked, wanted=None if asked.wanted is None else replace(asked.wanted, description=""))


def _no_strictness(asked: Asked) -> Asked:
    return replace(asked, tools=tuple(replace(tool, is_strict=None) for tool in asked.tools))


THOUGHTS = Loss(
    path="messages.reasoning_content",
    why="A provider takes no thoughts of earlier turns but its own, which it knows by their signature.",
    without=_no_thoughts,
)
DESCRIPTION = Loss(
    path="response_format.json_schema.description",
    why="The provider's schema of an answer has no description.",
    without=_no_description,
)
STRICTNESS = Loss(
    path="tools.function.strict",
    why="Gemini cannot be told whether arguments keep to their schema strictly.",
    without=_no_strictness,
)
NO_STOPS = Refusal(path="stop", why="The Responses API has no stop texts.")

NAMED: dict[Cell, Loss | Refusal] = {
    **{(client, engine, "reasoning"): THOUGHTS for client in CLIENTS for engine in (*CLAUDE, "gemini", CONVERSE)},
    **{(client, engine, "schema"): DESCRIPTION for client in OPENAI_CLIENTS for engine in (*CLAUDE, "gemini")},
    **{
        (client, "gemini", column): STRICTNESS
        for client in (*OPENAI_CLIENTS, "anthropic")
        for column in ("tools", "parallel tools")
    },
    **{("responses", engine, "stop"): NO_STOPS for engine in ENGINES},
}
CELLS: tuple[Cell, ...] = tuple(
    (client, engine, column) for client in CLIENTS for engine in ENGINES for column in COLUMNS
)


def outcome(cell: Cell) -> str:
    """In one word, and what is named or refused."""
    expected = NAMED.get(cell)
    if expected is None:
        return SAME
    return f"refused `{expected.path}`" if isinstance(expected, Refusal) else f"named `{expected.path}`"
