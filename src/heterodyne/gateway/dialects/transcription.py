"""POST /v1/audio/transcriptions and /v1/audio/translations: forms with a sound in them, to text."""

from typing import Final

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.form_fields import flag, read_fields
from heterodyne.gateway.settings import GatewaySettings

TRANSLATION_API: Final = frozenset({"file", "model", "prompt", "response_format", "temperature"})
TRANSCRIPTION_API: Final = TRANSLATION_API | {
    *("chunking_strategy", "include", "known_speaker_names", "known_speaker_references", "language", "stream"),
    "timestamp_granularities",
}
PLAIN: Final = ("text", "srt", "vtt")  # whose answers are no JSON


def read_transcription(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    return _request(Operation.TRANSCRIPTION, TRANSCRIPTION_API, body, request_id, deadline_s)


def read_translation(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    return _request(Operation.TRANSLATION, TRANSLATION_API, body, request_id, deadline_s)


def _request(operation: Operation, api: frozenset[str], body: bytes, request_id: str, deadline_s: float) -> Request:
    form, model, own = read_fields(body, api, "file")
    passes = flag(form, "stream") or form.value("response_format") in PLAIN
    return Request(
        id=request_id,
        operation=operation,
        model=model,
        body=body,
        private_fields=own,
        prompt_chars=len(form.value("prompt") or ""),
        deadline_s=deadline_s,
        media_type=form.media_type,
        stream=passes,
        passes=passes,
    )
