"""Settings of one cache of answers: whose answers are kept, which, and for how long."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from heterodyne.domain.named_scope import Models, Projects


class CacheSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One policy of which answers are given again to the same request of the same project."""

    projects: Projects = ("*",)
    models: Models = ("*",)
    sampled: Annotated[
        bool,
        Meta(
            description="Whether answers that are drawn by chance are kept too; else only those of requests with "
            "`temperature` 0, `top_k` 1 or a `seed`, and of embeddings, rankings, scores and moderations."
        ),
    ] = False
    ttl_s: Annotated[
        float,
        Meta(gt=0, le=31_536_000, description="For how long an answer is given again."),
    ] = 3600.0
    semantic: Annotated[
        Literal["off", "shadow", "serve"],
        Meta(
            description="Whether a chat also gets the answer to a question that means the same: `shadow` measures how "
            "often that would be wrong and serves nothing, `serve` does it within `error_share_max`."
        ),
    ] = "off"
    error_share_max: Annotated[
        float,
        Meta(
            gt=0,
            le=0.5,
            description="Of all requests that ask the semantic cache, the share that may get a wrong answer.",
        ),
    ] = 0.01
    embedding_model: Annotated[str, Meta(description="Of the semantic cache: the model that embeds prompts.")] = ""
    judge_model: Annotated[
        str,
        Meta(
            description="Of the semantic cache: the model that says whether two answers tell the same; without it only "
            "equal words do."
        ),
    ] = ""
    tags: Annotated[
        tuple[Annotated[str, Meta(pattern="^[!-+\\--~]{1,64}$")], ...],
        Meta(
            max_length=8,
            description="Tags of every answer that is kept under this policy, by which `heterodyne cache drop` drops "
            "them; requests add their own with `x-heterodyne-cache-tags`.",
        ),
    ] = ()
    generation: Annotated[
        str,
        Meta(description="Any text. Another one makes everything that was kept under this policy be forgotten."),
    ] = ""
