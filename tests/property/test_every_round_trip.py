"""Each client's API through each engine's, without a socket: nothing lost, nothing invented, what is not told is named.

Conversations are generated in no API's words. What an engine is asked is read as that engine reads it, its answer is
written as it writes it, and both ends are compared; the clients of the makers judge the same pairs in
`tests/translation`.
"""

import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.request import Request
from heterodyne.engines.catalogue import DIALECTS
from heterodyne.gateway.framed_events import FramedEvents
from heterodyne.ports.engine import EventEdit
from tests.support.converse import check_shape
from tests.support.requests import MODEL
from tests.support.splits import bounded
from tests.translation.doors import DOORS, Door
from tests.translation.drawing import Drawing
from tests.translation.ends import claude, converse, gemini, openai_chat
from tests.translation.expected import DESCRIPTION, STRICTNESS, THOUGHTS, Loss
from tests.translation.generated import ADDRESS, asked, said
from tests.translation.meant import Asked, Json, Part, Said, Turn
from tests.translation.scenarios import NAME_STOPS, OPENAI_CLIENTS, meaning

ENDS: dict[str, ModuleType] = {
    "vllm": openai_chat,
    "azure-openai": openai_chat,
    "anthropic": claude,
    "bedrock": claude,
    "gemini": gemini,
    "bedrock-converse": converse,
}
LOSSES: dict[str, tuple[Loss, ...]] = {
    "anthropic": (THOUGHTS, DESCRIPTION),
    "bedrock": (THOUGHTS, DESCRIPTION),
    "gemini": (THOUGHTS, DESCRIPTION, STRICTNESS),
    "bedrock-converse": (THOUGHTS,),
}
# Texts that the APIs themselves put into a body: what things are, and how they are to be taken.
OWN_WORDS = {
    "vllm": "system user assistant tool text image_url function required json_schema answer low medium high",
    "anthropic": "user assistant text image base64 url tool_use tool_result any tool json_schema adaptive "
    "low medium high",
    "gemini": "user model ANY LOW MEDIUM HIGH application/json image/png",
    "bedrock-converse": "user assistant png jpeg gif webp json_schema answer low medium high",
}
OWN_WORDS |= {"azure-openai": OWN_WORDS["vllm"], "bedrock": OWN_WORDS["anthropic"]}
HELLO = Asked(turns=(Turn(role="user", parts=(Part(text="Hello."),)),))
few = settings(bounded, max_examples=10)
each_client = pytest.mark.parametrize("client", DOORS)


def replica(engine: str) -> Replica:
    return Replica(id=ReplicaId("p-0"), pool=PoolName("p"), model=MODEL, engine=engine, host="h", port=1)


def sayable(meant: Asked, client: str, engine: str) -> Asked:
    """Without what the client's API has no word for, or what the engine's refuses (`tests/translation`)."""
    if client not in OPENAI_CLIENTS and meant.wanted is not None:
        meant = replace(meant, wanted=replace(meant.wanted, description=""))
    if client == "gemini":
        meant = replace(meant, tools=tuple(replace(one, is_strict=None) for one in meant.tools))
    if client == "responses":
        meant = replace(meant, stops=())
    if engine == "bedrock-converse" and meant.turns[-1].parts[0].picture == ADDRESS:
        meant = replace(meant, turns=(*meant.turns[:-1], replace(meant.turns[-1], parts=(Part(text=ADDRESS),))))
    return meant


def tellable(said: Said, client: str, engine: str) -> Said:
    """Without what one of both APIs has no word for."""
    if not {client, engine} <= NAME_STOPS:
        said = replace(said, stop_text=None)
    return replace(said, reasoning_tokens=0) if engine == "bedrock-converse" else said


def losses(meant: Asked, engine: str) -> tuple[Asked, set[str]]:
    """What arrives, and what is named in the place of the rest."""
    named = set()
    for loss in LOSSES.get(engine, ()):
        carried = loss.without(meant)
        named |= {loss.path} if carried != meant else set()
        meant = carried
    return meant, named


def members(meant: Asked, engine: str, *, stream: bool) -> set[str]:
    """Those that the body of the engine has to have, and no others."""
    choice, has_output = bool(meant.choice), meant.wanted is not None
    found: dict[str, bool]
    match engine:
        case "vllm" | "azure-openai":
            found = {"stream": stream, "stream_options": stream, "stop": bool(meant.stops)}
            found |= {"tool_choice": choice, "response_format": has_output, "reasoning_effort": bool(meant.effort)}
            always = {"model", "messages", "max_tokens"}
        case "anthropic" | "bedrock":
            found = {"stream": stream, "stop_sequences": bool(meant.stops), "system": bool(meant.system)}
            found |= {"tool_choice": choice, "output_config": has_output or bool(meant.effort)}
            found |= {"thinking": bool(meant.effort)}
            always = {"model", "messages", "max_tokens"}
        case "gemini":
            found = {"toolConfig": choice, "systemInstruction": bool(meant.system)}
            always = {"contents", "generationConfig"}
        case _:
            found = {"system": bool(meant.system), "outputConfig": has_output or bool(meant.effort)}
            found |= {"toolConfig": bool(meant.tools)}
            return {"messages", "inferenceConfig"} | {name for name, is_there in found.items() if is_there}
    found["tools"] = bool(meant.tools)
    return always | {name for name, is_there in found.items() if is_there}


def texts_in(value: Any, *, has_objects: bool = True) -> Iterator[str]:
    """Every text that is a value, and those of JSON in one; objects too, in JSON."""
    if isinstance(value, dict | list):
        if has_objects:
            yield json.dumps(value, sort_keys=True)
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_in(one, has_objects=has_objects)
    elif isinstance(value, str):
        yield value
        inside = _try_object(value)
        if inside is not None:
            yield from texts_in(inside, has_objects=has_objects)


def check_nothing_invented(sent: Json, arrived: Json, engine: str) -> None:
    """Every text there came from here, as it is or as a part of a picture's, or is a word of the API's own."""
    here = {MODEL, *texts_in(sent)}
    known = here | set(OWN_WORDS[engine].split()) | {_canonical(one) for one in here}
    pictures = "".join(one for one in here if one.startswith("data:"))
    told = (part for one in texts_in(arrived, has_objects=False) for part in _parts_of(one))
    strange = {one for one in told if _canonical(one) not in known and one not in pictures}
    assert not strange, f"{engine} is told what nobody said: {strange}"


def _parts_of(text: str) -> list[str]:
    """Of a picture, its kind and its bytes, which other APIs have apart."""
    return text.removeprefix("data:").split(";base64,") if text.startswith("data:image/") else [text]


def _canonical(text: str) -> str:
    """An object in JSON, as arguments are, however it is spelt."""
    found = _try_object(text)
    return text if found is None else json.dumps(found, sort_keys=True)


def _try_object(text: str) -> Json | None:
    try:
        found = json.loads(text) if text.startswith("{") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


@each_client
@few
@given(asked(), st.booleans())
def test_what_is_asked_arrives_and_what_does_not_is_named(client: str, meant: Asked, stream: bool) -> None:
    door = DOORS[client]
    for engine, end in ENDS.items():
        sayable_ = sayable(meant, client, engine)
        body = door.body(sayable_, stream)
        request = door.read(body, stream)
        assert request.stream is stream
        call = DIALECTS[engine].call(request, replica(engine))
        carried, named = losses(meaning(sayable_), engine)
        assert end.asked_of(call.body) == carried, engine
        assert {*request.not_carried, *call.not_carried} == named, engine
        arrived = json.loads(call.body)
        assert _renamed(set(arrived)) == members(sayable_, engine, stream=stream), engine
        check_nothing_invented(body, arrived, engine)
        if end is converse:
            check_shape("Converse", call.body)


def _renamed(names: set[str]) -> set[str]:
    """OpenAI has two names for the length."""
    return {"max_tokens" if name == "max_completion_tokens" else name for name in names}


@each_client
@few
@given(said(), st.integers(0, 999))
def test_what_is_said_comes_back_whole(client: str, meant: Said, seed: int) -> None:
    door = DOORS[client]
    for engine, end in ENDS.items():
        told = tellable(meant, client, engine)
        request = request_of(door, stream=False)
        answer = json.dumps(end.whole(told, Drawing(str(seed)))).encode()
        inside = DIALECTS[engine].answer(request, replica(engine), answer)
        assert isinstance(inside, bytes)
        outside = inside if door.form.whole is None else door.form.whole(request, inside)
        assert door.whole(json.loads(outside)) == told, engine


@each_client
@few
@given(said(), st.integers(0, 999))
def test_what_is_said_comes_back_in_pieces(client: str, meant: Said, seed: int) -> None:
    door = DOORS[client]
    for engine, end in ENDS.items():
        told = tellable(meant, client, engine)
        request = request_of(door, stream=True)
        inside = edited(end, told, Drawing(str(seed)), DIALECTS[engine].stream_edit(request))
        assert inside[-1] == b"[DONE]", engine
        events = formed(door, request, inside)
        assert door.whole(door.put_together(events)) == told, engine


def request_of(door: Door, *, stream: bool) -> Request:
    return door.read(door.body(HELLO, stream), stream)


def edited(end: ModuleType, told: Said, drawing: Drawing, edit: EventEdit | None) -> list[bytes]:
    """The data of OpenAI's events, as the relay has them."""
    if end is converse:
        heard = Heard()
        for event in converse.events(told, drawing):
            heard.framed.on_payload(event)
        data = heard.data
    else:
        data = end.events(told, drawing)
    return [new for one in data for new in (edit(one) if edit is not None else (one,))]


def formed(door: Door, request: Request, inside: list[bytes]) -> list[Json]:
    """The data of the events that the client is sent."""
    if door.form.stream is None:
        return [json.loads(one) for one in inside[:-1]]
    form = door.form.stream(request)
    sent = b"".join(form.events(b"data: " + one) for one in inside)
    events = [one.partition(b"data: ")[2] for one in sent.split(b"\n\n") if one]
    return [json.loads(one) for one in events]


class Heard:
    """Listens in the relay's place."""

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self.framed = FramedEvents(self, self)  # type: ignore[arg-type]  # no more of a listener is asked for

    def on_payload(self, data: bytes) -> None:
        self.data += [one.removeprefix(b"data: ") for one in data.split(b"\n\n")[:-1]]
