"""Sounds, pictures and moderation, held against the description that OpenAI publishes."""

from typing import Any

import pytest
from openai import AsyncOpenAI

from heterodyne.testing.media import answer_media
from heterodyne.testing.scripted_engine import EngineCall
from tests.conformance.conftest import Check
from tests.support.gateways import gateway_over

FORM: Any = {"headers": {"content-type": "multipart/form-data"}}
SOUND = {"file": ("a.wav", b"RIFF", "audio/wav")}
PICTURE = {"image": ("a.png", b"PNG", "image/png")}


@pytest.mark.parametrize(
    ("path", "body", "files", "shape"),
    [
        ("/moderations", {"input": ["one", "two"]}, None, "CreateModerationResponse"),
        ("/audio/transcriptions", {}, SOUND, "CreateTranscriptionResponseJson"),
        ("/audio/translations", {}, SOUND, "CreateTranslationResponseJson"),
        ("/images/generations", {"prompt": "a fox", "n": 2}, None, "ImagesResponse"),
        ("/images/edits", {"prompt": "blue"}, PICTURE, "ImagesResponse"),
        ("/images/variations", {"n": "2"}, PICTURE, "ImagesResponse"),
    ],
)
async def test_answers_are_as_described(
    check: Check, path: str, body: dict[str, Any], files: dict[str, Any] | None, shape: str
) -> None:
    async def media(call: EngineCall) -> None:
        assert answer_media(call), call.path

    async with (
        gateway_over(media) as rig,
        AsyncOpenAI(base_url=f"http://127.0.0.1:{rig.port}/v1", api_key="none", max_retries=0, timeout=30) as client,
    ):
        asked = {"model": "scripted", **body}
        options = {} if files is None else FORM
        check(shape, await client.post(path, body=asked, files=files, options=options, cast_to=object))
