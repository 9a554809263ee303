"""What a worker tells the supervisor of one request, for policies against abuse: figures and hashes, never words."""

from msgspec import Struct


class AbuseSign(Struct, frozen=True, array_like=True, gc=False):
    """One prompt of one request. Fields are told by place."""

    key: str
    project: str
    asked_model: str
    model: str
    at: float  # seconds since the epoch, when it came
    usd: float = 0.0  # what the request cost; of its first prompt alone
    words: int = 0  # of the prompt, that prompts are compared by; 0: it was not read
    signature: bytes = b""  # of MinHash
    digest: int = 0  # tells prompts apart whose signatures are alike
    temperature: float | None = None  # None: the model's own
    has_logits: bool = False  # asks for log probabilities, several answers or biased tokens
    is_verbatim: bool = False  # asks for the system prompt or for training data, word for word
