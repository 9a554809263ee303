"""Pure: how many tokens a prompt has when no tokenizer is at hand, learned from what engines report."""

CHARS_PER_TOKEN_PRIOR = 4.0  # English text under the tokenizers of today's models
LEARNING_RATE = 0.05
MODELS_MAX = 1000


class TokenEstimator:
    """Characters per token of each model, smoothed over its answers."""

    def __init__(self) -> None:
        self._chars_per_token: dict[str, float] = {}
        self.error_ratio: dict[str, float] = {}

    def estimate(self, model: str, prompt_chars: int) -> int:
        """Tokens the prompt probably has."""
        return max(1, round(prompt_chars / self._chars_per_token.get(model, CHARS_PER_TOKEN_PRIOR)))

    def learn(self, model: str, prompt_chars: int, prompt_tokens: int) -> None:
        """Correct the estimate by what the engine counted."""
        if prompt_chars <= 0 or prompt_tokens <= 0:
            return
        known = self._chars_per_token.get(model)
        if known is None:
            if len(self._chars_per_token) < MODELS_MAX:
                self._chars_per_token[model] = prompt_chars / prompt_tokens
                self.error_ratio[model] = 0.0
            return
        error = abs(prompt_chars / known - prompt_tokens) / prompt_tokens
        self.error_ratio[model] += LEARNING_RATE * (error - self.error_ratio[model])
        self._chars_per_token[model] = known + LEARNING_RATE * (prompt_chars / prompt_tokens - known)
