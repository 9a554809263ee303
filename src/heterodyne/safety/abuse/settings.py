"""Settings of one policy against abuse: what is watched in whose requests, from where on, and what follows."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from heterodyne.domain.key_restriction import AbuseAction
from heterodyne.domain.named_scope import Models, Projects

Watch = Literal["similar_prompts", "extraction", "cost"]
Many = Annotated[int, Meta(ge=2, le=100_000)]

WINDOW_S = 3600
KEYS_MIN = 5
PROMPTS_MIN = 3
WORDS_MIN = 8
SIMILARITY_MIN = 0.4
LOGITS_MIN = 500
TEMPERATURES_MIN = 8
VERBATIM_MIN = 10
USD_MIN = 1.0
FACTOR_MIN = 3.0
FALSE_ALARMS_PER_YEAR = 1.0
WARM_UP_HOURS = 24


class AbuseSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One policy against abuse of keys."""

    watch: Annotated[
        Watch,
        Meta(
            description="What is watched: `similar_prompts` of many keys, `extraction` of a model by one key, or the "
            "`cost` of each key beside what it usually spends."
        ),
    ]
    action: Annotated[
        AbuseAction,
        Meta(
            description="What follows: `alert` says so, `slow_down` lets a few requests of the key pass each minute, "
            "`block` lets none pass."
        ),
    ] = "alert"
    projects: Projects = ("*",)
    models: Models = ("*",)
    exempt_keys: Annotated[
        tuple[str, ...], Meta(description="Ids of keys that the policy never holds for; `*` as above.")
    ] = ()
    hold_s: Annotated[
        int, Meta(ge=60, le=2_592_000, description="Seconds for which a key is slowed down or blocked, and listed.")
    ] = 3600
    requests_per_minute: Annotated[
        Annotated[int, Meta(ge=1, le=6000)] | None,
        Meta(description="Of `slow_down`: how many requests of a key pass each minute; absent, 6."),
    ] = None
    window_s: Annotated[
        Annotated[int, Meta(ge=60, le=86_400)] | None,
        Meta(
            description=f"Of `similar_prompts` and `extraction`: how many seconds a prompt counts; absent, {WINDOW_S}."
        ),
    ] = None
    keys_min: Annotated[
        Many | None,
        Meta(description=f"Of `similar_prompts`: how many keys are too many for one prompt; absent, {KEYS_MIN}."),
    ] = None
    prompts_min: Annotated[
        Annotated[int, Meta(ge=1, le=100_000)] | None,
        Meta(
            description="Of `similar_prompts`: how often a key must have sent such a prompt to count; absent, "
            f"{PROMPTS_MIN}."
        ),
    ] = None
    across: Annotated[
        Literal["keys", "projects"] | None,
        Meta(
            description="Of `similar_prompts`: whether `keys_min` counts keys or, where the keys of one project may "
            "share prompts, their projects; absent, `keys`."
        ),
    ] = None
    similarity_min: Annotated[
        Annotated[float, Meta(ge=0.3, le=1)] | None,
        Meta(
            description="Of `similar_prompts` and `extraction`: share of their words that two prompts must "
            f"have in common to count as one; absent, {SIMILARITY_MIN}."
        ),
    ] = None
    words_min: Annotated[
        Annotated[int, Meta(ge=2, le=1000)] | None,
        Meta(
            description="Of `similar_prompts` and `extraction`: prompts with fewer different words of four letters "
            f"and more are all alike and do not count; absent, {WORDS_MIN}."
        ),
    ] = None
    logits_min: Annotated[
        Many | None,
        Meta(
            description="Of `extraction`: how many different prompts of a window may ask for log probabilities, "
            f"several answers or biased tokens; absent, {LOGITS_MIN}."
        ),
    ] = None
    temperatures_min: Annotated[
        Many | None,
        Meta(
            description="Of `extraction`: at how many temperatures one prompt is too often asked; absent, "
            f"{TEMPERATURES_MIN}."
        ),
    ] = None
    verbatim_min: Annotated[
        Many | None,
        Meta(
            description="Of `extraction`: how many prompts of a window may ask for the system prompt or for training "
            f"data, word for word; absent, {VERBATIM_MIN}."
        ),
    ] = None
    series_min: Annotated[
        Many | None,
        Meta(
            description="Of `extraction`: how many different prompts of one template are too many in a window; "
            "absent, any number may come, as most programs have templates."
        ),
    ] = None
    usd_min: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description=f"Of `cost`: dollars an hour that are never too much; absent, {USD_MIN:g}."),
    ] = None
    factor_min: Annotated[
        Annotated[float, Meta(ge=1)] | None,
        Meta(description=f"Of `cost`: times the usual hour that is never too much; absent, {FACTOR_MIN:g}."),
    ] = None
    false_alarms_per_year: Annotated[
        Annotated[float, Meta(gt=0, le=1000)] | None,
        Meta(
            description="Of `cost`: false alarms that are expected of a key that is in use at every hour of a year; "
            f"absent, {FALSE_ALARMS_PER_YEAR:g}."
        ),
    ] = None
    warm_up_hours: Annotated[
        Annotated[int, Meta(ge=12, le=336)] | None,
        Meta(
            description="Of `cost`: hours in which a key must have spent something before it is judged; absent, "
            f"{WARM_UP_HOURS}."
        ),
    ] = None
