"""What the API description says of responses, conversations and kept chat completions."""

from heterodyne.domain import errors
from heterodyne.gateway import stored_answers
from heterodyne.gateway import stored_routes as stored
from heterodyne.gateway.description import Described
from heterodyne.gateway.dialects.responses_fields import ResponsesFields
from heterodyne.gateway.route import Route
from heterodyne.gateway.stored.chat_pages import CompletionChange
from heterodyne.gateway.stored.conversations_pages import ConversationChange, ConversationFields, NewItems

RESPONSE_PATH = "/v1/responses/{response}"
CONVERSATION_PATH = "/v1/conversations/{conversation}"
ITEM_PATH = f"{CONVERSATION_PATH}/items/{{item}}"
COMPLETION_PATH = "/v1/chat/completions/{completion}"
ROUTES: dict[str, Route] = {
    RESPONSE_PATH: stored.RESPONSE_ROUTE,
    f"{RESPONSE_PATH}/cancel": stored.CANCEL_ROUTE,
    f"{RESPONSE_PATH}/input_items": stored.INPUT_ITEMS_ROUTE,
    CONVERSATION_PATH: stored.CONVERSATION_ROUTE,
    f"{CONVERSATION_PATH}/items": stored.ITEMS_ROUTE,
    ITEM_PATH: stored.ITEM_ROUTE,
    COMPLETION_PATH: stored.COMPLETION_ROUTE,
    f"{COMPLETION_PATH}/messages": stored.MESSAGES_ROUTE,
}
GONE = (errors.UnknownObject, errors.StoreUnavailable)
CHANGED = (*GONE, errors.InvalidField, errors.MalformedJson, errors.UnsupportedMediaType)
LISTED = (*GONE, errors.InvalidField)

# By path, and where a path has several methods, by those other than its first before it.
DESCRIBED: dict[str, Described] = {
    "/v1/responses": Described(
        summary="Answer a turn of a conversation that is kept",
        fields=ResponsesFields,
        answer=stored_answers.AnsweredResponse,
        event=stored_answers.ResponseEvent,
        raises=(errors.UnknownObject,),
    ),
    "/v1/responses/input_tokens": Described(
        summary="Count the tokens of a turn",
        fields=ResponsesFields,
        answer=stored_answers.CountedTurn,
        raises=(errors.UnknownObject,),
    ),
    RESPONSE_PATH: Described(
        summary="A response that was kept; with `stream=true`, the events of one that runs in the background",
        answer=stored_answers.AnsweredResponse,
        event=stored_answers.ResponseEvent,
        raises=(*GONE, errors.InvalidField, errors.Overloaded),
    ),
    f"DELETE {RESPONSE_PATH}": Described(summary="Delete a response", answer=stored_answers.DeletedObject, raises=GONE),
    f"{RESPONSE_PATH}/cancel": Described(
        summary="Cancel a response that runs in the background",
        answer=stored_answers.AnsweredResponse,
        raises=CHANGED,
    ),
    f"{RESPONSE_PATH}/input_items": Described(
        summary="What a response was asked", answer=stored_answers.ItemList, raises=LISTED
    ),
    "/v1/conversations": Described(
        summary="Begin a conversation",
        fields=ConversationFields,
        answer=stored_answers.Conversation,
        raises=CHANGED,
    ),
    CONVERSATION_PATH: Described(summary="Describe a conversation", answer=stored_answers.Conversation, raises=GONE),
    f"POST {CONVERSATION_PATH}": Described(
        summary="Change the metadata of a conversation",
        fields=ConversationChange,
        answer=stored_answers.Conversation,
        raises=CHANGED,
    ),
    f"DELETE {CONVERSATION_PATH}": Described(
        summary="Delete a conversation", answer=stored_answers.DeletedObject, raises=GONE
    ),
    f"{CONVERSATION_PATH}/items": Described(
        summary="What a conversation has", answer=stored_answers.ItemList, raises=LISTED
    ),
    f"POST {CONVERSATION_PATH}/items": Described(
        summary="Add to a conversation", fields=NewItems, answer=stored_answers.ItemList, raises=CHANGED
    ),
    ITEM_PATH: Described(summary="One item", answer=stored_answers.AnsweredItem, raises=GONE),
    f"DELETE {ITEM_PATH}": Described(summary="Delete an item", answer=stored_answers.Conversation, raises=GONE),
    "GET /v1/chat/completions": Described(
        summary="List the chat completions that were kept", answer=stored_answers.CompletionList, raises=LISTED
    ),
    COMPLETION_PATH: Described(
        summary="A chat completion that was kept", answer=stored_answers.StoredCompletion, raises=GONE
    ),
    f"POST {COMPLETION_PATH}": Described(
        summary="Change the metadata of a chat completion",
        fields=CompletionChange,
        answer=stored_answers.StoredCompletion,
        raises=CHANGED,
    ),
    f"DELETE {COMPLETION_PATH}": Described(
        summary="Delete a chat completion", answer=stored_answers.DeletedObject, raises=GONE
    ),
    f"{COMPLETION_PATH}/messages": Described(
        summary="What a chat completion was asked", answer=stored_answers.MessageList, raises=LISTED
    ),
}
NAMED: dict[str, str] = {  # in paths
    "response": "The id of a response.",
    "conversation": "The id of a conversation.",
    "item": "The id of an item.",
    "completion": "The id of a chat completion.",
}
