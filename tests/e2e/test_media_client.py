"""Sounds, pictures, moderation and the order of texts, as OpenAI's own client and others ask for them."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from heterodyne.testing import behaviours
from heterodyne.testing.media import PICTURE, SOUND, SUBTITLES, answer_media, form_value
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import ask

WAV = ("speech.wav", b"RIFF\r\n--x\r\n" + bytes(range(256)) * 40, "audio/wav")
LONG_WAV = ("long.wav", bytes(range(256)) * 8192, "audio/wav")  # 2 MiB: read beside the worker
FORM: Any = {"headers": {"content-type": "multipart/form-data"}}
PNG = ("picture.png", b64decode(PICTURE), "image/png")

pytestmark = pytest.mark.filterwarnings("ignore:deprecated:DeprecationWarning")  # what OpenAI means to end, we serve


async def media(call: EngineCall) -> None:
    assert answer_media(call), call.path


@asynccontextmanager
async def opened(records: Path, *behaviours_: Behaviour, **more: Any) -> AsyncIterator[tuple[Rig, AsyncOpenAI]]:
    async with (
        gateway_over(*(behaviours_ or (media,)), records=records / "records.jsonl", **more) as rig,
        AsyncOpenAI(base_url=f"http://127.0.0.1:{rig.port}/v1", api_key="none", max_retries=0, timeout=60) as client,
    ):
        yield rig, client
        await rig.wait_empty()


async def test_sound_is_sent_on_as_it_is_made(tmp_path: Path) -> None:
    goes_on = asyncio.Event()

    async def slow(call: EngineCall) -> None:
        call.head(200, "content-type: audio/mpeg", "transfer-encoding: chunked")
        call.chunk(SOUND[:100])
        await asyncio.wait_for(goes_on.wait(), 60)
        call.chunk(SOUND[100:])
        call.write(b"0\r\n\r\n")

    async with opened(tmp_path, slow) as (rig, client):
        asked: dict[str, Any] = {"model": "scripted", "voice": "alloy", "input": "hello"}
        async with client.audio.speech.with_streaming_response.create(**asked) as answer:
            assert answer.headers["content-type"] == "audio/mpeg"
            pieces = answer.iter_bytes()
            first = await anext(pieces)
            assert SOUND.startswith(first), "it is here before the rest is made"
            goes_on.set()
            assert first + b"".join([piece async for piece in pieces]) == SOUND
        assert rig.engine.calls[0].path == "/v1/audio/speech"
        record = (await rig.wait_records(1))[0]
        assert (record.operation, record.status, record.completion_tokens) == ("speech", 200, 0)


async def test_sound_in_events_tells_what_was_used(tmp_path: Path) -> None:
    async with opened(tmp_path) as (rig, client):
        answer = await client.audio.speech.create(
            model="scripted", voice="alloy", input="hello", stream_format="sse", instructions="Softly."
        )
        assert b"speech.audio.done" in answer.content
        record = (await rig.wait_records(1))[0]
        assert (record.prompt_tokens, record.completion_tokens) == (14, 4)


async def test_a_sound_that_breaks_off_does_not_look_whole(tmp_path: Path) -> None:
    async def broken(call: EngineCall) -> None:
        call.head(200, "content-type: audio/mpeg", "transfer-encoding: chunked")
        call.chunk(SOUND)
        await call.drain()
        call.reset()

    async with opened(tmp_path, broken) as (rig, client):
        with pytest.raises(openai.APIConnectionError):
            await client.audio.speech.create(model="scripted", voice="alloy", input="hello")
        assert (await rig.wait_records(1))[0].reason == "engine_broke"


async def test_a_client_that_leaves_stops_the_engine(tmp_path: Path) -> None:
    async def endless(call: EngineCall) -> None:
        call.head(200, "content-type: audio/mpeg", "transfer-encoding: chunked")
        while not call.was_cancelled:
            call.chunk(SOUND)
            await asyncio.sleep(0.01)

    async with opened(tmp_path, endless) as (rig, client):
        asked: dict[str, Any] = {"model": "scripted", "voice": "alloy", "input": "hello"}
        async with client.audio.speech.with_streaming_response.create(**asked) as answer:
            await anext(answer.iter_bytes())
        await rig.wait_cancelled()


@pytest.mark.parametrize("wav", [WAV, LONG_WAV], ids=["short", "long"])
async def test_a_sound_is_transcribed_by_the_model_that_an_alias_means(
    tmp_path: Path, wav: tuple[str, bytes, str]
) -> None:
    async with opened(tmp_path, model={"aliases": ("whisper-1",)}) as (rig, client):
        said = await client.audio.transcriptions.create(model="whisper-1", file=wav, language="de", temperature=0)
        assert said.text == "hello"
        call = rig.engine.calls[0]
        assert (form_value(call, "model"), form_value(call, "language")) == ("scripted", "de")
        assert wav[1] in call.body
        record = (await rig.wait_records(1))[0]
        assert (record.operation, record.prompt_tokens, record.completion_tokens) == ("transcription", 14, 4)


async def test_transcriptions_stream_and_come_as_subtitles(tmp_path: Path) -> None:
    async with opened(tmp_path) as (rig, client):
        stream = await client.audio.transcriptions.create(model="scripted", file=WAV, stream=True)
        events = [event async for event in stream]
        assert [event.type for event in events] == ["transcript.text.delta"] * 2 + ["transcript.text.done"]
        subtitles = await client.audio.transcriptions.create(model="scripted", file=WAV, response_format="srt")
        assert subtitles == SUBTITLES.decode()
        english = await client.audio.translations.create(model="scripted", file=WAV)
        assert english.text == "hello"
        records = await rig.wait_records(3)
        assert [one.operation for one in records] == ["transcription", "transcription", "translation"]
        assert (records[0].prompt_tokens, records[0].completion_tokens) == (14, 4)


async def test_pictures_are_made_changed_and_varied(tmp_path: Path) -> None:
    async with opened(tmp_path) as (rig, client):
        made = await client.images.generate(model="scripted", prompt="a fox", n=2)
        assert [one.b64_json for one in made.data or ()] == [PICTURE] * 2
        stream = await client.images.generate(model="scripted", prompt="a fox", stream=True, partial_images=1)
        kinds = [event.type async for event in stream]
        assert kinds == ["image_generation.partial_image", "image_generation.completed"]
        changed = await client.images.edit(model="scripted", image=[PNG, PNG], mask=PNG, prompt="blue")
        assert len(changed.data or ()) == 1
        varied = await client.images.create_variation(model="scripted", image=PNG, n=3)
        assert len(varied.data or ()) == 3
        records = await rig.wait_records(4)
        assert [one.operation for one in records] == ["image", "image", "image_edit", "image_variation"]
        assert [one.completion_tokens for one in records] == [4] * 4


async def test_texts_are_moderated_ranked_and_scored(tmp_path: Path) -> None:
    async with opened(tmp_path, model={"aliases": ("omni-moderation-latest",)}) as (rig, client):
        moderated = await client.moderations.create(input=["one", "two"])
        assert [one.flagged for one in moderated.results] == [False, False]
        assert rig.engine.calls[0].json["model"] == "scripted", "a client need not name one"
        asked = {"model": "scripted", "query": "q", "documents": ["a", "b", "c"], "top_n": 2}
        for path in ("/rerank", f"http://127.0.0.1:{rig.port}/v2/rerank"):
            ranked: Any = await client.post(path, body=asked, cast_to=object)
            assert [one["index"] for one in ranked["results"]] == [0, 1]
        pairs = {"model": "scripted", "text_1": "a", "text_2": ["b", "c"]}
        scored: Any = await client.post("/score", body=pairs, cast_to=object)
        assert [one["score"] for one in scored["data"]] == [0.5, 0.5]
        records = await rig.wait_records(4)
        assert [one.prompt_tokens for one in records[1:]] == [9, 9, 9], "as the engine counts them"


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("/rerank", {"model": "scripted", "query": "q"}, "documents"),
        ("/rerank", {"model": "scripted", "query": "q", "documents": []}, "documents"),
        ("/rerank", {"model": "scripted", "query": "q", "documents": ["a"], "top_n": -1}, "top_n"),
        ("/rerank", {"model": "scripted", "query": "q", "documents": ["a"] * 3000}, "documents"),
        ("/rerank", {"model": "scripted", "query": "q", "documents": ["a"], "chat_template": "x"}, "chat_template"),
        ("/score", {"model": "scripted", "text_1": "a"}, "text_1"),
        ("/moderations", {"model": "scripted", "input": 7}, "input"),
        ("/audio/speech", {"model": "scripted", "input": ""}, "input"),
        ("/audio/speech", {"model": "scripted", "input": "a", "stream_format": "wav"}, "stream_format"),
        ("/images/generations", {"model": "scripted", "prompt": "a", "n": 11}, "n"),
        ("/images/generations", {"prompt": "a"}, "model"),
    ],
)
async def test_what_cannot_be_asked_is_refused_by_its_name(
    tmp_path: Path, path: str, body: dict[str, Any], param: str
) -> None:
    async with opened(tmp_path) as (rig, client):
        with pytest.raises(openai.BadRequestError) as refused:
            await client.post(path, body=body, cast_to=object)
        assert refused.value.param == param
        assert not rig.engine.calls


@pytest.mark.parametrize(
    ("path", "fields", "files", "param"),
    [
        ("/audio/transcriptions", {"model": "scripted"}, {"sound": WAV}, "file"),
        ("/audio/transcriptions", {"model": ""}, {"file": WAV}, "model"),
        ("/audio/transcriptions", {"model": "scripted", "stream": "perhaps"}, {"file": WAV}, "stream"),
        ("/audio/transcriptions", {"model": "scripted", "lora_path": "/x"}, {"file": WAV}, "lora_path"),
        ("/images/edits", {"model": "scripted"}, {"image": PNG}, "prompt"),
        ("/images/variations", {"model": "scripted", "n": "0"}, {"image": PNG}, "n"),
    ],
)
async def test_a_form_that_cannot_be_taken_is_refused_by_its_field(
    tmp_path: Path, path: str, fields: dict[str, str], files: dict[str, Any], param: str
) -> None:
    async with opened(tmp_path) as (rig, client):
        with pytest.raises(openai.BadRequestError) as refused:
            await client.post(path, body=fields, files=files, options=FORM, cast_to=object)
        assert refused.value.param == param
        assert not rig.engine.calls


async def test_what_is_no_form_is_refused_where_one_is_expected(tmp_path: Path) -> None:
    async with opened(tmp_path) as (rig, client):
        with pytest.raises(openai.APIStatusError) as refused:
            await client.post("/audio/transcriptions", body={"model": "scripted"}, cast_to=object)
        assert refused.value.status_code == 415
        assert not rig.engine.calls


async def test_a_web_page_elsewhere_may_not_send_sounds_without_a_key(tmp_path: Path) -> None:
    async with opened(tmp_path) as (rig, _):
        body = b'--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nscripted\r\n--b--\r\n'
        head = b"POST /v1/audio/transcriptions HTTP/1.1\r\nhost: 127.0.0.1\r\norigin: http://evil.example\r\n"
        head += b"content-type: multipart/form-data; boundary=b\r\ncontent-length: %d\r\n\r\n" % len(body)
        refused = await ask(rig.port, head + body)
        assert (refused.status, refused.json["error"]["code"]) == (403, "not_allowed")
        assert not rig.engine.calls


async def test_an_engine_without_the_call_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path, behaviours.answer(), pool={"engine": "sglang"}) as (rig, client):
        with pytest.raises(openai.APIStatusError) as refused:
            await client.audio.speech.create(model="scripted", voice="alloy", input="hello")
        assert refused.value.status_code == 501
        assert not rig.engine.calls


async def test_a_model_that_was_not_started_for_a_call_is_not_taken_for_broken(tmp_path: Path) -> None:
    async def only_chats(call: EngineCall) -> None:
        if call.path.endswith("/rerank"):
            message = "This server does not support reranking. Start it with `--reranking`"
            call.whole(501, {"error": {"code": 501, "message": message, "type": "not_supported_error"}})
        else:
            await behaviours.answer("Hello.")(call)

    async with opened(tmp_path, only_chats, only_chats) as (rig, client):
        asked = {"model": "scripted", "query": "q", "documents": ["a"]}
        for _ in range(12):
            with pytest.raises(openai.APIStatusError, match="does not support reranking") as refused:
                await client.post("/rerank", body=asked, cast_to=object)
            assert refused.value.status_code == 501
        assert sum(len(engine.calls) for engine in rig.engines) == 12, "no other replica is asked either"
        for _ in range(4):
            said = await client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "x"}])
            assert said.choices[0].message.content == "Hello."


async def test_the_list_that_sglang_ranks_becomes_everybodys(tmp_path: Path) -> None:
    async def ranks(call: EngineCall) -> None:
        call.whole(200, b'[{"score":0.9,"document":"b","index":1,"meta_info":{}},{"score":0.1,"index":0}]')

    async with opened(tmp_path, ranks, pool={"engine": "sglang"}) as (_, client):
        asked = {"model": "scripted", "query": "q", "documents": ["a", "b"]}
        answer: Any = await client.post("/rerank", body=asked, cast_to=object)
        assert answer["results"] == [
            {"index": 1, "relevance_score": 0.9, "document": {"text": "b"}},
            {"index": 0, "relevance_score": 0.1},
        ]
