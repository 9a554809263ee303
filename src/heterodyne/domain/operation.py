"""What clients ask for."""

from enum import StrEnum


class Operation(StrEnum):
    """What the client asks for; engines map it to a path of their own."""

    CHAT = "chat"
    COMPLETION = "completion"
    EMBEDDING = "embedding"
    TOKENIZE = "tokenize"
    DETOKENIZE = "detokenize"
    COUNT = "count"  # how many tokens a conversation has, and not which
    INFER = "infer"  # tensors in, tensors out
    RERANK = "rerank"  # texts by how well each answers a question
    SCORE = "score"  # how alike texts are, in pairs
    MODERATION = "moderation"
    SPEECH = "speech"
    TRANSCRIPTION = "transcription"
    TRANSLATION = "translation"  # speech in any language to English text
    IMAGE = "image"
    IMAGE_EDIT = "image_edit"
    IMAGE_VARIATION = "image_variation"

    __hash__ = str.__hash__  # that of enums is written in Python, and every request is looked up by this
