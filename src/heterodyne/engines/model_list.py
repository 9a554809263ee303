"""Reads OpenAI's model list, with the fields engines add to it."""

import msgspec

from heterodyne.domain.engine_load import ServedModel
from heterodyne.domain.errors import EngineGarbage

MODELS_MAX = 10_000


class _Meta(msgspec.Struct):
    n_ctx_train: int | None = None
    n_ctx: int | None = None


class _Model(msgspec.Struct):
    id: str
    max_model_len: int | None = None
    context_length: int | None = None
    parent: str | None = None
    meta: _Meta | None = None


class _List(msgspec.Struct):
    data: list[_Model] | None  # Ollama without models says null


_decode = msgspec.json.Decoder(_List).decode


def read_model_list(body: bytes) -> tuple[ServedModel, ...]:
    """Raises `EngineGarbage` when the page is none."""
    try:
        models = _decode(body).data or []
    except (ValueError, RecursionError) as error:
        raise EngineGarbage(f"The model list has not the promised form: {error}.") from error
    if len(models) > MODELS_MAX:
        raise EngineGarbage(f"The model list has {len(models)} models; more than {MODELS_MAX} are not believed.")
    return tuple(
        ServedModel(name=model.id, context_tokens=_context_tokens(model), parent=model.parent) for model in models
    )


def _context_tokens(model: _Model) -> int | None:
    """What the model was trained for is no answer: llama.cpp tells both, and only `n_ctx` is what it takes."""
    return model.max_model_len or model.context_length or (model.meta.n_ctx if model.meta else None)
