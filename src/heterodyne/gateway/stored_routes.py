"""The paths of what clients may ask for again."""

from typing import Final

from heterodyne.gateway.route import Route
from heterodyne.gateway.stored import chat_pages, conversations_pages, responses_pages

STORED: Final = (b"/v1/responses/", b"/v1/conversations/", b"/v1/chat/completions/")

CONVERSATIONS_ROUTE: Final = Route(method=b"POST", stored_page=conversations_pages.create)
RESPONSE_ROUTE: Final = Route(
    method=b"GET",
    stored_page=responses_pages.response,
    also={b"DELETE": Route(method=b"DELETE", stored_page=responses_pages.delete_response)},
)
COMPACT_ROUTE: Final = Route(method=b"POST", stored_page=responses_pages.compact)
CANCEL_ROUTE: Final = Route(method=b"POST", stored_page=responses_pages.cancel_response)
INPUT_ITEMS_ROUTE: Final = Route(method=b"GET", stored_page=responses_pages.input_items)
CONVERSATION_ROUTE: Final = Route(
    method=b"GET",
    stored_page=conversations_pages.conversation,
    also={
        b"POST": Route(method=b"POST", stored_page=conversations_pages.update),
        b"DELETE": Route(method=b"DELETE", stored_page=conversations_pages.delete),
    },
)
ITEMS_ROUTE: Final = Route(
    method=b"GET",
    stored_page=conversations_pages.items,
    also={b"POST": Route(method=b"POST", stored_page=conversations_pages.add_items)},
)
ITEM_ROUTE: Final = Route(
    method=b"GET",
    stored_page=conversations_pages.item,
    also={b"DELETE": Route(method=b"DELETE", stored_page=conversations_pages.delete_item)},
)
COMPLETIONS_ROUTE: Final = Route(method=b"GET", stored_page=chat_pages.completions)
COMPLETION_ROUTE: Final = Route(
    method=b"GET",
    stored_page=chat_pages.completion,
    also={
        b"POST": Route(method=b"POST", stored_page=chat_pages.update),
        b"DELETE": Route(method=b"DELETE", stored_page=chat_pages.delete),
    },
)
MESSAGES_ROUTE: Final = Route(method=b"GET", stored_page=chat_pages.messages)


def find_stored(path: bytes) -> Route | None:
    """The route of a path below `STORED`."""
    match path.split(b"/")[2:]:
        case [b"responses", b"compact"]:
            return COMPACT_ROUTE
        case [b"responses", id] if id:
            return RESPONSE_ROUTE
        case [b"responses", id, b"input_items"] if id:
            return INPUT_ITEMS_ROUTE
        case [b"responses", id, b"cancel"] if id:
            return CANCEL_ROUTE
        case [b"conversations", id] if id:
            return CONVERSATION_ROUTE
        case [b"conversations", id, b"items"] if id:
            return ITEMS_ROUTE
        case [b"conversations", id, b"items", item] if id and item:
            return ITEM_ROUTE
        case [b"chat", b"completions", id] if id:
            return COMPLETION_ROUTE
        case [b"chat", b"completions", id, b"messages"] if id:
            return MESSAGES_ROUTE
    return None
