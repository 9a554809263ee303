"""Pure: how many tokens a prompt has when no tokenizer is at hand, learned from what engines report.

A prompt of b bytes is taken for `fixed + rate * b` tokens. Each tenant has its own two numbers for each model, so that
nobody's prompts make another's look longer; they begin with the model's, which move by the first few prompts of every
tenant and by little. All move in bounded steps within what tokenizers do: one odd prompt is a step and no more.
"""

from collections import OrderedDict
from typing import Final

RATE_PRIOR: Final = 0.25  # tokens per byte: English and Chinese under the tokenizers of today's models
RATE_MIN: Final = 0.1
RATE_MAX: Final = 1.0
FIXED_MAX: Final = 256.0  # tokens of a chat template and its own system prompt
SHORT_BYTES: Final = 512  # prompts that tell more of what is fixed than of the rate
PACE: Final = 0.2  # of the way to what was counted, within a step
RATE_STEP: Final = 0.03  # of a tenant's own
FIXED_STEP: Final = 2.0
MODEL_RATE_STEP: Final = 0.01
MODEL_FIXED_STEP: Final = 0.5
SHARED_PROMPTS: Final = 16  # of each tenant, that the model's numbers are moved by
DOUBT: Final = 0.2  # of the way back, when a prompt was refused for its length and will never be counted
ERROR_PACE: Final = 0.05
MODELS_MAX: Final = 1000
TENANTS_MAX: Final = 10_000


class _Fit:
    """Two numbers, and how many prompts they come from."""

    __slots__ = ("fixed", "prompts", "rate")

    def __init__(self, rate: float = RATE_PRIOR, fixed: float = 0.0) -> None:
        self.rate = rate
        self.fixed = fixed
        self.prompts = 0

    def tokens(self, prompt_bytes: int) -> float:
        return self.fixed + self.rate * prompt_bytes

    def move(self, prompt_bytes: int, prompt_tokens: int, rate_step: float, fixed_step: float) -> None:
        self.prompts += 1
        if prompt_bytes < SHORT_BYTES:
            off = prompt_tokens - self.tokens(prompt_bytes)
            self.fixed = _within(self.fixed + _within(PACE * off, -fixed_step, fixed_step), 0.0, FIXED_MAX)
            return
        off = (prompt_tokens - self.fixed) / prompt_bytes - self.rate
        step = rate_step * self.rate
        self.rate = _within(self.rate + _within(PACE * off, -step, step), RATE_MIN, RATE_MAX)


_PRIOR: Final = _Fit()


class TokenEstimator:
    """Of each model, and of the tenants that asked it last."""

    def __init__(self) -> None:
        self._models: dict[str, _Fit] = {}
        self._tenants: OrderedDict[tuple[str, bytes], _Fit] = OrderedDict()
        self.error_ratio: dict[str, float] = {}

    def estimate(self, model: str, prompt_bytes: int, tenant: bytes = b"") -> int:
        """Tokens the prompt probably has."""
        fit = self._tenants.get((model, tenant)) or self._models.get(model, _PRIOR)
        return max(1, int(fit.fixed + fit.rate * prompt_bytes + 0.5))  # `round` would be a call

    def learn(self, model: str, prompt_bytes: int, prompt_tokens: int, tenant: bytes = b"") -> None:
        """Correct the estimate by what the engine counted; a count that is not of text teaches nothing."""
        if prompt_bytes <= 0 or not 0 < prompt_tokens <= FIXED_MAX + 2 * RATE_MAX * prompt_bytes:
            return
        shared = self._models.get(model)
        if shared is None:
            if len(self._models) >= MODELS_MAX:
                return
            shared = self._models[model] = _Fit()
        own = self._own(model, tenant, shared)
        error = abs(own.tokens(prompt_bytes) - prompt_tokens) / prompt_tokens
        known = self.error_ratio.get(model, error)
        self.error_ratio[model] = known + ERROR_PACE * (error - known)
        own.move(prompt_bytes, prompt_tokens, RATE_STEP, FIXED_STEP)
        if own.prompts <= SHARED_PROMPTS:
            shared.move(prompt_bytes, prompt_tokens, MODEL_RATE_STEP, MODEL_FIXED_STEP)

    def doubt(self, model: str, tenant: bytes) -> None:
        """A prompt was refused for its length, so nobody will count it: back towards what others' prompts say.

        Else a tenant whose prompts have changed would be refused for what it used to send, for ever.
        """
        own, shared = self._tenants.get((model, tenant)), self._models.get(model, _PRIOR)
        if own is not None:
            own.rate -= DOUBT * max(0.0, own.rate - shared.rate)
            own.fixed -= DOUBT * max(0.0, own.fixed - shared.fixed)

    def _own(self, model: str, tenant: bytes, shared: _Fit) -> _Fit:
        key = (model, tenant)
        own = self._tenants.get(key)
        if own is None:
            own = self._tenants[key] = _Fit(shared.rate, shared.fixed)
            if len(self._tenants) > TENANTS_MAX:
                self._tenants.popitem(last=False)
        else:
            self._tenants.move_to_end(key)
        return own


def _within(value: float, least: float, most: float) -> float:
    return least if value < least else min(value, most)
