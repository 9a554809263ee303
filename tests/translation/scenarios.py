"""What is asked and said in each column of the matrix: steps of a conversation, drawn anew for every example."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from tests.translation.drawing import Drawing
from tests.translation.meant import Asked, Called, Part, Said, Tool, Turn, Wanted, result_of

OPENAI_CLIENTS = ("chat", "responses")
# Whose words name the text that ended an answer.
NAME_STOPS = frozenset({"chat", "anthropic", "vllm", "azure-openai", "bedrock"})
CONVERSE = "bedrock-converse"
EFFORTS = ("low", "medium", "high")


class Step(Struct, frozen=True, kw_only=True):
    """One request, and what the engine says to it."""

    asked: Asked
    said: Said


# Of a drawing, the client's name and the engine's.
Scenario = Callable[[Drawing, str, str], list[Step]]


def plain(drawing: Drawing, client: str, engine: str) -> list[Step]:
    """A system, turns of both, and an answer that ends or is cut off."""
    turns = [_user(drawing.text()), _model(drawing.text()), _user(drawing.text())]
    finish = drawing.random.choice(("stop", "length"))
    asked = Asked(turns=tuple(turns), system=drawing.text(), max_tokens=drawing.random.randint(1, 4000))
    return [Step(asked=asked, said=replace(_counted(drawing), text=drawing.text(), finish=finish))]


def tools(drawing: Drawing, client: str, engine: str) -> list[Step]:
    """One call, and its result."""
    return _calling(drawing, client, count=1)


def parallel_tools(drawing: Drawing, client: str, engine: str) -> list[Step]:
    """Several calls in one turn, of the same tool and of others, and their results."""
    return _calling(drawing, client, count=3)


def images(drawing: Drawing, client: str, engine: str) -> list[Step]:
    """Pictures between texts."""
    pictures = [drawing.picture(has_addresses=engine != CONVERSE) for _ in range(3)]
    first = (Part(text=drawing.text()), Part(picture=pictures[0]), Part(picture=pictures[1]))
    second = (Part(picture=pictures[2]), Part(text=drawing.text()))
    turns = (Turn(role="user", parts=first), _model(drawing.text()), Turn(role="user", parts=second))
    return [Step(asked=Asked(turns=turns), said=replace(_counted(drawing), text=drawing.text()))]


def schema(drawing: Drawing, client: str, engine: str) -> list[Step]:
    """An answer that keeps to a schema."""
    description = drawing.text() if client in OPENAI_CLIENTS else ""
    asked = Asked(turns=(_user(drawing.text()),), wanted=Wanted(schema=drawing.schema(), description=description))
    return [Step(asked=asked, said=replace(_counted(drawing), text=drawing.json(drawing.object())))]


def reasoning(drawing: Drawing, client: str, engine: str) -> list[Step]:
    """An effort, an answer with thoughts, and the thoughts sent back."""
    asked = Asked(turns=(_user(drawing.text()),), effort=drawing.random.choice(EFFORTS))
    said = replace(
        _counted(drawing), text=drawing.text(), thoughts=drawing.text(), reasoning_tokens=0 if engine == CONVERSE else 4
    )
    turns = (*asked.turns, replace(_model(said.text), thoughts=said.thoughts), _user(drawing.text()))
    again = replace(_counted(drawing), text=drawing.text())
    return [Step(asked=asked, said=said), Step(asked=replace(asked, turns=turns), said=again)]


def stop(drawing: Drawing, client: str, engine: str) -> list[Step]:
    """Texts that end an answer, and the one that did."""
    stops = (drawing.text(), "END")
    said = replace(_counted(drawing), text=drawing.text())
    if {client, engine} <= NAME_STOPS:
        said = replace(said, stop_text=drawing.random.choice((None, *stops)))
    return [Step(asked=Asked(turns=(_user(drawing.text()),), stops=stops), said=said)]


SCENARIOS: dict[str, Scenario] = {
    "text": plain,
    "tools": tools,
    "parallel tools": parallel_tools,
    "images": images,
    "schema": schema,
    "reasoning": reasoning,
    "stop": stop,
}


def _calling(drawing: Drawing, client: str, *, count: int) -> list[Step]:
    names = ("weather", "look_up")
    strictness = (None, None) if client == "gemini" else (True, drawing.random.choice((None, True)))
    declared = tuple(
        Tool(name=name, description=drawing.text(), schema=drawing.schema(), is_strict=is_strict)
        for name, is_strict in zip(names, strictness, strict=True)
    )
    calls = tuple(
        Called(id=f"call_{number}", name=drawing.random.choice(names), arguments=drawing.object())
        for number in range(1, count + 1)
    )
    asked = Asked(
        turns=(_user(drawing.text()),), tools=declared, choice=drawing.random.choice(("", "required", "weather"))
    )
    said = replace(
        _counted(drawing), text=drawing.random.choice(("", drawing.text())), calls=calls, finish="tool_calls"
    )
    results = [_result(drawing, call) for call in calls]
    called = replace(_model(said.text), calls=calls) if said.text else Turn(role="assistant", calls=calls)
    more = (_user(drawing.text()),) if drawing.random.random() < 0.5 else ()
    turns = (*asked.turns, called, *results, *more)
    answer = replace(_counted(drawing), text=drawing.text())
    return [Step(asked=asked, said=said), Step(asked=replace(asked, turns=turns, choice=""), said=answer)]


def _result(drawing: Drawing, call: Called) -> Turn:
    text = drawing.text() if drawing.random.random() < 0.5 else drawing.json(drawing.object())
    return Turn(role="tool", call_id=call.id, tool=call.name, parts=(Part(text=text),))


def _user(text: str) -> Turn:
    return Turn(role="user", parts=(Part(text=text),))


def _model(text: str) -> Turn:
    return Turn(role="assistant", parts=(Part(text=text),))


def _counted(drawing: Drawing) -> Said:
    """An answer's tokens."""
    prompt = drawing.random.randint(5, 500)
    return Said(
        prompt_tokens=prompt,
        completion_tokens=drawing.random.randint(5, 500),
        cached_tokens=drawing.random.randint(0, prompt),
    )


def meaning(asked: Asked) -> Asked:
    """As it is read at the end: results as such, and without the names that the ids of calls say already."""
    turns = [
        replace(one, tool="", parts=(Part(text=result_of(one.text)),)) if one.role == "tool" else one
        for one in asked.turns
    ]
    return replace(asked, turns=tuple(turns))
