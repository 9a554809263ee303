"""vLLM, or what speaks as it does: it names the likeliest tokens at every position of a prompt."""

from collections.abc import Mapping, Sequence
from typing import Any

from heterodyne.parity.scored_token import ScoredToken, Token
from heterodyne.registry.parity.json_calls import JsonCalls
from heterodyne.registry.parity.scorer import TOP

ID = "token_id:"  # before the number of a token, in the place of its text


class VllmScorer:
    """One that listens, and the name it serves the model by."""

    def __init__(self, url: str, model: str) -> None:
        self.name = "vllm"
        self._calls, self._model = JsonCalls(url), model

    def scored(self, tokens: Sequence[int]) -> list[ScoredToken | None]:
        choice = self._asked(tokens, max_tokens=1, prompt_logprobs=TOP)
        places: list[Mapping[str, Any] | None] = choice["prompt_logprobs"]
        return [_step(place or {}, token) for place, token in zip(places[1:], tokens[1:], strict=True)]

    def continued(self, tokens: Sequence[int], count: int) -> list[ScoredToken]:
        said = self._asked(tokens, max_tokens=count, logprobs=TOP, return_tokens_as_token_ids=True)["logprobs"]
        found = []
        for token, logprob, top in zip(said["tokens"], said["token_logprobs"], said["top_logprobs"], strict=True):
            likeliest = sorted(top.items(), key=lambda one: -one[1])
            found.append(ScoredToken(_id(token), logprob, {_id(text): other for text, other in likeliest}))
        return found

    def close(self) -> None:
        self._calls.close()

    def _asked(self, tokens: Sequence[int], **members: Any) -> Any:
        usual = {"model": self._model, "prompt": list(tokens), "temperature": 0}
        return self._calls.ask("/v1/completions", usual | members)["choices"][0]


def _id(text: str) -> int:
    return int(text.removeprefix(ID))


def _step(place: Mapping[str, Any], token: int) -> ScoredToken | None:
    """One position of a prompt; the token that stands there is named beyond the likeliest where it is none of them."""
    logprobs: dict[Token, float] = {
        int(id): one["logprob"] for id, one in sorted(place.items(), key=lambda item: -item[1]["logprob"])
    }
    own = logprobs.get(token)
    return None if own is None else ScoredToken(token, own, dict(list(logprobs.items())[:TOP]))
