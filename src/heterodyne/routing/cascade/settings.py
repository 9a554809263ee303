"""Settings of one cascade: what was fitted, and how much time there is."""

from typing import Annotated

from msgspec import Meta, Struct


class CascadeSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the chats that are asked for by one name are shared between a cheap model and a big one."""

    fitted: Annotated[str, Meta(description="The file that `heterodyne cascade fit` has written.")]
    latency_budget_ms: Annotated[
        Annotated[float, Meta(gt=0, le=3_600_000)] | None,
        Meta(
            description="How long an answer may take: where cheap answer, judging and big answer together would take "
            "longer, the prompt alone decides; absent, there is time."
        ),
    ] = None
    keeps_when_late: Annotated[
        bool,
        Meta(
            description="Whether a doubtful cheap answer is kept where the big one would be late. The bound on lost "
            "quality is no promise then."
        ),
    ] = False
    prompt_risk_max: Annotated[
        Annotated[float, Meta(ge=0, le=1)],
        Meta(description="Prompts with a greater risk go to the big model at once; 1 tries all."),
    ] = 1.0
    samples: Annotated[
        Annotated[int, Meta(ge=1, le=8)],
        Meta(description="Further answers of the cheap model that the judge `consistency` compares, where it is one."),
    ] = 3
    audit_share: Annotated[
        Annotated[float, Meta(ge=0, le=1)],
        Meta(
            description="Of the cheap model's answers that are kept, the share for which the big model is asked as "
            "well, in the background and in the caller's name, to measure how often it would have said otherwise."
        ),
    ] = 0.0
    judge_model: Annotated[
        str,
        Meta(description="The model that says whether such two answers tell the same; without it only equal words do."),
    ] = ""
    verifier_model: Annotated[
        str, Meta(description="The model that the judge `verifier` asks, where it was fitted with one.")
    ] = ""
