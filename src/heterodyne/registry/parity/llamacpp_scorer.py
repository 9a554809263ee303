"""llama.cpp over its own API, which names the likeliest next tokens of what it writes."""

from collections.abc import Sequence
from typing import Any

from heterodyne.parity.scored_token import ScoredToken
from heterodyne.registry.parity.json_calls import JsonCalls
from heterodyne.registry.parity.scorer import TOP

# It has no log-probabilities of prompts. A token that is pushed this far is the one it writes, and the log-probability
# it gives is that from before the push.
PUSH = 1000.0


class LlamaCppScorer:
    """One that listens."""

    def __init__(self, url: str) -> None:
        self.name = "llamacpp"
        self._calls = JsonCalls(url)

    def scored(self, tokens: Sequence[int]) -> list[ScoredToken | None]:
        # It is silent where a token is a part of a character.
        return [
            next(iter(self._written(tokens[:at], 1, logit_bias=[[tokens[at], PUSH]])), None)
            for at in range(1, len(tokens))
        ]

    def continued(self, tokens: Sequence[int], count: int) -> list[ScoredToken]:
        return self._written(tokens, count)  # up to the first character in parts, behind which it is out of step

    def close(self) -> None:
        self._calls.close()

    def _written(self, tokens: Sequence[int], count: int, **members: Any) -> list[ScoredToken]:
        usual = {"prompt": list(tokens), "n_predict": count, "n_probs": TOP, "temperature": 0, "cache_prompt": True}
        said = self._calls.ask("/completion", usual | members | {"return_tokens": True})
        found = []
        for token, one in zip(said["tokens"], said.get("completion_probabilities", ()), strict=False):
            if one["id"] != token:
                break
            found.append(
                ScoredToken(token, one["logprob"], {other["id"]: other["logprob"] for other in one["top_logprobs"]})
            )
        return found
