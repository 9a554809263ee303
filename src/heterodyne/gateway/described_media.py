"""What the API description says of sounds, pictures, moderation and the order of texts."""

from typing import Any, Final

from heterodyne.gateway import media_answers
from heterodyne.gateway.description import Described
from heterodyne.gateway.dialects.images import EDIT_API, IMAGES_MAX, VARIATION_API, ImageFields
from heterodyne.gateway.dialects.moderation import ModerationFields
from heterodyne.gateway.dialects.rerank import RerankFields, ScoreFields
from heterodyne.gateway.dialects.speech import SpeechFields
from heterodyne.gateway.dialects.transcription import TRANSCRIPTION_API, TRANSLATION_API

BINARY: Final = {"type": "string", "format": "binary"}
TYPES: Final = {  # of fields that are no plain text
    "file": BINARY,
    "image": BINARY,
    "mask": BINARY,
    "model": {"type": "string", "minLength": 1, "maxLength": 256},
    "n": {"type": "integer", "minimum": 1, "maximum": IMAGES_MAX},
    "stream": {"enum": ["true", "false"]},
}


def _form(api: frozenset[str], *required: str) -> dict[str, Any]:
    properties = {name: TYPES.get(name, {"type": "string"}) for name in sorted(api)}
    return {"type": "object", "required": list(required), "properties": properties}


RERANKED = Described(
    summary="Order texts by how well they answer a question", fields=RerankFields, answer=media_answers.RankedTexts
)
DESCRIBED: dict[str, Described] = {
    "/v1/rerank": RERANKED,
    "/v2/rerank": RERANKED,
    "/v1/score": Described(
        summary="Tell how alike texts are, in pairs", fields=ScoreFields, answer=media_answers.ScoredPairs
    ),
    "/v1/moderations": Described(
        summary="Tell whether texts are harmful", fields=ModerationFields, answer=media_answers.ModeratedTexts
    ),
    "/v1/audio/speech": Described(
        summary="Text to sound, sent as it is made",
        fields=SpeechFields,
        media_types=("audio/*",),
        event=media_answers.MediaEvent,
    ),
    "/v1/audio/transcriptions": Described(
        summary="Sound to text",
        form=_form(TRANSCRIPTION_API, "file", "model"),
        media_types=("text/plain",),
        answer=media_answers.TranscribedText,
        event=media_answers.MediaEvent,
    ),
    "/v1/audio/translations": Described(
        summary="Sound to English text",
        form=_form(TRANSLATION_API, "file", "model"),
        media_types=("text/plain",),
        answer=media_answers.TranscribedText,
    ),
    "/v1/images/generations": Described(
        summary="Make pictures",
        fields=ImageFields,
        answer=media_answers.MadePictures,
        event=media_answers.MediaEvent,
    ),
    "/v1/images/edits": Described(
        summary="Change pictures",
        form=_form(EDIT_API, "image", "model", "prompt"),
        answer=media_answers.MadePictures,
        event=media_answers.MediaEvent,
    ),
    "/v1/images/variations": Described(
        summary="Make pictures like one", form=_form(VARIATION_API, "image", "model"), answer=media_answers.MadePictures
    ),
}
