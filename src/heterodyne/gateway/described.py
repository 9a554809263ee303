"""What the API description says of each path that its route cannot say of itself."""

from msgspec import Struct

from heterodyne.domain import errors
from heterodyne.gateway import (
    answers,
    anthropic_answers,
    described_batches,
    described_media,
    described_stored,
    gemini_answers,
)
from heterodyne.gateway.description import Described
from heterodyne.gateway.dialects.anthropic_fields import AnthropicPromptFields, MessagesFields
from heterodyne.gateway.dialects.chat_fields import ChatFields
from heterodyne.gateway.dialects.completion import CompletionFields
from heterodyne.gateway.dialects.embedding import EmbeddingFields
from heterodyne.gateway.dialects.gemini_fields import BatchEmbedFields, CountFields, EmbedFields, GenerateFields
from heterodyne.gateway.dialects.open_inference import InferFields
from heterodyne.gateway.dialects.tokenization import DetokenizeFields, TokenizeFields
from heterodyne.gateway.forms.anthropic import ANTHROPIC
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.forms.gemini import GEMINI, GEMINI_BATCH
from heterodyne.gateway.forms.passing import OPEN_INFERENCE

MODEL_PATH = "/v1/models/{model}"
TENSOR_MODEL_PATH = "/v2/models/{model}"
TENSOR_MODEL_READY_PATH = "/v2/models/{model}/ready"
INFER_PATH = "/v2/models/{model}/infer"
INFER_VERSION_PATH = "/v2/models/{model}/versions/{version}/infer"
GEMINI_PATH = "/v1beta/models/{model}"


DESCRIBED: dict[str, Described] = {
    **described_stored.DESCRIBED,
    **described_batches.DESCRIBED,
    **described_media.DESCRIBED,
    "/v1/chat/completions": Described(
        summary="Answer a conversation",
        fields=ChatFields,
        answer=answers.ChatCompletion,
        event=answers.ChatCompletionChunk,
        ends_with_done=True,
    ),
    "/v1/messages": Described(
        summary="Answer a conversation, in Anthropic's words",
        fields=MessagesFields,
        answer=anthropic_answers.AnsweredAnthropicMessage,
        event=anthropic_answers.AnthropicEvent,
    ),
    "/v1/messages/count_tokens": Described(
        summary="Count the tokens of a conversation, in Anthropic's words",
        fields=AnthropicPromptFields,
        answer=anthropic_answers.CountedTokens,
    ),
    "/v1/completions": Described(
        summary="Continue a text",
        fields=CompletionFields,
        answer=answers.TextCompletion,
        event=answers.TextCompletion,
        ends_with_done=True,
    ),
    "/v1/embeddings": Described(summary="Embed texts", fields=EmbeddingFields, answer=answers.EmbeddingList),
    "/tokenize": Described(summary="Text to token ids", fields=TokenizeFields, answer=answers.Tokens),
    "/detokenize": Described(summary="Token ids to text", fields=DetokenizeFields, answer=answers.Prompt),
    "/v1/models": Described(summary="List the models", answer=answers.ModelList),
    "/v1beta/models": Described(summary="List the models, in Gemini's words", answer=gemini_answers.GeminiModels),
    MODEL_PATH: Described(summary="Describe one model", answer=answers.Model, raises=(errors.UnknownModel,)),
    "/health/live": Described(summary="Whether the process answers", answer=answers.Liveness),
    "/health/ready": Described(
        summary="Whether work is taken", answer=answers.Readiness, refusals={503: answers.Readiness}
    ),
    "/metrics": Described(summary="Metrics in the Prometheus text format", media_types=("text/plain",)),
    "/openapi.json": Described(summary="This description", answer=answers.Description),
    "/v2": Described(summary="Describe the server", answer=answers.ServerMetadata),
    "/v2/health/live": Described(summary="Whether the server answers", answer=answers.ServerLiveness),
    "/v2/health/ready": Described(
        summary="Whether the server takes work", answer=answers.ServerReadiness, refusals={503: answers.ServerReadiness}
    ),
    TENSOR_MODEL_PATH: Described(
        summary="Describe one model of any kind", answer=answers.ModelMetadata, raises=(errors.UnknownModel,)
    ),
    TENSOR_MODEL_READY_PATH: Described(
        summary="Whether one model can be asked",
        answer=answers.ModelReadiness,
        refusals={503: answers.ModelReadiness},
        raises=(errors.UnknownModel,),
    ),
    f"{GEMINI_PATH}:generateContent": Described(
        summary="Answer a conversation, in Gemini's words", fields=GenerateFields, answer=gemini_answers.GeminiAnswer
    ),
    f"{GEMINI_PATH}:streamGenerateContent": Described(
        summary="Stream an answer, in Gemini's words",
        fields=GenerateFields,
        answer=gemini_answers.GeminiAnswer,
        event=gemini_answers.GeminiAnswer,
    ),
    f"{GEMINI_PATH}:countTokens": Described(
        summary="Count the tokens of a conversation, in Gemini's words",
        fields=CountFields,
        answer=gemini_answers.GeminiCount,
    ),
    f"{GEMINI_PATH}:embedContent": Described(
        summary="Embed a text, in Gemini's words", fields=EmbedFields, answer=gemini_answers.GeminiEmbedding
    ),
    f"{GEMINI_PATH}:batchEmbedContents": Described(
        summary="Embed texts, in Gemini's words", fields=BatchEmbedFields, answer=gemini_answers.GeminiEmbeddings
    ),
    INFER_PATH: Described(summary="Tensors through a model", fields=InferFields, answer=answers.Inference),
    INFER_VERSION_PATH: Described(
        summary="Tensors through one version of a model", fields=InferFields, answer=answers.Inference
    ),
}
OWN_ERRORS: dict[ClientForm, type[Struct]] = {
    OPEN_INFERENCE: answers.PlainError,
    ANTHROPIC: anthropic_answers.AnthropicError,
    GEMINI: gemini_answers.GeminiError,
    GEMINI_BATCH: gemini_answers.GeminiError,
}
NAMED: dict[str, str] = {  # in paths
    **described_stored.NAMED,
    **described_batches.NAMED,
    "model": "The model's name.",
    "version": "The version of the model, as its engine calls it.",
}
