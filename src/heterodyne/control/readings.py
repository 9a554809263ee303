"""What readings of one replica mean, one beside the next: a restart, a page that stands still, the model it serves."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from heterodyne.domain.engine_load import EngineLoad, ServedModel

START_TOLERANCE_S = 1.0  # an engine that computes its start from its age does not say the same twice
FROZEN_AFTER_S = 10.0
ANSWERS_MIN = 3  # that end while the counters stand still, before an engine is called silent
TAG_DEFAULT = ":latest"  # Ollama lists a name that was given without a tag with this one


def has_restarted(before: EngineLoad, now: EngineLoad) -> bool:
    """Another start time, or counters that went back."""
    has_other_start = (
        before.started_at_s is not None
        and now.started_at_s is not None
        and abs(now.started_at_s - before.started_at_s) > START_TOLERANCE_S
    )
    if has_other_start or _went_back(before.output_tokens, now.output_tokens):
        return True
    # Some engines' prompt counter is a difference of two that are not read in the same instant.
    return _went_back(before.prompt_tokens, now.prompt_tokens) and not _went_on(before.output_tokens, now.output_tokens)


class Stillness(Struct, frozen=True, kw_only=True):
    """Since when an engine's counters have stood where they stand."""

    counters: tuple[float | None, float | None]
    since_s: float
    answers: int  # that this worker had received from it by then


def follow(stillness: Stillness | None, load: EngineLoad, now_s: float, answers: int) -> Stillness | None:
    """The stillness after one more reading; None for an engine without counters."""
    counters = (load.prompt_tokens, load.output_tokens)
    if counters == (None, None):
        return None
    if stillness is not None and stillness.counters == counters:
        return stillness
    return Stillness(counters=counters, since_s=now_s, answers=answers)


def frozen_for_s(stillness: Stillness | None, now_s: float, answers: int) -> float | None:
    """How long the counters have stood still although answers came; None: they have not, or not for long."""
    if stillness is None or answers - stillness.answers < ANSWERS_MIN:
        return None
    still_s = now_s - stillness.since_s
    return still_s if still_s >= FROZEN_AFTER_S else None


def find_model(models: Sequence[ServedModel], name: str) -> ServedModel | None:
    """The line of a model list that answers to this name."""
    wanted = (name, name + TAG_DEFAULT)
    return next((model for model in models if model.name in wanted), None)


def adapters_listed(models: Sequence[ServedModel]) -> tuple[str, ...]:
    """Adapters in a model list."""
    return tuple(model.name for model in models if model.parent is not None)


def adapters_of(listed: Sequence[str], configured: Mapping[str, str | None]) -> dict[str, str | None]:
    """Adapters it may be asked for: those of the settings, then those it lists besides and came with."""
    return {**configured, **{name: None for name in listed if name not in configured}}


def _went_back(before: float | None, now: float | None) -> bool:
    return before is not None and now is not None and now < before


def _went_on(before: float | None, now: float | None) -> bool:
    return before is not None and now is not None and now > before
