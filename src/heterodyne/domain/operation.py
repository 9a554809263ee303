"""What clients ask for."""

from enum import StrEnum


class Operation(StrEnum):
    """What the client asks for; engines map it to a path of their own."""

    CHAT = "chat"
    COMPLETION = "completion"
    EMBEDDING = "embedding"
    TOKENIZE = "tokenize"
    DETOKENIZE = "detokenize"
    INFER = "infer"  # tensors in, tensors out

    __hash__ = str.__hash__  # that of enums is written in Python, and every request is looked up by this
