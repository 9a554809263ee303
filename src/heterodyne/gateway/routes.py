"""The API: which path is answered by what. Authorisation belongs to the route, never to the spelling of a path."""

from typing import Final
from urllib.parse import unquote

from heterodyne.gateway import open_inference_pages, pages
from heterodyne.gateway.batch_routes import BATCHED, BATCHES_ROUTE, FILES_ROUTE, MESSAGE_BATCHES_ROUTE, find_batched
from heterodyne.gateway.dialects import (
    anthropic,
    chat,
    completion,
    embedding,
    gemini,
    images,
    moderation,
    open_inference,
    rerank,
    responses,
    speech,
    tokenization,
    transcription,
)
from heterodyne.gateway.forms.anthropic import ANTHROPIC
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.forms.gemini import GEMINI, GEMINI_BATCH
from heterodyne.gateway.forms.passing import OPEN_INFERENCE, OPENAI
from heterodyne.gateway.forms.responses import RESPONSES
from heterodyne.gateway.route import API_KEY, Route
from heterodyne.gateway.stored.background import check_background
from heterodyne.gateway.stored.recall import try_recall
from heterodyne.gateway.stored_routes import COMPLETIONS_ROUTE, CONVERSATIONS_ROUTE, STORED, find_stored

GOOGLE_KEY: Final = pages.GOOGLE_HEADER
ANY_KEY: Final = (API_KEY, GOOGLE_KEY)
MESSAGES: Final = b"/v1/messages"
GEMINI_MODELS: Final = (b"/v1beta/models/", b"/v1/models/")  # older and newer clients
BATCH_VERB: Final = "batchEmbedContents"

ROUTES: dict[bytes, Route] = {
    b"/v1/chat/completions": Route(
        method=b"POST",
        read=chat.read,
        try_read_long=chat.try_read_long,
        also={b"GET": COMPLETIONS_ROUTE},
    ),
    b"/v1/responses": Route(
        method=b"POST", read=responses.read, form=RESPONSES, try_recall=try_recall, is_deferred=check_background
    ),
    b"/v1/responses/input_tokens": Route(
        method=b"POST", read=responses.read_count, form=RESPONSES, try_recall=try_recall
    ),
    b"/v1/conversations": CONVERSATIONS_ROUTE,
    b"/v1/batches": BATCHES_ROUTE,
    b"/v1/files": FILES_ROUTE,
    b"/v1/completions": Route(method=b"POST", read=completion.read),
    b"/v1/embeddings": Route(method=b"POST", read=embedding.read),
    b"/v1/moderations": Route(method=b"POST", read=moderation.read),
    b"/v1/rerank": Route(method=b"POST", read=rerank.read_rerank),
    b"/v2/rerank": Route(method=b"POST", read=rerank.read_rerank),  # where Cohere's clients ask
    b"/v1/score": Route(method=b"POST", read=rerank.read_score),
    b"/v1/audio/speech": Route(method=b"POST", read=speech.read),
    b"/v1/audio/transcriptions": Route(method=b"POST", read=transcription.read_transcription, is_form=True),
    b"/v1/audio/translations": Route(method=b"POST", read=transcription.read_translation, is_form=True),
    b"/v1/images/generations": Route(method=b"POST", read=images.read_generation),
    b"/v1/images/edits": Route(method=b"POST", read=images.read_edit, is_form=True),
    b"/v1/images/variations": Route(method=b"POST", read=images.read_variation, is_form=True),
    b"/v1/messages": Route(method=b"POST", read=anthropic.read, form=ANTHROPIC, key_headers=(API_KEY,)),
    b"/v1/messages/count_tokens": Route(
        method=b"POST", read=anthropic.read_count, form=ANTHROPIC, key_headers=(API_KEY,)
    ),
    b"/v1/messages/batches": MESSAGE_BATCHES_ROUTE,
    b"/tokenize": Route(method=b"POST", read=tokenization.read_tokenize),
    b"/detokenize": Route(method=b"POST", read=tokenization.read_detokenize),
    b"/v1/models": Route(method=b"GET", page=pages.models, key_headers=ANY_KEY),
    b"/v1beta/models": Route(method=b"GET", page=pages.gemini_models, form=GEMINI, key_headers=(GOOGLE_KEY,)),
    b"/health/live": Route(method=b"GET", page=pages.live, is_open=True, is_probe=True),
    b"/health/ready": Route(method=b"GET", page=pages.ready, is_open=True, is_probe=True),
    b"/metrics": Route(method=b"GET", page=pages.metrics, is_open=True, is_metrics=True),
    b"/openapi.json": Route(method=b"GET", page=pages.description, is_open=True),
    b"/v2": Route(method=b"GET", page=open_inference_pages.server, form=OPEN_INFERENCE),
    b"/v2/health/live": Route(
        method=b"GET", page=open_inference_pages.live, form=OPEN_INFERENCE, is_open=True, is_probe=True
    ),
    b"/v2/health/ready": Route(
        method=b"GET", page=open_inference_pages.ready, form=OPEN_INFERENCE, is_open=True, is_probe=True
    ),
}
MODEL_ROUTE = Route(method=b"GET", page=pages.model, key_headers=ANY_KEY)  # /v1/models/{id}; ids may have slashes
TENSOR_MODEL_ROUTE = Route(method=b"GET", page=open_inference_pages.model, form=OPEN_INFERENCE)
TENSOR_MODEL_READY_ROUTE = Route(method=b"GET", page=open_inference_pages.model_ready, form=OPEN_INFERENCE)


def find(path: bytes) -> Route | None:
    """The route of a path."""
    route = ROUTES.get(path)
    if route is not None:
        return route
    if path.startswith(b"/v2/"):
        return _find_tensors(path)
    if path.startswith(STORED):
        return find_stored(path)
    if path.startswith(BATCHED):
        return find_batched(path)
    if path.startswith(GEMINI_MODELS):
        found = _find_gemini(path)
        return MODEL_ROUTE if found is None and path.startswith(b"/v1/models/") else found
    return None


def form_of(path: bytes) -> ClientForm:
    """The API that a path which nothing answers seems to be of."""
    if path.startswith(b"/v2/") or path == b"/v2":
        return OPEN_INFERENCE
    if path.startswith(b"/v1beta/"):
        return GEMINI
    return ANTHROPIC if path == MESSAGES or path.startswith(MESSAGES + b"/") else OPENAI


def _find_tensors(path: bytes) -> Route | None:
    """Names in these paths are one segment; a slash in one is written %2F."""
    match path.split(b"/")[2:]:
        case [b""]:
            return ROUTES[b"/v2"]
        case [b"models", name] if name:
            return TENSOR_MODEL_ROUTE
        case [b"models", name, b"ready"] if name:
            return TENSOR_MODEL_READY_ROUTE
        case [b"models", name, b"infer"] if name:
            return _infer(name, None)
        case [b"models", name, b"versions", version, b"infer"] if name and version:
            return _infer(name, version)
    return None


def _find_gemini(path: bytes) -> Route | None:
    """The name of a model, then what is asked of it; names may have slashes and colons."""
    prefix = next((one for one in GEMINI_MODELS if path.startswith(one)), path)
    name, _, verb = path[len(prefix) :].rpartition(b":")
    read = gemini.try_reader(_word(name), verb.decode("ascii", "replace")) if name else None
    if read is None:
        return None
    form = GEMINI_BATCH if verb.decode() == BATCH_VERB else GEMINI
    return Route(method=b"POST", read=read, form=form, key_headers=(GOOGLE_KEY,))


def _infer(name: bytes, version: bytes | None) -> Route:
    read = open_inference.reader(_word(name), None if version is None else _word(version))
    return Route(method=b"POST", read=read, form=OPEN_INFERENCE)


def _word(segment: bytes) -> str:
    return unquote(segment.decode("ascii", "replace"))
