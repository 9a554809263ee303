"""What the API description says of files and batches."""

from heterodyne.batches.file_object import PURPOSES, FileObject
from heterodyne.domain import errors
from heterodyne.gateway import batch_answers, stored_answers
from heterodyne.gateway import batch_routes as batched
from heterodyne.gateway.described_stored import CHANGED, GONE, LISTED
from heterodyne.gateway.description import Described
from heterodyne.gateway.route import Route
from heterodyne.gateway.stored.batch_pages import BatchFields
from heterodyne.gateway.stored.files.upload import ANCHOR, CREATED_AT, EXPIRES_MAX_S, EXPIRES_MIN_S, SECONDS
from heterodyne.gateway.stored.message_batch_pages import MessageBatchFields

FILE_PATH = "/v1/files/{file}"
BATCH_PATH = "/v1/batches/{batch}"
MESSAGE_BATCH_PATH = "/v1/messages/batches/{batch}"
ROUTES: dict[str, Route] = {
    FILE_PATH: batched.FILE_ROUTE,
    f"{FILE_PATH}/content": batched.CONTENT_ROUTE,
    BATCH_PATH: batched.BATCH_ROUTE,
    f"{BATCH_PATH}/cancel": batched.CANCEL_BATCH_ROUTE,
    MESSAGE_BATCH_PATH: batched.MESSAGE_BATCH_ROUTE,
    f"{MESSAGE_BATCH_PATH}/cancel": batched.CANCEL_MESSAGE_BATCH_ROUTE,
    f"{MESSAGE_BATCH_PATH}/results": batched.MESSAGE_RESULTS_ROUTE,
}
FILE_FORM = {
    "type": "object",
    "additionalProperties": False,
    "required": ["file", "purpose"],
    "properties": {
        "file": {"type": "string", "format": "binary"},
        "purpose": {"enum": list(PURPOSES)},
        ANCHOR: {"enum": [CREATED_AT]},
        SECONDS: {"type": "integer", "minimum": EXPIRES_MIN_S, "maximum": EXPIRES_MAX_S},
    },
    "dependentRequired": {ANCHOR: [SECONDS], SECONDS: [ANCHOR]},
}

# By path, and where a path has several methods, by those other than its first before it.
DESCRIBED: dict[str, Described] = {
    "/v1/files": Described(summary="List the files", answer=batch_answers.FileList, raises=LISTED),
    "POST /v1/files": Described(
        summary="Send a file",
        form=FILE_FORM,
        answer=FileObject,
        raises=(errors.InvalidField, errors.UnsupportedMediaType, errors.StoreUnavailable),
    ),
    FILE_PATH: Described(summary="Describe a file", answer=FileObject, raises=GONE),
    f"DELETE {FILE_PATH}": Described(summary="Delete a file", answer=stored_answers.DeletedObject, raises=GONE),
    f"{FILE_PATH}/content": Described(
        summary="What a file has", media_types=("application/octet-stream",), raises=GONE
    ),
    "/v1/batches": Described(
        summary="Work off a file of requests", fields=BatchFields, answer=batch_answers.AnsweredBatch, raises=CHANGED
    ),
    "GET /v1/batches": Described(summary="List the batches", answer=batch_answers.BatchList, raises=LISTED),
    BATCH_PATH: Described(summary="Describe a batch", answer=batch_answers.AnsweredBatch, raises=GONE),
    f"{BATCH_PATH}/cancel": Described(summary="Cancel a batch", answer=batch_answers.AnsweredBatch, raises=CHANGED),
    "/v1/messages/batches": Described(
        summary="Work off many requests of Anthropic's API",
        fields=MessageBatchFields,
        answer=batch_answers.AnsweredMessageBatch,
        raises=CHANGED,
    ),
    "GET /v1/messages/batches": Described(
        summary="List the batches of Anthropic's API", answer=batch_answers.MessageBatchList, raises=LISTED
    ),
    MESSAGE_BATCH_PATH: Described(
        summary="Describe a batch of Anthropic's API", answer=batch_answers.AnsweredMessageBatch, raises=GONE
    ),
    f"DELETE {MESSAGE_BATCH_PATH}": Described(
        summary="Delete a batch of Anthropic's API that is over",
        answer=batch_answers.DeletedMessageBatch,
        raises=(*GONE, errors.InvalidField),
    ),
    f"{MESSAGE_BATCH_PATH}/cancel": Described(
        summary="Cancel a batch of Anthropic's API", answer=batch_answers.AnsweredMessageBatch, raises=CHANGED
    ),
    f"{MESSAGE_BATCH_PATH}/results": Described(
        summary="The results of a batch of Anthropic's API",
        media_types=("application/x-jsonl",),
        raises=(*GONE, errors.InvalidField),
    ),
}
NAMED: dict[str, str] = {"file": "The id of a file.", "batch": "The id of a batch."}  # in paths
